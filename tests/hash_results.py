"""Print the SHA-256 of every result of a checkout: `python tests/hash_results.py [RESULTS] [STUDY ...] >hashes`.

Everything under `results` counts but logs and benchmarks. Compare two states of the code with `diff`.
"""

import hashlib
import sys
from pathlib import Path

ASIDE = {"logs", "benchmarks"}


def hashes(results: Path, studies: list[str]) -> list[str]:
    """Lines of digest and path, in the order of the paths; of all studies where none is named."""
    files = sorted(path for path in results.rglob("*") if path.is_file())
    inside = [(path, path.relative_to(results)) for path in files]
    return [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}"
        for path, name in inside
        if not ASIDE & set(name.parts) and (not studies or name.parts[0] in studies)
    ]


if __name__ == "__main__":
    folder, *chosen = sys.argv[1:] or ["results"]
    print("\n".join(hashes(Path(folder), chosen)))
