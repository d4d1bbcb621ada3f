// An echo on the official JavaScript A2A server: what the platform's sends are measured against. Prints its port.
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';

// The packages are where they were installed, not beside this file.
const installed = createRequire(`${process.cwd()}/`);
const { DefaultRequestHandler, InMemoryTaskStore } = installed('@a2a-js/sdk/server');
const { jsonRpcHandler, UserBuilder } = installed('@a2a-js/sdk/server/express');
const { TaskState } = installed('@a2a-js/sdk');
const express = installed('express');

class Echo {
  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const now = () => new Date().toISOString();
    const task = {
      id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined,
      status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: now(), message: undefined },
    };
    bus.publish({ kind: 'task', data: task });
    const parts = userMessage.parts;
    const artifact = { artifactId: randomUUID(), name: 'result', description: '', parts, metadata: undefined, extensions: [] };
    bus.publish({ kind: 'artifactUpdate', data: { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined } });
    const status = { state: TaskState.TASK_STATE_COMPLETED, timestamp: now(), message: undefined };
    bus.publish({ kind: 'statusUpdate', data: { taskId, contextId, status, metadata: undefined } });
    bus.finished();
  }

  async cancelTask() {}
}

const application = express();
const card = {
  name: 'echo', description: 'gives back its input', version: '1', skills: [], capabilities: { streaming: true, extensions: [] },
  defaultInputModes: ['application/json'], defaultOutputModes: ['application/json'], provider: undefined,
  securitySchemes: {}, securityRequirements: [], signatures: [],
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Echo());
application.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const server = application.listen(0, '127.0.0.1', () => console.log(server.address().port));
