// The JavaScript half of the engine: what a tenant's file meets as `console` and `ctx`, and how its results and
// errors become the contract's. Runs once, before the snapshot; one instance serves one call, so that `ctx` is a
// single object whose fields ask the host only when they are read.
(function (native, { format, withoutEngine }) {
  const { parse, stringify } = JSON;
  const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];
  const MANIFEST = [
    'name', 'title', 'description', 'input', 'output', 'tags', 'examples', 'annotations', 'visibility',
    'capabilities', 'limits', 'resources', 'resourceTemplates', 'prompts',
  ];

  let file;
  let module;
  let handler;
  // False while the file is loaded, for there is no caller and no log then.
  let live = false;
  // The last outcome that was made, to notice one that was not returned.
  let made;
  const unhandled = new Map();

  class Fault extends Error {
    constructor(code, message, cause) {
      super(message, cause === undefined ? undefined : { cause });
      this.code = code;
    }
  }

  class Outcome {
    constructor(maker, ...fields) {
      this.maker = maker;
      this.fields = fields;
      made = this;
    }
  }

  const text = (value) => (typeof value === 'string' ? value : String(value)).toWellFormed();
  const optionalText = (value) => (value === undefined || value === null ? undefined : text(value));

  function encode(value, what, code) {
    let encoded;
    try {
      encoded = stringify(value);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Fault(code, `${what} cannot be written as JSON: ${reason}; use plain data`, error);
    }
    if (encoded !== undefined) return encoded;
    const kind = value === undefined ? 'undefined' : `a ${typeof value}`;
    throw new Fault(code, `${what} is ${kind}, which JSON cannot carry; use plain data`);
  }

  const optionalJson = (value, what, code) => (value === undefined ? undefined : encode(value, what, code));

  // ---- log and console

  function write(level, values, name) {
    if (!live) {
      throw new Error(
        `\`${name}\` works only while the function runs: the top level of ${file} runs once, at deploy, without a log`,
      );
    }
    native.write(level, format(values).toWellFormed());
  }

  function makeLog() {
    const log = (...values) => {
      const level = values.length > 1 ? LEVELS.indexOf(values[0]) : -1;
      return level < 0 ? write(2, values, 'ctx.log') : write(level, values.slice(1), 'ctx.log');
    };
    LEVELS.forEach((name, level) => {
      log[name] = (...values) => write(level, values, `ctx.log.${name}`);
    });
    return log;
  }

  function makeConsole() {
    const console = {};
    const levels = { log: 2, trace: 0, debug: 1, info: 2, warn: 3, error: 4 };
    for (const [name, level] of Object.entries(levels)) {
      console[name] = (...values) => write(level, values, `console.${name}`);
    }
    console.assert = (condition, ...values) => {
      if (!condition) write(4, ['Assertion failed', ...values], 'console.assert');
    };
    return console;
  }

  // ---- what the caller sees before the result

  const EMIT_FAULTS = {
    too_large: 'the chunk is larger than one event may be; emit smaller chunks',
    too_many: 'the task has used up its events; emit fewer and larger chunks',
  };

  function send(kind, body, options) {
    const { artifact, last } = options ?? {};
    const fault = native.emit(kind, body, optionalText(artifact), last === true);
    if (fault !== undefined) throw new Fault(`emit_${fault[0]}`, EMIT_FAULTS[fault[0]] ?? fault[1]);
  }

  const emit = (chunk, options) =>
    typeof chunk === 'string'
      ? send(0, chunk.toWellFormed(), options)
      : send(1, encode(chunk, 'the chunk', 'bad_chunk'), options);
  const emitBlocks = (blocks, options) => send(2, blocksJson(blocks, 'ctx.emitBlocks', 'bad_chunk'), options);

  function progress(done, total, note) {
    const number = (value, name) => {
      if (Number.isFinite(value)) return value;
      throw new TypeError(`ctx.progress: \`${name}\` must be a number`);
    };
    native.progress(
      number(done, 'done'),
      total === undefined || total === null ? undefined : number(total, 'total'),
      optionalText(note),
    );
  }

  function blocksJson(blocks, name, code) {
    const list = Array.isArray(blocks) ? blocks : [blocks];
    const whole = list.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block));
    return encode(whole, `the content given to ${name}`, code);
  }

  // ---- explicit outcomes: each must be returned

  const ask = (kind, maker) => (prompt, options) => {
    const { schema, state } = options ?? {};
    return new Outcome(
      maker, kind, text(prompt), optionalJson(schema, `the schema given to ${maker}`, 'bad_result'),
      optionalJson(state, `the state given to ${maker}`, 'bad_result'),
    );
  };

  const content = (blocks, structured) =>
    new Outcome(
      'ctx.content', 'content', blocksJson(blocks, 'ctx.content', 'bad_result'),
      optionalJson(structured, 'the structured form given to ctx.content', 'bad_result'),
    );

  const needClient = (kind, params, options) =>
    new Outcome(
      'ctx.needClient', 'need-client', text(kind),
      encode(params ?? {}, 'the params given to ctx.needClient', 'bad_result'),
      optionalJson(options?.state, 'the state given to ctx.needClient', 'bad_result'),
    );

  // ---- ctx

  const optionalParse = (json) => (json === undefined ? undefined : parse(json));
  const LAZY = {
    taskId: () => native.field(0),
    contextId: () => native.field(1),
    skill: () => native.field(2),
    version: () => native.field(3),
    caller: () => native.field(4),
    door: () => native.field(5),
    attempt: () => native.count(0),
    turn: () => native.count(1),
    message: () => parse(native.message()),
    history: () => native.history().map((message) => parse(message)),
    state: () => optionalParse(native.state()),
    reply: () => optionalParse(native.reply()),
  };

  function makeContext() {
    const context = {
      log: makeLog(),
      emit,
      emitBlocks,
      progress,
      content,
      needInput: ask('need-input', 'ctx.needInput'),
      needAuth: ask('need-auth', 'ctx.needAuth'),
      needClient,
      reject: (reason) => new Outcome('ctx.reject', 'reject', text(reason)),
    };
    for (const [name, read] of Object.entries(LAZY)) {
      const get = () => {
        const value = read();
        Object.defineProperty(context, name, { value, enumerable: true, configurable: true });
        return value;
      };
      Object.defineProperty(context, name, { get, enumerable: true, configurable: true });
    }
    return context;
  }

  const context = makeContext();
  const define = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, configurable: true });
  define(globalThis, 'console', makeConsole());
  // QuickJS seeds its own once, which the snapshot would freeze.
  define(Math, 'random', native.random);

  // ---- entries, called by the Rust half

  function begin(fileName) {
    file = fileName;
  }

  // Takes over the loaded file. Answers why it cannot, or nothing.
  function adopt(namespace) {
    const found = namespace.default;
    if (typeof found !== 'function') {
      const what = found === undefined ? 'has no default export' : 'has a default export that is not a function';
      return `${file} ${what}: write \`export default async function (input, ctx) { … }\``;
    }
    for (const [, reason] of unhandled) return `unhandled rejection at the top level: ${format([reason])}`;
    module = namespace;
    handler = found;
    return undefined;
  }

  function promised(value) {
    if (value instanceof Promise) return value;
    const thenable = value !== null && typeof value === 'object' && typeof value.then === 'function';
    return thenable ? Promise.resolve(value) : value;
  }

  function handle(input) {
    live = true;
    made = undefined;
    return promised(handler(input, context));
  }

  function manifest() {
    live = true;
    const found = {};
    for (const name of MANIFEST) {
      if (module[name] !== undefined) found[name] = module[name];
    }
    return encode(found, 'what the file exports about itself', 'bad_manifest');
  }

  function readResource(uri) {
    live = true;
    if (typeof module.readResource === 'function') return promised(module.readResource(uri, context));
    throw new Fault('not_found', `${file} offers no resources: it exports no \`readResource\``);
  }

  function getPrompt(name, values) {
    live = true;
    if (typeof module.getPrompt === 'function') return promised(module.getPrompt(name, values, context));
    throw new Fault('not_found', `${file} offers no prompts: it exports no \`getPrompt\``);
  }

  // A plain result as JSON text, an explicit outcome as a list.
  function finish(value, promise) {
    reportUnhandled(promise);
    if (value instanceof Outcome) return value.fields;
    if (value !== undefined) return encode(value, "the function's result", 'bad_result');
    if (made === undefined) return 'null';
    throw new Fault('bad_result', `${made.maker}(…) was called but not returned: write \`return ${made.maker}(…)\``);
  }

  const finishJson = (value, promise) => {
    reportUnhandled(promise);
    return encode(value, 'the result', 'bad_result');
  };

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
    const hint = isCommonJs ? '; a function is an ES module in one file: use `export default`' : '';
    return [text(String(thrown)) + hint, withoutEngine(text(thrown.stack ?? ''))];
  }

  function rejection(promise, reason, isHandled) {
    if (isHandled) unhandled.delete(promise);
    else unhandled.set(promise, reason);
  }

  function reportUnhandled(result) {
    if (unhandled.size === 0) return;
    for (const [promise, reason] of unhandled) {
      if (promise !== result) native.write(3, `unhandled rejection: ${format([reason])}`.toWellFormed());
    }
    unhandled.clear();
  }

  return {
    begin, adopt, handle, manifest, readResource, getPrompt, finish, finishJson, fault, loadFault, rejection,
  };
})
