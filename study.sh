#!/bin/sh
# Set up a virtual environment with the locked packages, then run one of
#   sh study.sh twin    the simulated studies: snakemake --cores 2
#   sh study.sh test    the tests: pytest -n 3 --dist loadfile
# What follows goes to that command, as in `sh study.sh test tests/model`.
set -eu
cd "$(dirname "$0")"
case ${1:-} in
  twin) requirements=envs/requirements.txt ;;
  test) requirements=envs/requirements-test.txt ;;
  *)
    echo "found '${1:-}'; write \`sh study.sh twin\` to run the simulated studies, or \`sh study.sh test\` to run the tests" >&2
    exit 2
    ;;
esac
what=$1
shift
python=${PYTHON:-python3}
wanted() {
  "$python" --version
  cat "$requirements" pyproject.toml
}
if ! wanted | cmp -s - .venv/installed; then
  rm -f .venv/installed
  clear=--clear # otherwise venv keeps the old Python
  if [ "$(.venv/bin/python --version 2>&1)" = "$("$python" --version)" ]; then
    clear=
  fi
  "$python" -m venv $clear .venv
  .venv/bin/pip install --quiet --require-hashes -r "$requirements"
  .venv/bin/pip install --quiet --no-deps --no-build-isolation --editable .
  wanted >.venv/installed
fi
if [ "$what" = twin ]; then
  exec .venv/bin/snakemake --cores 2 "$@"
fi
# Three for two cores: some tests wait for a cluster, a deadline or a server
exec .venv/bin/pytest -n 3 --dist loadfile "$@"
