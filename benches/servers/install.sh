#!/usr/bin/env bash
# Installs the official servers that the platform is measured against, each in a place of its own below the given
# directory. What is there is kept.
# usage: benches/servers/install.sh DIRECTORY
set -euo pipefail
directory="${1:?usage: install.sh DIRECTORY}"
mkdir -p "$directory"
cd "$directory"

python() { # place, packages...
  [ -f "$1/installed" ] && return
  rm -rf "$1"
  python3 -m venv "$1"
  "$1/bin/pip" install -q "${@:2}"
  touch "$1/installed"
}

javascript() { # place, packages...
  [ -f "$1/installed" ] && return
  rm -rf "$1"
  mkdir -p "$1"
  (cd "$1" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "${@:2}")
  touch "$1/installed"
}

python a2a-python "a2a-sdk[http-server]==1.3.0" uvicorn==0.54.0
python mcp-python mcp==2.3.0
javascript a2a-js @a2a-js/sdk@1.3.0 express@5.1.0
javascript mcp-js @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/node@2.1.2 zod@4
