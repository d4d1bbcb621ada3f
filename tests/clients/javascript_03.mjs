// The official JavaScript client, 0.3: every step that it can take, one line of JSON for each.
// usage: PLEAT_TEST_LIBRARY=DIR node javascript_03.mjs URL JSONRPC

import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';

const library = createRequire(`${process.env.PLEAT_TEST_LIBRARY}/index.js`);
const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } = library('@a2a-js/sdk/client');

const [url] = process.argv.slice(2);
const webhook = process.env.PLEAT_TEST_WEBHOOK;
const say = (step, found) => console.log(JSON.stringify({ step, ...found }));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const withKey = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${process.env.PLEAT_TEST_KEY}`);
  return fetch(input, { ...init, headers });
};

const request = (parts, { task, blocking = true } = {}) => ({
  message: {
    kind: 'message', messageId: randomUUID(), role: 'user',
    parts: parts.map((part) => (typeof part === 'string' ? { kind: 'text', text: part } : part)),
    ...(task && { taskId: task.id, contextId: task.contextId }),
  },
  configuration: { blocking },
});

const state = ({ status }) => status.state;
// What the first part of an artifact holds.
const value = (task, place = 0) => {
  const part = task.artifacts[place].parts[0];
  return part[part.kind];
};

const codes = { '-32001': 'TaskNotFound', '-32002': 'TaskNotCancelable' };
// The name of the error that it ends with.
const refused = (call) => call.then(
  () => null,
  (error) => codes[error.code] ?? codes[error.errorResponse?.error?.code] ?? error.constructor.name.replace(/Error$/, ''),
);

const card = await new DefaultAgentCardResolver({ fetchImpl: withKey }).resolve(url);
say('discover', {
  name: card.name, skills: card.skills.map((skill) => skill.id),
  streaming: card.capabilities.streaming, push: card.capabilities.pushNotifications,
});
const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl: withKey })] });
const client = await factory.createFromAgentCard(card);
const send = (parts, options) => client.sendMessage(request([parts].flat(), options));

const done = await send('hello');
say('send', { state: state(done), text: value(done) });

const names = { task: 'task', 'status-update': 'status', 'artifact-update': 'artifact' };
const follow = async (stream) => {
  const events = [];
  for await (const event of stream) events.push({ ...event, kind: names[event.kind] });
  return events;
};
const events = await follow(client.sendMessageStream(request(['stream 3'])));
const chunks = events.filter((event) => event.kind === 'artifact' && event.artifact.name === 'behaviours-stream');
say('stream', {
  events: events.map((event) => event.kind), state: state(events.at(-1)),
  text: chunks.flatMap((event) => event.artifact.parts).map((part) => part.text).join(''),
});

const again = await client.getTask({ id: done.id, historyLength: 10 });
say('get', { state: state(again), same: value(again) === value(done), history: again.history.length });

let slow = await send('slow 1', { blocking: false });
say('nonblocking', { state: state(slow) });
const followed = await follow(client.resubscribeTask({ id: slow.id }));
say('subscribe', { first: followed[0].kind, state: state(followed.at(-1)) });

slow = await send('slow 60', { blocking: false });
say('cancel', { state: state(await client.cancelTask({ id: slow.id })) });

say('missing', { error: await refused(client.getTask({ id: 'task_0123456789abcdef0123456789abcdef' })) });
say('cancel-finished', { error: await refused(client.cancelTask({ id: done.id })) });

const asked = await send('ask');
const answered = await send('Ada', { task: asked });
say('multi-turn', { first: state(asked), then: state(answered), greeting: value(answered).greeting });

const decode = (text) => Buffer.from(text, 'base64').toString();
const bytes = Buffer.from('a file of mine').toString('base64');
const seen = value(await send({ kind: 'file', file: { bytes, name: 'mine.txt', mimeType: 'text/plain' } })).content[0];
const [theirs, linked] = [await send('file'), await send('link')];
say('files', { sent: decode(seen.resource.blob), bytes: decode(value(theirs).bytes), uri: value(linked).uri });

const ends = {};
for (const word of ['fail', 'reject', 'auth']) ends[word] = state(await send(word));
say('failures', ends);

slow = await send('slow 1', { blocking: false });
const made = await client.setTaskPushNotificationConfig({
  taskId: slow.id, pushNotificationConfig: { url: webhook, token: 'token-of-the-test' },
});
const id = made.pushNotificationConfig.id;
const got = await client.getTaskPushNotificationConfig({ id: slow.id, pushNotificationConfigId: id });
const listed = await client.listTaskPushNotificationConfig({ id: slow.id });
await follow(client.resubscribeTask({ id: slow.id }));
await wait(1000);
await client.deleteTaskPushNotificationConfig({ id: slow.id, pushNotificationConfigId: id });
const left = await client.listTaskPushNotificationConfig({ id: slow.id });
say('push', {
  set: made.pushNotificationConfig.url === webhook, got: got.pushNotificationConfig.id === id, listed: listed.length, left: left.length,
});

const extended = await client.getAgentCard();
say('extended', { skills: extended.skills.map((skill) => skill.id) });
