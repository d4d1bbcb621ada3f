#!/bin/sh
# Builds types.wasm from source and writes its hash. Needs rustup, or a Rust with the wasm32-wasip2 target. The result is
# the same bytes wherever it is built: paths are mapped away and every version is pinned.
#
#   build.sh          build and replace types.wasm and SHA256SUMS
#   build.sh --check  build and compare with what is committed
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"

if command -v rustup >/dev/null 2>&1; then
    rustup target add wasm32-wasip2 >&2
fi
cargo_home=${CARGO_HOME:-$HOME/.cargo}
cargo fetch --locked --target wasm32-wasip2
export SOURCE_DATE_EPOCH=0
export CARGO_TARGET_DIR="$here/target"
export RUSTFLAGS="--remap-path-prefix=$here=/types --remap-path-prefix=$cargo_home=/cargo"
# The directory of the downloaded crates is named after where they came from.
for crates in "$cargo_home"/registry/src/*; do
    RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$crates=/crates"
done
cargo build --release --locked --target wasm32-wasip2
built=target/wasm32-wasip2/release/pleat_script_types.wasm

if [ "${1:-}" = --check ]; then
    cmp "$built" types.wasm
    echo "types.wasm is what the source builds" >&2
else
    cp "$built" types.wasm
    sha256sum types.wasm >SHA256SUMS
    cat SHA256SUMS
fi
