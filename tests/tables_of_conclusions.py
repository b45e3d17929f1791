"""Small tables to conclude from, written by hand."""

from picked_rows import only
from recuse.base.reasons import Reason, because
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions
from text_tables import csv_rows

SPECS = {
    "main": {},
    "by_dimension": {"slice": "dimension"},
    "clustered": {"covariance": "CR1"},
    "b": {"covariance": "CR1"},
}
NAMES = ("ci_low", "ci_high", "p_value", "std_error", "df", "method", "reason", "note", "estimand")
FIRST = RobustnessCheck("first", "A", ["main", "by_dimension"], "asks")
OTHER = RobustnessCheck("other", "B", ["b"], "asks", lost="the others say so too")
PREFERENCE = RobustnessCheck(
    "preference",
    "C",
    ["main", "by_dimension"],
    "asks",
    lost="ordinary preference",
    table="idiosyncrasy",
)
CHECKS = (FIRST, OTHER, PREFERENCE)


def row(spec, term, estimate, low="", high="", *, quantity="self_bias", label="", **more):
    numbers = {"estimate": estimate, "ci_low": low, "ci_high": high}
    where = {"spec": spec, "slice": label, "quantity": quantity, "term": term}
    return {
        name: str(value)
        for name, value in (dict.fromkeys(NAMES, "") | where | numbers | more).items()
    }


def absent(spec, term, reason, quantity="self_bias"):
    """A row of the table of what is not estimable."""
    return {"spec": spec, "slice": "", "quantity": quantity, "term": term, "reason": reason}


ESTIMATED = [
    row(**each)
    for each in csv_rows("""
spec,label,quantity,term,estimate,low,high
main,,slope,slope of j,0.5,0.4,0.6
main,,self_bias,Ada,0.03,0.01,0.05
main,,self_bias,Bo,-0.04,-0.05,-0.03
main,,self_bias,Cy,0.01,-0.01,0.03
main,,self_bias,Di,0.02,0.01,0.03
main,,family_bias,F,0.02,0.01,0.03
by_dimension,Tone,self_bias,Ada,0.03,-0.01,0.07
b,,self_bias,Ada,0.015,-0.01,0.04
b,,self_bias,Bo,0.02,0.01,0.03
b,,self_bias,Cy,-0.02,-0.03,-0.01
b,,self_bias,Di,0.02,,
""")
]
RESIDUALS = [
    row("main", "Ada", 0.02, -0.02, 0.06, std_error=0.02, df=7),
    row("main", "Bo", -0.06, -0.09, -0.03, std_error=0.02, df=7),
    row("main", "Cy", "", reason=because(Reason.NO_UNRELATED_CELL, names="Cy")),
    row("main", "Di", 0.02, 0.01, 0.03, std_error=0.005, df=7),
    row("main", "all judges", 0.02, 0.01, 0.03),
    row("by_dimension", "Ada", 0.02, 0.01, 0.03, label="Tone", std_error=0.005, df=7),
]
ABSENT = [absent("main", "G", because(Reason.NO_SIBLINGS), "family_bias")]


def table(
    *checks,
    estimates=ESTIMATED,
    idiosyncrasy=RESIDUALS,
    not_estimable=ABSENT,
    order=None,
    specs=SPECS,
    **tables,
):
    """The rows of the table of conclusions."""
    found = Tables({"estimates": estimates, "idiosyncrasy": idiosyncrasy, **tables}, not_estimable)
    asked = Robustness(checks or CHECKS, specs, 0.9, 0.8)
    return list(conclusions(asked, found, order=order or {}))


def at(rows, check, term, label=""):
    return only(rows, check=check, term=term, slice=label)
