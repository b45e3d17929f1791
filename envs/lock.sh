#!/bin/sh
# Pin every package of pyproject.toml, with hashes, into the lock files beside this script. Needs uv; run it after a change there.
set -eu
cd "$(dirname "$0")"
lock() {
  output=$1
  shift
  uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
    --custom-compile-command envs/lock.sh --output-file "$output" "$@" ../pyproject.toml
}
lock requirements.txt
lock requirements-test.txt --extra test --constraint requirements.txt
lock requirements-slurm.txt --extra slurm --constraint requirements.txt
lock requirements-cluster-generic.txt --extra cluster-generic --constraint requirements.txt
