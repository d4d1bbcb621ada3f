#!/bin/sh
# Builds types.wasm from source and writes its hash. Needs rustup, or a Rust with the wasm32-wasip2 target.
#
#   build.sh          build and replace types.wasm and SHA256SUMS
#   build.sh --check  build and compare with what is committed
set -eu
cd "$(dirname "$0")"
. ../component.sh
component types pleat_script_types "$@"
