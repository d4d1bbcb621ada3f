#!/bin/sh
# Builds the Rust examples into functions-sdk/target. Needs rustup; the JavaScript examples need no building.
set -eu
cd "$(dirname "$0")"
rustup target add wasm32-wasip2
for example in rust-echo rust-report rust-wordcount; do
    cargo build --release --locked --target wasm32-wasip2 --manifest-path "examples/$example/Cargo.toml" --target-dir target
done
ls -l target/wasm32-wasip2/release/*.wasm
