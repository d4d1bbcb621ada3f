"""An echo on the official Python A2A server: what the platform's sends are measured against. Prints its port."""

import socket

import uvicorn
from a2a.helpers import get_data_parts, new_data_artifact, new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        artifact = new_data_artifact("result", get_data_parts(context.message.parts)[0])
        await updater.add_artifact(list(artifact.parts), name="result", last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise NotImplementedError


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
card = AgentCard(
    name="echo",
    description="gives back its input",
    version="1",
    capabilities=AgentCapabilities(streaming=True),
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{port}/", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
)
handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
application = Starlette(routes=create_jsonrpc_routes(handler, "/"))
print(port, flush=True)
uvicorn.Server(uvicorn.Config(application, log_level="error", access_log=False)).run(sockets=[listener])
