// What the other files of the prelude share. Each of them is a function of `kit`, which carries the host (`native`)
// and grows by what a file gives to those after it; the last gives the entries. They run once, before the snapshot:
// what they build costs a call nothing until it is used.
(function (kit) {
  let live = false;
  kit.isLive = () => live;
  kit.file = '';
  kit.goLive = () => {
    live = true;
  };

  // While the file is loaded there is no caller, no clock and nothing outside.
  kit.requireLive = (name) => {
    if (live) return;
    throw new Error(
      `\`${name}\` works only while the function runs: the top level of ${kit.file} runs once, at deploy, ` +
        'with nothing outside; move it into the function',
    );
  };

  kit.text = (value) => (typeof value === 'string' ? value : String(value)).toWellFormed();
  kit.optionalText = (value) => (value === undefined || value === null ? undefined : kit.text(value));

  kit.define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  kit.tag = (constructor, name) =>
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });

  // The bytes behind an ArrayBuffer or a view, shared and not copied; nothing for anything else.
  kit.bytesOf = (source) => {
    if (source instanceof Uint8Array) return source;
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (source instanceof ArrayBuffer) return new Uint8Array(source);
    return undefined;
  };

  // A failure with a code that machines can tell apart; authors may throw it, too.
  class PleatError extends Error {
    constructor(code, message, options) {
      super(message, options !== undefined && 'cause' in options ? { cause: options.cause } : undefined);
      this.code = String(code);
      if (options?.retryable === true) this.retryable = true;
      if (options?.details !== undefined) this.details = options.details;
    }
  }
  Object.defineProperty(PleatError.prototype, 'name', { value: 'PleatError', configurable: true, writable: true });
  kit.PleatError = PleatError;
  kit.define('PleatError', PleatError);
})
