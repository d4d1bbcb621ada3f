"""An echo tool on the official Python MCP server: what the platform's calls are measured against. Prints its port."""

import os
import socket

import uvicorn
from mcp.server import MCPServer

server = MCPServer("echo", log_level="ERROR")


def echo(text: str) -> str:
    return text


for name in ["echo", *(f"tool-{tool}" for tool in range(1, int(os.environ.get("TOOLS", "1"))))]:
    server.tool(name=name, description="gives back its input")(echo)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
application = server.streamable_http_app(stateless_http=True, json_response=True)
uvicorn.Server(uvicorn.Config(application, log_level="error", access_log=False)).run(sockets=[listener])
