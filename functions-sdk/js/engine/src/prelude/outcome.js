// What a function can return beside plain data. Each of these must be returned: made and dropped, it is a mistake.
(function (kit) {
  const { native, text, PleatError } = kit;
  const { stringify } = JSON;
  let made;

  class Outcome {
    constructor(maker, ...fields) {
      this.maker = maker;
      this.fields = fields;
      made = this;
      native.lookCloser();
    }
  }

  function encode(value, what, code) {
    let encoded;
    try {
      encoded = stringify(value);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new PleatError(code, `${what} cannot be written as JSON: ${reason}; use plain data`, { cause: error });
    }
    if (encoded !== undefined) return encoded;
    const kind = value === undefined ? 'undefined' : `a ${typeof value}`;
    throw new PleatError(code, `${what} is ${kind}, which JSON cannot carry; use plain data`);
  }

  const optionalJson = (value, what, code) => (value === undefined ? undefined : encode(value, what, code));

  function blocksJson(blocks, name, code) {
    const list = Array.isArray(blocks) ? blocks : [blocks];
    const whole = list.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block));
    return encode(whole, `the content given to ${name}`, code);
  }

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

  kit.encode = encode;
  kit.blocksJson = blocksJson;
  kit.Outcome = Outcome;
  // The last outcome that was made, to notice one that was not returned.
  kit.lastOutcome = () => made;
  kit.outcomes = {
    content,
    needInput: ask('need-input', 'ctx.needInput'),
    needAuth: ask('need-auth', 'ctx.needAuth'),
    needClient,
    reject: (reason) => new Outcome('ctx.reject', 'reject', text(reason)),
  };
})
