"""Fit every spec of config to a study."""

from collections.abc import Mapping, Sequence

from judgebias.estimates import estimate
from judgebias.logs import logged
from judgebias.spec import Spec
from judgebias.study import Study
from judgebias.tables import ESTIMATES, NOT_ESTIMABLE, write_table


def fit(*, study: Study, specs: Mapping, confidence: float, estimates: Sequence[str], not_estimable: str) -> None:
    left_out = []
    for spec, path in zip(Spec.from_config(specs), estimates, strict=True):
        rows, gaps = estimate(spec, study, confidence=confidence)
        write_table(path, ESTIMATES, rows)
        print(f"{spec.name}: {len(rows)} coefficients, {len(gaps)} not estimable")
        left_out += gaps
    write_table(not_estimable, NOT_ESTIMABLE, left_out)


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fit(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.moments, snakemake.input.ratings),
            specs=snakemake.params.specs,
            confidence=snakemake.params.confidence,
            estimates=snakemake.output.estimates,
            not_estimable=snakemake.output.not_estimable,
        )
