#!/usr/bin/env bash
# Installs the official A2A clients, each in a place of its own below the given directory. What is there is kept.
# usage: tests/clients/install.sh DIRECTORY
set -euo pipefail
directory="${1:?usage: install.sh DIRECTORY}"
mkdir -p "$directory"
directory="$(cd "$directory" && pwd)"
here="$(cd "$(dirname "$0")" && pwd)"

python() { # version
  local home="$directory/python-$1"
  # An installation that was interrupted may be left without what it runs on.
  [ -f "$home/installed" ] && "$home/bin/python" -c "import a2a" 2>/dev/null && return
  rm -rf "$home"
  python3 -m venv "$home"
  "$home/bin/pip" install -q "a2a-sdk[http-server,signing]==$1"
  touch "$home/installed"
}

javascript() { # version
  local home="$directory/js-$1"
  [ -f "$home/installed" ] && return
  rm -rf "$home"
  mkdir -p "$home"
  (cd "$home" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "@a2a-js/sdk@$1")
  touch "$home/installed"
}

# Its sources are ours: whatever they changed is built again, and nothing else.
rust() {
  CARGO_TARGET_DIR="$directory/rust" cargo build -q --locked --manifest-path "$here/rust/Cargo.toml"
}

python 1.3.0
python 0.3.26
javascript 1.3.0
javascript 0.3.14
rust
