// crypto: random values, digests and HMAC. Nothing else of Web Crypto is there, and it says so.
(function (kit) {
  const { native } = kit;
  const HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
  const MOST_RANDOM = 65536;

  function getRandomValues(array) {
    // A value from the top level would be the same in every call.
    kit.requireLive('crypto.getRandomValues');
    const isInteger = ArrayBuffer.isView(array) && !/Float|DataView/.test(array.constructor.name);
    if (!isInteger) throw new DOMException('crypto.getRandomValues: use an array of integers', 'TypeMismatchError');
    if (array.byteLength > MOST_RANDOM) {
      throw new DOMException(`crypto.getRandomValues: at most ${MOST_RANDOM} bytes at once`, 'QuotaExceededError');
    }
    kit.bytesOf(array).set(native.randomBytes(array.byteLength));
    return array;
  }

  function randomUUID() {
    kit.requireLive('crypto.randomUUID');
    const bytes = native.randomBytes(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  const nameOf = (algorithm) => String(typeof algorithm === 'object' ? algorithm?.name : algorithm).toUpperCase();

  function hashOf(algorithm) {
    const name = nameOf(algorithm);
    if (HASHES.includes(name)) return name;
    throw new DOMException(`the digest \`${name}\` is not supported; use ${HASHES.join(', ')}`, 'NotSupportedError');
  }

  function requireHmac(algorithm) {
    if (nameOf(algorithm) === 'HMAC') return;
    throw new DOMException(`\`${nameOf(algorithm)}\` is not supported; of keyed algorithms there is HMAC`, 'NotSupportedError');
  }

  function bytes(source, name) {
    const found = kit.bytesOf(source);
    if (found === undefined) throw new TypeError(`crypto.subtle.${name}: the data must be an ArrayBuffer or a view of one`);
    return found;
  }

  class CryptoKey {
    #secret;
    constructor(secret, hash, extractable, usages) {
      this.#secret = secret;
      this.type = 'secret';
      this.extractable = extractable;
      this.usages = usages;
      this.algorithm = { name: 'HMAC', hash: { name: hash }, length: secret.length * 8 };
      Object.freeze(this);
    }
    static secret(key, usage) {
      if (!(key instanceof CryptoKey)) throw new TypeError('crypto.subtle: the key must be a CryptoKey; make it with importKey');
      if (key.usages.includes(usage)) return key.#secret;
      throw new DOMException(`the key was not imported for \`${usage}\``, 'InvalidAccessError');
    }
  }
  const { secret } = CryptoKey;
  delete CryptoKey.secret;

  const mac = (key, usage, data) =>
    native.hmac(key.algorithm.hash.name, secret(key, usage), bytes(data, usage));

  const subtle = {
    async digest(algorithm, data) {
      return native.digest(hashOf(algorithm), bytes(data, 'digest')).buffer;
    },
    async importKey(format, data, algorithm, extractable, usages) {
      requireHmac(algorithm);
      if (format !== 'raw') throw new DOMException('crypto.subtle.importKey: use the format `raw`', 'NotSupportedError');
      return new CryptoKey(bytes(data, 'importKey').slice(), hashOf(algorithm.hash), extractable === true, [...usages]);
    },
    async sign(algorithm, key, data) {
      requireHmac(algorithm);
      return mac(key, 'sign', data).buffer;
    },
    async verify(algorithm, key, signature, data) {
      requireHmac(algorithm);
      const expected = mac(key, 'verify', data);
      const given = bytes(signature, 'verify');
      // In a time that does not depend on where they differ.
      let difference = expected.length ^ given.length;
      for (let index = 0; index < expected.length; index += 1) difference |= expected[index] ^ (given[index] ?? 0);
      return difference === 0;
    },
  };
  for (const name of ['encrypt', 'decrypt', 'generateKey', 'deriveKey', 'deriveBits', 'exportKey', 'wrapKey', 'unwrapKey']) {
    subtle[name] = async () => {
      throw new DOMException(`crypto.subtle.${name} is not supported; there are digest and HMAC`, 'NotSupportedError');
    };
  }

  kit.tag(CryptoKey, 'CryptoKey');
  kit.define('CryptoKey', CryptoKey);
  kit.define('crypto', { getRandomValues, randomUUID, subtle });
})
