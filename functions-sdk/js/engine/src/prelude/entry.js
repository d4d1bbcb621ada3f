// The entries, called by the Rust half: what a file exports becomes what the contract asks for.
(function (kit) {
  const { native, format, encode, context, reportUnhandled, Outcome, PleatError } = kit;
  const MANIFEST = [
    'name', 'title', 'description', 'input', 'output', 'tags', 'examples', 'annotations', 'visibility',
    'capabilities', 'limits', 'resources', 'resourceTemplates', 'prompts', 'guardrails',
  ];
  let module;

  // QuickJS seeds its own once, which the snapshot would freeze.
  Object.defineProperty(Math, 'random', { value: native.random, writable: true, configurable: true });

  function begin(fileName) {
    kit.file = fileName;
  }

  // Takes over the loaded file. Answers why it cannot, or with what a call begins: the function and its `ctx`.
  function adopt(namespace) {
    const found = namespace.default;
    if (typeof found !== 'function') {
      const what = found === undefined ? 'has no default export' : 'has a default export that is not a function';
      return `${kit.file} ${what}: write \`export default async function (input, ctx) { … }\``;
    }
    const { done, value: reason } = kit.firstUnhandled();
    if (!done) return `unhandled rejection at the top level: ${format([reason])}`;
    module = namespace;
    kit.goLive();
    return [found, context];
  }

  const promised = (value) => Promise.resolve(value);

  function manifest() {
    const found = {};
    for (const name of MANIFEST) {
      if (module[name] !== undefined) found[name] = module[name];
    }
    return encode(found, 'what the file exports about itself', 'bad_manifest');
  }

  function readResource(uri) {
    if (typeof module.readResource === 'function') return promised(module.readResource(uri, context));
    throw new PleatError('not_found', `${kit.file} offers no resources: it exports no \`readResource\``);
  }

  function getPrompt(name, values) {
    if (typeof module.getPrompt === 'function') return promised(module.getPrompt(name, values, context));
    throw new PleatError('not_found', `${kit.file} offers no prompts: it exports no \`getPrompt\``);
  }

  // A plain result as JSON text, an explicit outcome as a list.
  function finish(value, promise) {
    reportUnhandled(promise);
    if (value instanceof Outcome) return value.fields;
    if (value !== undefined) return encode(value, "the function's result", 'bad_result');
    const made = kit.lastOutcome();
    if (made === undefined) return 'null';
    throw new PleatError('bad_result', `${made.maker}(…) was called but not returned: write \`return ${made.maker}(…)\``);
  }

  const finishJson = (value, promise) => {
    reportUnhandled(promise);
    return encode(value, 'the result', 'bad_result');
  };

  const { turn, fault, loadFault, rejection } = kit;
  return {
    begin, adopt, promised, turn, manifest, readResource, getPrompt, finish, finishJson, fault, loadFault, rejection,
  };
})
