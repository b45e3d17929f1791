"""Tabulate verbosity bias, position, agreement with the humans, and the curves against length of a set of comparisons."""

from collections.abc import Mapping

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import ALIGNMENT_CURVES, POSITION, SCORE_CURVES, VERBOSITY, write_table
from recuse.base.tables import PAIRWISE_AGREEMENT as AGREEMENT
from recuse.pairwise.position import agreement, position
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import alignment_curves, score_curves, verbosity


def tabulate(
    *, study: str, comparisons: str, pools: Mapping[str, list[str]], intervals: Mapping[str, float], outputs: Mapping[str, str]
) -> None:
    pairs = open_pairs(comparisons, pools)
    tables = {
        "verbosity": (VERBOSITY, verbosity(pairs, **intervals)),
        "position": (POSITION, position(pairs, **intervals)),
        "agreement": (AGREEMENT, agreement(pairs, **intervals)),
        "score_curves": (SCORE_CURVES, score_curves(pairs)),
        "alignment_curves": (ALIGNMENT_CURVES, alignment_curves(pairs, confidence=intervals["confidence"])),
    }
    for table, (columns, rows) in tables.items():
        write_table(outputs[table], columns, ({"study": study, **row} for row in rows))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        tabulate(
            study=snakemake.wildcards.study,
            comparisons=snakemake.input.comparisons,
            pools=snakemake.params.pools,
            intervals={key: snakemake.params[key] for key in ("confidence", "seed")},
            outputs=dict(snakemake.output.items()),
        )
