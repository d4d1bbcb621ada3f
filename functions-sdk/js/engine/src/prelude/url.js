// URL and URLSearchParams. Parsing and serialising are the Rust half's (the `url` crate); here are the objects.
(function (kit) {
  const { native, text } = kit;
  const PARTS = [
    'href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin',
  ];
  const SEARCH = PARTS.indexOf('search');

  // The pairs of a query belong to a URL, or to nobody.
  const changed = Symbol('tell the URL');
  const refill = Symbol('take the pairs of a new query');

  class URLSearchParams {
    #pairs = [];
    [changed] = undefined;
    constructor(init = '') {
      Object.defineProperty(this, changed, { enumerable: false, writable: true });
      if (init === null || (typeof init !== 'object' && typeof init !== 'function')) {
        this[refill](text(init));
      } else if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const [name, value, ...rest] = pair;
          if (value === undefined || rest.length > 0) {
            throw new TypeError('URLSearchParams: each item must be a pair of name and value');
          }
          this.#pairs.push([text(name), text(value)]);
        }
      } else {
        for (const name of Object.keys(init)) this.#pairs.push([text(name), text(init[name])]);
      }
    }
    [refill](query) {
      const flat = native.formDecode(query.startsWith('?') ? query.slice(1) : query);
      this.#pairs = [];
      for (let index = 0; index < flat.length; index += 2) this.#pairs.push([flat[index], flat[index + 1]]);
    }
    #update() {
      this[changed]?.(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([text(name), text(value)]);
      this.#update();
    }
    delete(name, value) {
      const wanted = text(name);
      const exact = value === undefined ? undefined : text(value);
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== wanted || (exact !== undefined && pair[1] !== exact));
      this.#update();
    }
    get(name) {
      const wanted = text(name);
      return this.#pairs.find((pair) => pair[0] === wanted)?.[1] ?? null;
    }
    getAll(name) {
      const wanted = text(name);
      return this.#pairs.filter((pair) => pair[0] === wanted).map((pair) => pair[1]);
    }
    has(name, value) {
      const wanted = text(name);
      const exact = value === undefined ? undefined : text(value);
      return this.#pairs.some((pair) => pair[0] === wanted && (exact === undefined || pair[1] === exact));
    }
    set(name, value) {
      const wanted = text(name);
      const first = this.#pairs.find((pair) => pair[0] === wanted);
      if (first === undefined) {
        this.#pairs.push([wanted, text(value)]);
      } else {
        first[1] = text(value);
        this.#pairs = this.#pairs.filter((pair) => pair[0] !== wanted || pair === first);
      }
      this.#update();
    }
    sort() {
      // By UTF-16 code units, as the standard says; the sort is stable.
      this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#update();
    }
    forEach(callback, receiver) {
      for (const [name, value] of this) callback.call(receiver, value, name, this);
    }
    *entries() {
      for (let index = 0; index < this.#pairs.length; index += 1) yield [...this.#pairs[index]];
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
    toString() {
      return native.formEncode(this.#pairs.flat());
    }
  }

  class URL {
    #parts;
    #searchParams;
    constructor(input, base) {
      if (arguments.length === 0) throw new TypeError('URL: the address is missing');
      this.#parts = native.urlParse(text(input), base === undefined ? undefined : text(base));
      if (this.#parts === undefined) {
        const where = base === undefined ? '' : ` with base \`${String(base)}\``;
        const error = new TypeError(`invalid URL: \`${String(input)}\`${where}`);
        error.code = 'ERR_INVALID_URL';
        throw error;
      }
    }
    static canParse(input, base) {
      return native.urlParse(text(input), base === undefined ? undefined : text(base)) !== undefined;
    }
    static parse(input, base) {
      return URL.canParse(input, base) ? new URL(input, base) : null;
    }
    get searchParams() {
      if (this.#searchParams === undefined) {
        this.#searchParams = new URLSearchParams(this.#parts[SEARCH]);
        this.#searchParams[changed] = (query) => {
          this.#parts = native.urlSet(this.#parts[0], 'search', query);
        };
      }
      return this.#searchParams;
    }
    toString() {
      return this.#parts[0];
    }
    toJSON() {
      return this.#parts[0];
    }
    static part(url, index) {
      return url.#parts[index];
    }
    static setPart(url, name, value) {
      const parts = native.urlSet(url.#parts[0], name, text(value));
      if (parts === undefined) {
        if (name === 'href') throw new TypeError(`invalid URL: \`${String(value)}\``);
        return;
      }
      url.#parts = parts;
      if (name === 'href' || name === 'search') url.#searchParams?.[refill](parts[SEARCH]);
    }
  }
  const { part, setPart } = URL;
  delete URL.part;
  delete URL.setPart;
  PARTS.forEach((name, index) => {
    const set = name === 'origin' ? undefined : function (value) {
      setPart(this, name, value);
    };
    const get = function () {
      return part(this, index);
    };
    Object.defineProperty(URL.prototype, name, { get, set, enumerable: true, configurable: true });
  });

  for (const constructor of [URL, URLSearchParams]) {
    kit.tag(constructor, constructor.name);
    kit.define(constructor.name, constructor);
  }
})
