// `ctx`. One instance serves one call, so that it is a single object whose fields ask the host only when they are read.
(function (kit) {
  const { native, encode, optionalText, blocksJson, PleatError } = kit;
  const { parse } = JSON;

  // ---- what the caller sees before the result

  const EMIT_FAULTS = {
    too_large: 'the chunk is larger than one event may be; emit smaller chunks',
    too_many: 'the task has used up its events; emit fewer and larger chunks',
  };

  function send(kind, body, options) {
    const { artifact, last } = options ?? {};
    const fault = native.emit(kind, body, optionalText(artifact), last === true);
    if (fault !== undefined) throw new PleatError(`emit_${fault[0]}`, EMIT_FAULTS[fault[0]] ?? fault[1]);
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

  // ---- what is known of the call

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
      log: kit.log, emit, emitBlocks, progress, ...kit.outcomes, ...kit.capabilities,
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

  kit.context = makeContext();
})
