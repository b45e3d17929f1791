"""Refit every spec of config by statsmodels and pygam on raw rows and write the largest difference
from the fast fits.
"""

from collections.abc import Mapping

from recuse.base.tables import write_table
from recuse.data.study import StudyTables
from recuse.model.spec import Spec
from recuse.validation.compare import CROSSCHECK, compared, raise_disagreement
from recuse.workflow.runner import run


def compare(
    *,
    tables: StudyTables,
    specs: Mapping,
    confidence: float,
    crosscheck: str,
) -> None:
    rows = list(compared(Spec.from_config(specs).values(), tables, confidence=confidence))
    write_table(crosscheck, CROSSCHECK, rows)
    raise_disagreement(rows)


if __name__ == "__main__":
    run(compare, snakemake)
