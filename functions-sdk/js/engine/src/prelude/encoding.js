// TextEncoder and TextDecoder (UTF-8, UTF-16LE, Latin-1). The work is done by the Rust half.
(function (kit) {
  const { native } = kit;
  const LABELS = {
    'utf-8': ['utf-8', 'utf8', 'unicode-1-1-utf-8', 'x-unicode20utf8'],
    'utf-16le': ['utf-16le', 'utf-16', 'ucs-2', 'unicode', 'iso-10646-ucs-2', 'csunicode'],
    'windows-1252': ['latin1', 'iso-8859-1', 'ascii', 'us-ascii', 'windows-1252', 'cp1252', 'l1'],
  };

  kit.utf8 = (text) => native.utf8Encode(text.toWellFormed());

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return kit.utf8(String(text));
    }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text).toWellFormed()) {
        const bytes = kit.utf8(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  // How many bytes at the end are the beginning of a character whose rest may still come.
  function unfinished(bytes, encoding) {
    if (encoding === 'windows-1252') return 0;
    const { length } = bytes;
    if (encoding === 'utf-16le') {
      const odd = length % 2;
      const isHigh = length - odd >= 2 && (bytes[length - odd - 1] & 0xfc) === 0xd8;
      return odd + (isHigh ? 2 : 0);
    }
    for (let back = 1; back <= Math.min(3, length); back += 1) {
      const byte = bytes[length - back];
      if (byte >= 0xc0) {
        const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
        return needed > back ? back : 0;
      }
      if (byte < 0x80) return 0;
    }
    return 0;
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBom;
    #rest = new Uint8Array(0);
    #begun = false;
    constructor(label = 'utf-8', options) {
      const wanted = String(label).trim().toLowerCase();
      this.#encoding = Object.keys(LABELS).find((name) => LABELS[name].includes(wanted));
      if (this.#encoding === undefined) {
        throw new RangeError(`TextDecoder: \`${label}\` is not supported; use utf-8, utf-16le or latin1`);
      }
      this.#fatal = options?.fatal === true;
      this.#ignoreBom = options?.ignoreBOM === true;
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBom;
    }
    decode(source, options) {
      let bytes = source === undefined ? new Uint8Array(0) : kit.bytesOf(source);
      if (bytes === undefined) throw new TypeError('TextDecoder.decode: the input must be an ArrayBuffer or a view of one');
      if (this.#rest.length > 0) {
        const joined = new Uint8Array(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
      }
      const streams = options?.stream === true;
      const kept = streams ? unfinished(bytes, this.#encoding) : 0;
      this.#rest = bytes.slice(bytes.length - kept);
      const text = native.decode(kept === 0 ? bytes : bytes.subarray(0, bytes.length - kept), this.#encoding, this.#fatal);
      if (text === undefined) {
        this.#rest = new Uint8Array(0);
        this.#begun = false;
        throw new TypeError(`TextDecoder.decode: the data is not valid ${this.#encoding}`);
      }
      const hasBom = !this.#begun && !this.#ignoreBom && text.charCodeAt(0) === 0xfeff;
      this.#begun = streams && (this.#begun || text !== '');
      return hasBom ? text.slice(1) : text;
    }
  }

  for (const constructor of [TextEncoder, TextDecoder]) {
    kit.tag(constructor, constructor.name);
    kit.define(constructor.name, constructor);
  }
})
