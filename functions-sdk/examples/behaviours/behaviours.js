// Every way in which a task can go, chosen by the input: `{ "do": "slow", "seconds": 5 }`, or as text, `slow 5`.
// Text that names no behaviour is given back. For trying out clients; the README beside this file has the list.

export const title = 'Behaviours';
export const description = 'Shows every task behaviour, chosen by the input: results and artifacts of each kind, streams, '
  + 'questions, refusals, failures and slow work. Send `help` for the list.';
export const tags = ['example', 'testing', 'streaming', 'conversation'];
export const examples = ['help', 'slow 5', { do: 'stream', count: 3 }, { do: 'ask' }];

export const input = {
  type: ['object', 'string', 'null'],
  properties: {
    do: { type: 'string', description: 'which behaviour' },
    text: { type: 'string', description: 'what to say' },
    count: { type: 'integer', minimum: 1, maximum: 1000, description: 'how many pieces, or questions' },
    seconds: { type: 'number', minimum: 0, maximum: 600, description: 'how long' },
  },
};

export const limits = { wallMs: 660_000 };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const NAME = { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const textFile = (name, text) => ({
  type: 'resource',
  resource: { uri: `file:///${name}`, name, mimeType: 'text/plain', blob: btoa(text) },
});
const link = { type: 'resource_link', uri: 'https://example.com/report.pdf', name: 'report.pdf', mimeType: 'application/pdf' };

// Each gets what it was asked and the context. Those with two names for a number read either.
const behaviours = {
  help: () => ({ behaviours: Object.keys(behaviours) }),
  echo: ({ text }) => text ?? '',
  // One result of each kind.
  text: ({ text }) => text ?? 'a plain text',
  data: () => ({ kind: 'data', list: [1, 2, 3], nested: { yes: true, nothing: null } }),
  file: (_, ctx) => ctx.content([textFile('hello.txt', 'hello from a file')]),
  image: (_, ctx) => ctx.content([{ type: 'image', data: PIXEL, mimeType: 'image/png' }]),
  link: (_, ctx) => ctx.content([link]),
  mixed: (_, ctx) => ctx.content(['a text', { type: 'data', data: { n: 1 } }, textFile('a.txt', 'a'), link]),
  // Artifacts with names of their own, each closed when it is whole.
  named: (_, ctx) => {
    ctx.emit('the first', { artifact: 'first', last: true });
    ctx.emit({ n: 2 }, { artifact: 'second', last: true });
  },
  // One artifact in several chunks, far enough apart to be events of their own.
  chunks: async ({ count = 3 }, ctx) => {
    for (let n = 1; n <= count; n++) {
      ctx.emit(`chunk ${n} of ${count}\n`, { artifact: 'chunked', last: n === count });
      await wait(80);
    }
  },
  stream: async ({ count = 3, seconds = 0.1 }, ctx) => {
    for (let n = 1; n <= count; n++) {
      ctx.emit(`${n} `);
      await wait(seconds * 1000);
    }
    return { counted: count };
  },
  // Long enough to be watched, followed and canceled.
  slow: async ({ seconds = 2 }, ctx) => {
    const steps = Math.max(1, Math.ceil(seconds * 5));
    for (let done = 0; done < steps; done++) {
      ctx.progress(done, steps, `step ${done + 1} of ${steps}`);
      await wait((seconds * 1000) / steps);
    }
    return `slept for ${seconds} s`;
  },
  // Asks `count` times, and then knows all the answers.
  ask: ({ count = 1 }, ctx) => question(ctx, 'input', count, []),
  auth: (_, ctx) => ctx.needAuth('Sign in, then send the token.', { state: { asked: 'auth' } }),
  reject: ({ text }, ctx) => ctx.reject(text ?? 'this is not something I do'),
  fail: ({ text }) => {
    throw new PleatError('told_to_fail', text ?? 'it was told to fail', { retryable: false });
  },
  crash: () => behaviours.nothing.here,
  // What the function sees of the caller's message: all its parts, files included.
  inspect: (_, ctx) => ({ turn: ctx.turn, history: ctx.history.length, content: ctx.message?.content ?? [] }),
};

function question(ctx, asked, left, answers) {
  const prompt = answers.length === 0 ? 'What is your name?' : `And the next one? (${left} to go)`;
  return ctx.needInput(prompt, { schema: NAME, state: { asked, left, answers } });
}

// An answer is text, or an object with a name.
const answerIn = (input) => (typeof input === 'string' ? input : (input?.name ?? JSON.stringify(input)));

function resume(input, ctx) {
  const { asked, left, answers } = ctx.state;
  if (asked === 'auth') return `signed in with ${answerIn(input)}`;
  const all = [...answers, answerIn(input)];
  return left > 1 ? question(ctx, asked, left - 1, all) : { greeting: `Nice to meet you, ${all.join(' and ')}!` };
}

// `slow 5`, `stream 3`, `echo some words`; a number is what the behaviour counts.
function fromText(text) {
  const [word, ...rest] = text.trim().split(/\s+/);
  if (!Object.hasOwn(behaviours, word)) return { do: 'echo', text };
  const number = Number(rest[0]);
  if (rest.length !== 1 || !Number.isFinite(number)) return { do: word, text: rest.length > 0 ? rest.join(' ') : undefined };
  return word === 'slow' ? { do: word, seconds: number } : { do: word, count: number };
}

export default function (input, ctx) {
  if (ctx.state) return resume(input, ctx);
  const wish = typeof input === 'string' ? fromText(input) : (input ?? { do: 'inspect' });
  const behaviour = behaviours[wish.do ?? 'help'];
  if (behaviour === undefined) return ctx.reject(`there is no behaviour \`${wish.do}\`; send \`help\` for the list`);
  return behaviour(wish, ctx);
}
