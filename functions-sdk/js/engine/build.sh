#!/bin/sh
# Builds engine.wasm from source and writes its hash. Needs rustup (or a Rust with the wasm32-wasip2 target) and
# Python 3 with pip, which brings the C compiler.
#
#   build.sh          build and replace engine.wasm and SHA256SUMS
#   build.sh --check  build and compare with what is committed
set -eu
cd "$(dirname "$0")"
. ../component.sh
zig_version=0.17.0

if [ ! -x target/zig/bin/python ]; then
    python3 -m venv target/zig
    target/zig/bin/python -m pip install --quiet "ziglang==$zig_version"
fi
export ZIG_PYTHON="$PWD/target/zig/bin/python"
export RQUICKJS_SYS_NO_WASI_SDK=1
export CC_wasm32_wasip2="$PWD/tools/zcc"
export AR_wasm32_wasip2="$PWD/tools/zar"
component engine pleat_script_engine "$@"
