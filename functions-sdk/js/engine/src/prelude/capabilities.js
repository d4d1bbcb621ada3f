// What a function may use beside HTTP, where the deployer granted it: secrets, settings, the key-value store and the
// other skills of the tenant.
(function (kit) {
  const { native, text, PleatError } = kit;

  const granting = (what, grant) => `${what}: name it in \`capabilities\` and deploy with \`--grant ${grant}\``;
  const elsewhere = 'the platform could not serve it just now; try again later';

  function fail(prefix, code, message) {
    throw new PleatError(`${prefix}_${code}`, message, { retryable: code === 'unavailable' });
  }

  // ---- secrets and settings

  function secret(name) {
    kit.requireLive('ctx.secrets');
    const own = text(name);
    const [value, code] = native.secret(own);
    if (code === undefined) return value;
    const reasons = {
      not_granted: granting(`the secret \`${own}\` is not granted`, `secret:${own}`),
      not_found: `the secret \`${own}\` is not set: \`pleat secrets set ${own}\``,
    };
    return fail('secret', code, reasons[code] ?? `the secret \`${own}\`: ${elsewhere}`);
  }

  function setting(name) {
    kit.requireLive('ctx.config');
    return native.setting(text(name));
  }

  // ---- key-value

  const STORE = {
    not_granted: () => granting('the key-value store is not granted', 'kv'),
    invalid_key: (why) => `the key is not valid: ${why}`,
    too_large: () => 'the value is larger than one value may be',
    quota_exceeded: () => "the tenant's store is full; delete something first",
    not_a_number: () => 'the stored value is not a whole number',
  };

  // `[value]`, or `[undefined, code, detail]`.
  function store([value, code, detail]) {
    if (code === undefined) return value;
    return fail('kv', code, STORE[code]?.(detail) ?? elsewhere);
  }

  function stored(value) {
    if (typeof value === 'string') return kit.utf8(value);
    return kit.bytesOf(value) ?? kit.utf8(kit.encode(value, 'the value', 'kv_bad_value'));
  }

  function lifetime(options) {
    const seconds = options?.ttlSeconds;
    if (seconds === undefined || seconds === null) return undefined;
    if (Number.isInteger(seconds) && seconds > 0 && seconds <= 0xffffffff) return seconds;
    throw new TypeError('ctx.kv.set: ttlSeconds must be a whole number above 0');
  }

  const live = () => kit.requireLive('ctx.kv');
  const read = (key) => {
    live();
    return store(native.kvGet(text(key)));
  };

  // Promises all, so that a store which has to be waited for changes nothing for authors.
  const kv = {
    async get(key) {
      const bytes = read(key);
      return bytes === undefined ? undefined : native.decode(bytes, 'utf-8', false);
    },
    async getJson(key) {
      const bytes = read(key);
      return bytes === undefined ? undefined : JSON.parse(native.decode(bytes, 'utf-8', false));
    },
    async getBytes(key) {
      return read(key);
    },
    async set(key, value, options) {
      live();
      store(native.kvSet(text(key), stored(value), lifetime(options)));
    },
    async delete(key) {
      live();
      return store(native.kvDelete(text(key)));
    },
    async increment(key, by = 1) {
      live();
      if (!Number.isSafeInteger(by)) throw new TypeError('ctx.kv.increment: the step must be a whole number');
      return store(native.kvIncrement(text(key), by));
    },
    async list(prefix = '', options = undefined) {
      live();
      const limit = options?.limit ?? 100;
      if (!Number.isInteger(limit) || limit < 1) throw new TypeError('ctx.kv.list: limit must be a whole number above 0');
      const [keys, cursor] = store(native.kvList(text(prefix), kit.optionalText(options?.cursor), limit));
      return { keys, cursor };
    },
  };

  // ---- other skills

  function callFailure(skill, [code, fault]) {
    if (code === 'failed') {
      const details = fault[3] === undefined ? undefined : JSON.parse(fault[3]);
      return new PleatError(fault[0], fault[1], { retryable: fault[2], details });
    }
    const reasons = {
      not_granted: granting(`the skill \`${skill}\` may not be called`, `skill:${skill}`),
      unknown_skill: `there is no skill \`${skill}\` that this caller may call`,
      too_deep: 'skills call each other too deep; does one call itself?',
    };
    const message = reasons[code] ?? `the skill \`${skill}\`: ${elsewhere}`;
    return new PleatError(`call_${code}`, message, { retryable: code === 'unavailable' });
  }

  // Started at once; several run at the same time.
  function call(skill, input, options) {
    return new Promise((resolve, reject) => {
      kit.requireLive('ctx.call');
      const name = text(skill);
      const body = kit.encode(input === undefined ? null : input, 'the input given to ctx.call', 'bad_input');
      const signal = options?.signal;
      signal?.throwIfAborted();
      const started = native.call(name, body);
      if (typeof started !== 'number') throw callFailure(name, started);
      const abort = () => {
        kit.forget(started);
        reject(signal.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      kit.await(started, (id) => {
        signal?.removeEventListener('abort', abort);
        const [code, value] = native.takeCall(id);
        if (code === 'ok') resolve(JSON.parse(value));
        else reject(callFailure(name, [code, value]));
      });
    });
  }

  kit.capabilities = { secrets: { get: secret }, config: { get: setting }, kv, call };
})
