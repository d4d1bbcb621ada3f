// The official JavaScript client, 1.x: every step that it can take, one line of JSON for each.
// usage: PLEAT_TEST_LIBRARY=DIR node javascript_1.mjs URL JSONRPC|HTTP+JSON

import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';

const library = createRequire(`${process.env.PLEAT_TEST_LIBRARY}/index.js`);
const sdk = library('@a2a-js/sdk');
const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } = library('@a2a-js/sdk/client');

const [url, binding] = process.argv.slice(2);
const webhook = process.env.PLEAT_TEST_WEBHOOK;
const say = (step, found) => console.log(JSON.stringify({ step, ...found }));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const withKey = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${process.env.PLEAT_TEST_KEY}`);
  return fetch(input, { ...init, headers });
};

const text = (value) => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });
const request = (parts, { task, immediately = false } = {}) => ({
  tenant: '',
  metadata: undefined,
  message: {
    messageId: randomUUID(), role: sdk.Role.ROLE_USER, parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
    taskId: task?.id ?? '', contextId: task?.contextId ?? '', extensions: [], metadata: undefined, referenceTaskIds: [],
  },
  configuration: { acceptedOutputModes: [], returnImmediately: immediately, historyLength: undefined, taskPushNotificationConfig: undefined },
});

const state = ({ status }) => sdk.taskStateToJSON(status.state).replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
// What the first part of an artifact holds.
const value = (task, place = 0) => task.artifacts[place].parts[0].content.value;

// The name of the error that it ends with.
// Each transport has errors of its own, named after it.
const named = (error) => error.constructor.name.replace(/^(JsonRpc|Rest)/, '').replace(/Error$/, '');
const refused = (call) => call.then(() => null, named);

const factories = { JSONRPC: JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory };
const card = await new DefaultAgentCardResolver({ fetchImpl: withKey }).resolve(url);
say('discover', {
  name: card.name, skills: card.skills.map((skill) => skill.id),
  streaming: card.capabilities.streaming, push: card.capabilities.pushNotifications,
});
const factory = new ClientFactory({ transports: [new factories[binding]({ fetchImpl: withKey })] });
const client = await factory.createFromAgentCard(card);
const send = (parts, options) => client.sendMessage(request([parts].flat(), options));

const done = await send('hello');
say('send', { state: state(done), text: value(done) });

// An event is told by what it has.
const kind = (event) => event.kind ?? event.payload?.$case ?? (event.artifact ? 'artifactUpdate' : event.taskId ? 'statusUpdate' : 'task');
const names = { task: 'task', statusUpdate: 'status', artifactUpdate: 'artifact' };
const body = (event) => event.payload?.value ?? event;
const follow = async (stream) => {
  const events = [];
  for await (const event of stream) events.push({ kind: names[kind(event)], ...body(event) });
  return events;
};
const events = await follow(client.sendMessageStream(request(['stream 3'])));
const chunks = events.filter((event) => event.kind === 'artifact' && event.artifact.name === 'behaviours-stream');
say('stream', {
  events: events.map((event) => event.kind), state: state(events.at(-1)),
  text: chunks.flatMap((event) => event.artifact.parts).map((part) => part.content.value).join(''),
});

const again = await client.getTask({ tenant: '', id: done.id, historyLength: 10 });
say('get', { state: state(again), same: value(again) === value(done), history: again.history.length });

const page = (pageToken) => client.listTasks({
  tenant: '', contextId: '', status: 0, pageSize: 1, pageToken, historyLength: undefined, statusTimestampAfter: undefined, includeArtifacts: undefined,
});
const first = await page('');
const second = await page(first.nextPageToken);
const ids = [...first.tasks, ...second.tasks].map((task) => task.id);
say('list', { found: ids.includes(done.id), more: first.nextPageToken !== '' && new Set(ids).size === 2 });

let slow = await send('slow 1', { immediately: true });
say('nonblocking', { state: state(slow) });
const followed = await follow(client.resubscribeTask({ tenant: '', id: slow.id }));
say('subscribe', { first: followed[0].kind, state: state(followed.at(-1)) });

slow = await send('slow 60', { immediately: true });
say('cancel', { state: state(await client.cancelTask({ tenant: '', id: slow.id, metadata: undefined })) });

const unknown = 'task_0123456789abcdef0123456789abcdef';
say('missing', { error: await refused(client.getTask({ tenant: '', id: unknown, historyLength: undefined })) });
say('cancel-finished', { error: await refused(client.cancelTask({ tenant: '', id: done.id, metadata: undefined })) });

const asked = await send('ask');
const answered = await send('Ada', { task: asked });
say('multi-turn', { first: state(asked), then: state(answered), greeting: value(answered).greeting });

const mine = { content: { $case: 'raw', value: Buffer.from('a file of mine') }, metadata: undefined, filename: 'mine.txt', mediaType: 'text/plain' };
const seen = value(await send(mine)).content[0];
const [theirs, linked] = [await send('file'), await send('link')];
say('files', {
  sent: Buffer.from(seen.resource.blob, 'base64').toString(), bytes: Buffer.from(value(theirs)).toString(), uri: value(linked),
});

const ends = {};
for (const word of ['fail', 'reject', 'auth']) ends[word] = state(await send(word));
say('failures', ends);

slow = await send('slow 1', { immediately: true });
const config = { tenant: '', id: '', taskId: slow.id, url: webhook, token: 'token-of-the-test', authentication: undefined };
const made = await client.createTaskPushNotificationConfig(config);
const got = await client.getTaskPushNotificationConfig({ tenant: '', taskId: slow.id, id: made.id });
const all = () => client.listTaskPushNotificationConfig({ tenant: '', taskId: slow.id, pageSize: 0, pageToken: '' });
const count = (list) => (list.configs ?? list).length;
const listed = await all();
await follow(client.resubscribeTask({ tenant: '', id: slow.id }));
await wait(1000);
await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: slow.id, id: made.id });
say('push', { set: made.url === webhook, got: got.id === made.id, listed: count(listed), left: count(await all()) });

const extended = await client.getAgentCard();
say('extended', { skills: extended.skills.map((skill) => skill.id) });

const keys = (await (await fetch(`${url}.well-known/jwks.json`)).json()).keys;
const verify = sdk.verifyAgentCardSignature(async (kid) => keys.find((key) => key.kid === kid));
console.debug = () => {};
const holds = (card) => verify(card).then(() => true, () => false);
// As it came: a card that this library has parsed has lost its security schemes for its own check.
const raw = await (await fetch(`${url}.well-known/agent-card.json`, { headers: { 'A2A-Version': '1.0' } })).json();
say('signature', { valid: await holds(raw), tampered: await holds({ ...raw, description: 'something else' }) });
