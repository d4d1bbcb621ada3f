// For conformance suites of A2A. Those for 1.0 choose what a task is to do by the beginning of the message's id, or of its
// text (`tck-input-required …`); whatever is not known completes. Those for 0.3 do not choose: they continue and cancel
// the task of any message, so that it has to wait. The README beside this file has the list. Some texts are those that the
// suites look for.

export const title = 'Conformance';
export const description = 'Does what a conformance suite asks for by the id or the text of its message.';
export const tags = ['conformance', 'suites'];
export const limits = { wallMs: 60_000 };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const file = {
  type: 'resource',
  resource: { uri: 'file:///output.txt', name: 'output.txt', mimeType: 'text/plain', blob: btoa('the content of a file') },
};
const reply = { type: 'text', text: 'Direct message response', _meta: { 'pleat/reply': 'message' } };
const link = { type: 'resource_link', uri: 'https://example.com/output.txt', name: 'output.txt', mimeType: 'text/plain' };

const artifacts = {
  text: () => 'Generated text content',
  data: () => ({ key: 'value', count: 42 }),
  'file-url': (ctx) => ctx.content([link]),
  file: (ctx) => ctx.content([file]),
};

// Far enough apart to be events of their own.
async function chunks(ctx) {
  ctx.emit('chunk-1 ', { artifact: 'chunked' });
  await wait(120);
  ctx.emit('chunk-2', { artifact: 'chunked', last: true });
}

const ask = (ctx) => ctx.needInput('What else is there to know?');

async function slowly(seconds) {
  await wait(seconds * 1000);
  return `done after ${seconds} s`;
}

// Of two that fit, the first is meant.
const behaviours = [
  ['stream-artifact-chunked', chunks],
  ['stream-chunked', chunks],
  ['stream-artifact-text', () => 'Streamed text content'],
  ['stream-ordering', () => 'Ordered output'],
  ...Object.entries(artifacts).map(([kind, result]) => [`stream-artifact-${kind}`, result]),
  ...Object.entries(artifacts).map(([kind, result]) => [`artifact-${kind}`, result]),
  ['delayed-complete', () => slowly(2)],
  ['long-running', () => slowly(3)],
  ['cancel', () => slowly(50)],
  ['message-response', (ctx) => ctx.content([reply])],
  ['input-required', ask],
  ['multi-turn', ask],
  ['auth-required', (ctx) => ctx.needAuth('Who is asking?')],
  ['reject-task', (ctx) => ctx.reject('rejected, as it was asked for')],
  ['task-failure', () => {
    throw new PleatError('told_to_fail', 'failed, as it was asked for', { retryable: false });
  }],
];

export default function (input, ctx) {
  const [id, text] = [ctx.message.messageId ?? '', typeof input === 'string' ? input : ''];
  const wish = [id, text].find((words) => words.startsWith('tck-'));
  if (wish !== undefined) {
    const [, behaviour] = behaviours.find(([name]) => wish.startsWith(`tck-${name}`)) ?? [];
    return behaviour === undefined ? 'Hello from TCK' : behaviour(ctx);
  }
  // The one task of 0.3 that is followed while it works.
  if (id.startsWith('test-resubscribe')) return slowly(4);
  return text.trim() === 'done' ? 'done' : ask(ctx);
}
