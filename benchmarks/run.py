"""Run the benchmarks of RESULTS.md and put what they print in the place of what is there: an hour
on an idle machine.

    python benchmarks/run.py [--environments <folder>] [script ...]

A block of RESULTS.md that begins with `$ python benchmarks/...` is run as it says; with names of
scripts, such as `growth`, the blocks of these alone. In the folder of environments are those of
pyfixest, duckreg, linearmodels, ppi-python and packages for rankings, made if they are not there.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
BLOCK = re.compile(
    r"(?<=^```\n)\$ python (benchmarks/(\w+)\.py.*)\n((?:.*\n)*?)(?=```$)", re.MULTILINE
)
ENGINES = ("pyfixest", "duckreg", "linearmodels")  # each needs versions of its own


def environment(engine: str, folder: Path) -> str:
    """`engine=python` for a virtual environment with an engine, which is made if it is not
    there.
    """
    python = folder / engine / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / engine], check=True)
        requirements = ROOT / "benchmarks" / f"requirements-{engine}.txt"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
    return f"{engine}={python}"


def main() -> None:
    """Run the blocks, one after the other, and write RESULTS.md after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scripts", nargs="*")
    parser.add_argument("--environments", type=Path)
    given = parser.parse_args()
    for command, script, before in BLOCK.findall(RESULTS.read_text("utf-8")):
        if given.scripts and script not in given.scripts:
            continue
        print(f"$ python {command}", file=sys.stderr)
        arguments = command.split()
        if script == "equation1" and given.environments:
            for engine in ENGINES:
                arguments += ["--python", environment(engine, given.environments.absolute())]
        packages = "rankings" if "times" in arguments else {"peers": "ppi"}.get(script)
        if packages and given.environments:
            python = environment(packages, given.environments.absolute())
            arguments += ["--python", python.partition("=")[2]]
        run = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        )
        first = f"$ python {command}\n"
        text = RESULTS.read_text("utf-8")
        RESULTS.write_text(text.replace(first + before, first + run.stdout, 1), "utf-8")


if __name__ == "__main__":
    main()
