"""Fit every spec of config to a study."""

from collections.abc import Mapping, Sequence

from judgebias.estimates import estimate
from judgebias.logs import logged
from judgebias.spec import Spec
from judgebias.study import TABLES, Study
from judgebias.tables import ESTIMATES, NOT_ESTIMABLE, SMOOTHS, write_table


def fit(*, study: Study, specs: Mapping, confidence: float, estimates: Sequence[str], smooths: str, not_estimable: str) -> None:
    curves, left_out = [], []
    for spec, path in zip(Spec.from_config(specs), estimates, strict=True):
        found = estimate(spec, study, confidence=confidence)
        write_table(path, ESTIMATES, found.estimates)
        print(f"{spec.name}: {len(found.estimates)} coefficients, {len(found.not_estimable)} not estimable")
        curves += found.smooths
        left_out += found.not_estimable
    write_table(smooths, SMOOTHS, curves)
    write_table(not_estimable, NOT_ESTIMABLE, left_out)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fit(
            study=Study(snakemake.wildcards.study, *(snakemake.input[table] for table in TABLES)),
            specs=snakemake.params.specs,
            confidence=snakemake.params.confidence,
            estimates=snakemake.output.estimates,
            smooths=snakemake.output.smooths,
            not_estimable=snakemake.output.not_estimable,
        )
