// Headers of fetch.
(function (kit) {
  const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  function nameOf(name) {
    const own = String(name);
    if (NAME.test(own)) return own.toLowerCase();
    throw new TypeError(`Headers: \`${own}\` is not a header's name`);
  }

  function valueOf(value) {
    const own = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    for (let index = 0; index < own.length; index += 1) {
      const unit = own.charCodeAt(index);
      if (unit > 255) throw new TypeError('Headers: a value has a character outside of Latin-1; encode it');
      if (unit === 0 || unit === 10 || unit === 13) throw new TypeError('Headers: a value has a line break or a NUL');
    }
    return own;
  }

  class Headers {
    // From a name in lower case to its values.
    #map = new Map();
    constructor(init) {
      if (init === undefined || init === null) return;
      if (typeof init !== 'object') throw new TypeError('Headers: use an object or a list of pairs');
      if (typeof init[Symbol.iterator] !== 'function') {
        for (const name of Object.keys(init)) this.append(name, init[name]);
        return;
      }
      for (const pair of init) {
        const [name, value, ...rest] = pair;
        if (value === undefined || rest.length > 0) throw new TypeError('Headers: each item must be a pair of name and value');
        this.append(name, value);
      }
    }
    append(name, value) {
      const key = nameOf(name);
      const own = valueOf(value);
      const there = this.#map.get(key);
      if (there === undefined) this.#map.set(key, [own]);
      else there.push(own);
    }
    set(name, value) {
      this.#map.set(nameOf(name), [valueOf(value)]);
    }
    get(name) {
      return this.#map.get(nameOf(name))?.join(', ') ?? null;
    }
    has(name) {
      return this.#map.has(nameOf(name));
    }
    delete(name) {
      this.#map.delete(nameOf(name));
    }
    getSetCookie() {
      return [...(this.#map.get('set-cookie') ?? [])];
    }
    forEach(callback, receiver) {
      for (const [name, value] of this) callback.call(receiver, value, name, this);
    }
    *entries() {
      for (const name of [...this.#map.keys()].sort()) {
        const values = this.#map.get(name);
        if (name === 'set-cookie') for (const value of values) yield [name, value];
        else yield [name, values.join(', ')];
      }
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
  }

  kit.tag(Headers, 'Headers');
  kit.define('Headers', Headers);
})
