# Builds the component of the crate in the working directory; sourced by its build.sh. The result is the same bytes
# wherever it is built: paths are mapped away and every version is pinned.
#
#   component NAME CRATE [--check]
#
# writes NAME.wasm and its hash, or, with --check, compares with what is committed.
component() {
    name=$1 crate=$2
    if command -v rustup >/dev/null 2>&1; then
        rustup target add wasm32-wasip2 >&2
    fi
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    cargo fetch --locked --target wasm32-wasip2
    export SOURCE_DATE_EPOCH=0
    export CARGO_TARGET_DIR="$PWD/target"
    export RUSTFLAGS="--remap-path-prefix=$PWD=/$name --remap-path-prefix=$cargo_home=/cargo"
    # The directory of the downloaded crates is named after where they came from.
    for crates in "$cargo_home"/registry/src/*; do
        RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$crates=/crates"
    done
    cargo build --release --locked --target wasm32-wasip2
    built=target/wasm32-wasip2/release/$crate.wasm

    if [ "${3:-}" = --check ]; then
        cmp "$built" "$name.wasm"
        echo "$name.wasm is what the source builds" >&2
    else
        cp "$built" "$name.wasm"
        sha256sum "$name.wasm" >SHA256SUMS
        cat SHA256SUMS
    fi
}
