#!/usr/bin/env bash
# Builds the fuzz targets and runs each from its kept corpus, two at a time:  fuzz/run.sh [TARGET]...
# FUZZ_SECONDS (60) is how long each runs. An input that fails is printed and kept in fuzz/failures.
# The flags are those of `cargo fuzz`, without the sanitizer that needs a nightly compiler: there is no unsafe code
# in what is fuzzed.
set -uo pipefail
cd "$(dirname "$0")"
seconds="${FUZZ_SECONDS:-60}"
host="$(rustc -vV | sed -n 's/^host: //p')"
directory="${CARGO_TARGET_DIR:-target}/fuzz"
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1"
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
  flags+=" -Cllvm-args=-sanitizer-coverage-$flag"
done
RUSTFLAGS="$flags" cargo build --release --locked --target "$host" --target-dir "$directory" || exit 1

run() { # target
  local target="$1" log status
  log="$(mktemp)"
  # New inputs go to a directory of the run; the kept corpus is only read.
  mkdir -p "$directory/corpus/$target" "failures/$target"
  "$directory/$host/release/$target" "$directory/corpus/$target" "corpus/$target" \
    -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="failures/$target/" >"$log" 2>&1
  status=$?
  if [ "$status" -eq 0 ]; then
    printf '%-10s %12s runs, nothing found\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    rmdir "failures/$target" 2>/dev/null
  else
    echo "$target FAILED:"
    tail -n 40 "$log"
    for input in "failures/$target"/*; do
      [ -f "$input" ] && { echo "input $input:"; od -A d -t x1z "$input" | head -n 100; }
    done
  fi
  rm -f "$log"
  return "$status"
}
export -f run
export seconds host directory

targets=("$@")
[ "${#targets[@]}" -gt 0 ] || mapfile -t targets < <(sed -n '/^\[\[bin\]\]/{n;s/^name = "\(.*\)"/\1/p}' Cargo.toml)
printf '%s\n' "${targets[@]}" | xargs -P 2 -I {} bash -c 'run {}'
status=$?
rmdir failures 2>/dev/null
exit "$status"
