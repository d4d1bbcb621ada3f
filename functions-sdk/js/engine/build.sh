#!/bin/sh
# Builds engine.wasm from source and writes its hash. Needs rustup (or a Rust with the wasm32-wasip2 target) and
# Python 3 with pip, which brings the C compiler. The result is the same bytes wherever it is built: paths are mapped
# away and every version is pinned.
#
#   build.sh          build and replace engine.wasm and SHA256SUMS
#   build.sh --check  build and compare with what is committed
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
zig_version=0.17.0

if command -v rustup >/dev/null 2>&1; then
    rustup target add wasm32-wasip2 >&2
fi
if [ ! -x target/zig/bin/python ]; then
    python3 -m venv target/zig
    target/zig/bin/python -m pip install --quiet "ziglang==$zig_version"
fi

cargo_home=${CARGO_HOME:-$HOME/.cargo}
cargo fetch --locked --target wasm32-wasip2
export ZIG_PYTHON="$here/target/zig/bin/python"
export RQUICKJS_SYS_NO_WASI_SDK=1
export CC_wasm32_wasip2="$here/tools/zcc"
export AR_wasm32_wasip2="$here/tools/zar"
export SOURCE_DATE_EPOCH=0
export CARGO_TARGET_DIR="$here/target"
export RUSTFLAGS="--remap-path-prefix=$here=/engine --remap-path-prefix=$cargo_home=/cargo"
# The directory of the downloaded crates is named after where they came from.
for crates in "$cargo_home"/registry/src/*; do
    RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$crates=/crates"
done
cargo build --release --locked --target wasm32-wasip2
built=target/wasm32-wasip2/release/pleat_script_engine.wasm

if [ "${1:-}" = --check ]; then
    cmp "$built" engine.wasm
    echo "engine.wasm is what the source builds" >&2
else
    cp "$built" engine.wasm
    sha256sum engine.wasm >SHA256SUMS
    cat SHA256SUMS
fi
