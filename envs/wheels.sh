#!/bin/sh
# Print for the given lock files, each Python and each system, how many packages there are and that all but the named ones come as
# wheels; exit 1 if another one does not. Needs uv. connection-pool is a single Python file; immutables has no wheels for Python
# 3.14 yet and needs a C compiler there. Snakemake needs both.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for lock in "$@"; do
  for python in 3.11 3.12 3.13 3.14; do
    sources=connection-pool
    [ $python = 3.14 ] && sources="connection-pool immutables"
    wheels=$(sed -n 's/^\([A-Za-z0-9_.-]*\)==.*/\1/p' "$lock" | grep -v -x -F "$(printf '%s\n' $sources)" | sed 's/^/--only-binary /')
    for system in linux macos windows; do
      # shellcheck disable=SC2086 # options and their values
      if ! uv pip install --dry-run --no-deps --require-hashes $wheels --target "$folder/packages" \
        --python-version $python --python-platform $system -r "$lock" >"$folder/log" 2>&1; then
        echo "$lock, Python $python, $system: a wheel is missing" >&2
        cat "$folder/log" >&2
        exit 1
      fi
      built=$(grep -o -E "^ \+ ($(echo $sources | tr ' ' '|'))==" "$folder/log" | tr -d ' +=' | paste -s -d, || true)
      echo "$lock, Python $python, $system: $(grep -c '^ + ' "$folder/log") packages${built:+, from source: $built}"
    done
  done
done
