// What was thrown, in the words of the contract and with the author's own lines.
(function (kit) {
  const { native, format, withoutEngine, text } = kit;
  const { stringify } = JSON;
  const unhandled = new Map();

  // The thrown value as `[code, message, retryable, details]`.
  function fault(thrown, promise) {
    reportUnhandled(promise);
    if (thrown === null || typeof thrown !== 'object') return ['exception', text(thrown), false, undefined];
    const code = codeOf(thrown);
    const own = typeof thrown.message === 'string' ? thrown.message : format([thrown]);
    const name = typeof thrown.name === 'string' ? thrown.name : '';
    const named = code === 'exception' && name !== '' && name !== 'Error';
    const message = named ? (own === '' ? name : `${name}: ${own}`) : own || name;
    return [text(code), text(message), thrown.retryable === true, detailsOf(thrown)];
  }

  function codeOf(thrown) {
    // Its code is a number that nobody remembers; the name says more, and is in the message.
    if (thrown instanceof DOMException) return 'exception';
    if (typeof thrown.code === 'string' && thrown.code !== '') return thrown.code;
    if (typeof thrown.code === 'number') return String(thrown.code);
    if (thrown instanceof RangeError && thrown.message === 'Maximum call stack size exceeded') return 'stack_overflow';
    if (thrown instanceof InternalError && thrown.message === 'out of memory') return 'out_of_memory';
    return 'exception';
  }

  function detailsOf(thrown) {
    const stack = stackOf(thrown);
    try {
      const details = thrown.details;
      if (details === undefined) return stringify({ stack });
      const isRecord = details !== null && typeof details === 'object' && !Array.isArray(details);
      return stringify(isRecord ? { ...details, stack } : { details, stack });
    } catch {
      return stringify({ stack });
    }
  }

  function stackOf(thrown) {
    const parts = [];
    let error = thrown;
    for (let depth = 0; depth < 4 && error instanceof Error; depth += 1) {
      const frames = typeof error.stack === 'string' ? withoutEngine(error.stack) : '';
      const head = `${depth === 0 ? '' : 'caused by: '}${String(error)}`;
      parts.push(frames === '' ? head : `${head}\n${frames}`);
      error = error.cause;
    }
    return parts.join('\n').toWellFormed();
  }

  // Why the top level failed, as `[message, frames]`.
  function loadFault(thrown) {
    if (!(thrown instanceof Error)) return [text(`uncaught ${format([thrown])}`), ''];
    const isCommonJs = thrown instanceof ReferenceError && /^(module|exports|require) is not/.test(thrown.message);
    const hint = isCommonJs ? '; a function is an ES module: use `export default` and `import`' : '';
    return [text(String(thrown)) + hint, withoutEngine(text(thrown.stack ?? ''))];
  }

  function rejection(promise, reason, isHandled) {
    if (isHandled) {
      unhandled.delete(promise);
      return;
    }
    unhandled.set(promise, reason);
    native.lookCloser();
  }

  function reportUnhandled(result) {
    if (unhandled.size === 0) return;
    for (const [promise, reason] of unhandled) {
      if (promise !== result) native.write(3, `unhandled rejection: ${format([reason])}`.toWellFormed());
    }
    unhandled.clear();
  }

  Object.assign(kit, { fault, loadFault, rejection, reportUnhandled });
  // A rejection that nobody has noticed until now.
  kit.firstUnhandled = () => unhandled.values().next();
})
