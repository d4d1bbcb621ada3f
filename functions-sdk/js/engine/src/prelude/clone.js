// structuredClone, as the HTML standard has it for the values that exist here.
(function (kit) {
  const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const refuse = (value) => {
    const what = typeof value === 'symbol' ? 'a symbol' : typeof value === 'function' ? 'a function' : 'this object';
    throw new DOMException(`${what} cannot be cloned`, 'DataCloneError');
  };

  function copy(value, seen) {
    if (typeof value === 'function' || typeof value === 'symbol') refuse(value);
    if (value === null || typeof value !== 'object') return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const remember = (made) => {
      seen.set(value, made);
      return made;
    };
    if (Array.isArray(value)) return fields(value, remember(new Array(value.length)), seen);
    if (value instanceof Date) return remember(new Date(value.getTime()));
    if (value instanceof RegExp) return remember(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return remember(value.slice(0));
    if (ArrayBuffer.isView(value)) return remember(view(value, seen));
    if (value instanceof Map) return mapOf(value, remember(new Map()), seen);
    if (value instanceof Set) return setOf(value, remember(new Set()), seen);
    if (value instanceof Error) return errorOf(value, remember, seen);
    if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) {
      return remember(Object(value.valueOf()));
    }
    if (Object.prototype.toString.call(value) !== '[object Object]' || isExotic(value)) refuse(value);
    return fields(value, remember({}), seen);
  }

  const isExotic = (value) =>
    [Promise, WeakMap, WeakSet, WeakRef].some((constructor) => value instanceof constructor);

  function fields(from, to, seen) {
    for (const key of Object.keys(from)) to[key] = copy(from[key], seen);
    return to;
  }

  function view(value, seen) {
    const buffer = copy(value.buffer, seen);
    const length = value instanceof DataView ? value.byteLength : value.length;
    return new value.constructor(buffer, value.byteOffset, length);
  }

  function mapOf(from, to, seen) {
    for (const [key, item] of [...from]) to.set(copy(key, seen), copy(item, seen));
    return to;
  }

  function setOf(from, to, seen) {
    for (const item of [...from]) to.add(copy(item, seen));
    return to;
  }

  function errorOf(error, remember, seen) {
    const made = remember(new (ERRORS[error.name] ?? Error)(error.message));
    for (const name of ['stack', 'cause']) {
      if (!Object.hasOwn(error, name)) continue;
      Object.defineProperty(made, name, { value: copy(error[name], seen), writable: true, configurable: true });
    }
    return made;
  }

  kit.define('structuredClone', function structuredClone(value, options) {
    const made = copy(value, new Map());
    // The copy has the contents; what was handed over is gone on this side.
    for (const item of options?.transfer ?? []) {
      if (!(item instanceof ArrayBuffer)) throw new DOMException('only an ArrayBuffer can be transferred', 'DataCloneError');
      item.transfer();
    }
    return made;
  });
})
