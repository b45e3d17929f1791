"""Which self- and family-biases a study's ratings can tell, under the estimands A, B and C, and why not the others."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import ESTIMABLE, FINE, NOTE, WARNING, Finding, listed
from judgebias.fits.applicable import fitted_to, inapplicable
from judgebias.fits.design import EQUATION_1
from judgebias.fits.present_terms import NO_ROWS
from judgebias.fits.spec import BIASES, Spec
from judgebias.inference.cell_means import NO_SLOPE
from judgebias.inference.identifiability import TIED, identifiability, identifiability_of_placebo
from judgebias.ratings.registry import NO_HUMAN_SCORE
from judgebias.ratings.study import Study

A, B, C = LETTERS = ("A", "B", "C")
EQUATION = Spec("main")  # whatever a user's config makes of `main`: the check is of all rows
BY_MODEL = Spec("model_effects", terms=(*EQUATION_1, "model"))
QUANTITY = {"self_bias": "self-bias", "family_bias": "family-bias"}
ONE_VALUE, SILENT = "the judge gives one value always", "its judges give one value each"
ONE_FAMILY = "all judges and models are of one family, so that nothing else is there to compare with"
ONE_JUDGE = "there is no other judge to compare with"
ADVICE = {
    NO_ROWS["self_bias"]: "let it rate its own completions, too; if it is there by another spelling, list that under its `ids`",
    NO_ROWS["family_bias"]: "rate a second model of the family if its family-bias is of interest",
    NO_SLOPE: "add prompts whose answers humans score differently",
    ONE_FAMILY: "add judges or models of another family; if there are several, mend their families in config",
    ONE_JUDGE: "add a second judge, of another family, that rates the same models",
}
TOLD = (ONE_VALUE, NO_HUMAN_SCORE)  # by a warning of its own
MORE = "add judges or models of other families: C measures a judge against pairs that are neither self nor family"
OTHERS = "add judges and models of other families, and let every judge rate every model"
IN_PAIRS = {  # of C: what its tables call cells
    "no cell that is neither self nor family is of judge ": "no model of another family is rated by ",
    "no cell that is neither self nor family is of model ": "no judge of another family rates ",
    "cells that are neither self nor family": "pairs of a judge and a model of another family",
}
TIED_TO = {  # quantity -> what a bias cannot be told from, of all and of some
    "intercept": ("how strict the judges are", "how strict {} is"),
    "slope": ("the slopes on the human scores", "the slope of {} on the human scores"),
    "model": ("how good the models' answers are", "how good the answers of {} are"),
    "dimension": ("how high the dimensions are rated", "how high {} is rated"),
    "self_bias": ("the judges' other self-biases", "the self-bias of {}"),
    "family_bias": ("the families' biases", "the family-bias of {}"),
}


@dataclass(frozen=True)
class Terms:
    """Which biases are estimable: (estimand, quantity, judge or family) -> "", or why it is not."""

    reasons: Mapping[tuple[str, str, str], str]

    def known(self, letter: str, quantity: str) -> list[str]:
        """Judges or families of which an estimand is estimable."""
        return [term for (of, kind, term), reason in self.reasons.items() if (of, kind) == (letter, quantity) and not reason]

    def every(self, quantity: str) -> list[str]:
        """All judges or families of judges."""
        return sorted({term for _, kind, term in self.reasons if kind == quantity})


def terms_of(facts: Facts, constant: Collection[str]) -> Terms:
    """Ask the designs of A (Equation 1), B (with effects of models) and C (placebo cells) for all biases.

    Without human scores there is none of A, and those of B and C do without slopes on them.
    constant: judges that give one value; their biases would be 0 whatever they are, so that none is known.
    """
    reasons = {}
    designs = {
        A: _of_equation(facts.study),
        B: identifiability(fitted_to(BY_MODEL, facts.study), facts.study),
        C: identifiability_of_placebo(EQUATION, facts.study),
    }
    family, judges = facts.families(), facts.names("judge")
    silent = set(family.values()) - {family[judge] for judge in judges if judge not in constant}
    for letter, rows in designs.items():
        for row in rows:
            if row.get("quantity") not in BIASES:
                continue
            term = row["term"]
            reason = "" if "share_carried" in row else _reason(row)
            if reason and row["words"] not in (*NO_ROWS.values(), NO_HUMAN_SCORE):
                alone = len(judges) == 1 and letter != A
                reason = ONE_JUDGE if alone else ONE_FAMILY if len(set(family.values())) == 1 else reason
            if row["quantity"] == "self_bias":
                reason = reason or (ONE_VALUE if term in constant else "")
            else:
                reason = reason or (SILENT if term in silent else "")
            reasons[letter, row["quantity"], term] = reason
    return Terms(reasons)


def _of_equation(study: Study) -> Iterator[Mapping]:
    """The rows of Equation 1; of a study that it cannot be fitted to, each bias with the reason."""
    reason = inapplicable(EQUATION, study)
    if reason is None:
        yield from identifiability(EQUATION, study)
        return
    for term in EQUATION.terms_of(study.all_cells().factors):
        yield {"quantity": term.quantity, "term": term.term, "words": reason}


def estimable(terms: Terms, models: Collection[str]) -> Iterator[Finding]:
    """Say of each bias, under each estimand, whether it can be estimated."""
    for (letter, quantity, term), reason in terms.reasons.items():
        subject = f"{letter}: {QUANTITY[quantity]} of {term}"
        if not reason:
            yield Finding(ESTIMABLE, subject, f"{subject} can be estimated", 1)
            continue
        expected = quantity == "self_bias" and term in models and reason not in TOLD
        level = FINE if reason == NO_HUMAN_SCORE else WARNING if expected else NOTE
        yield Finding(ESTIMABLE, subject, f"{subject} cannot be estimated: {reason}", 0, level, advice_on(letter, reason))


def _reason(row: Mapping) -> str:
    return _plain(row["words"]) if row["words"] != TIED else f"it cannot be told from {_tied_to(row['tied_to'])}"


def _tied_to(others: str) -> str:
    """The column of the table of identifiability in words: by quantity, of all its terms or of some."""
    named: dict[str, list[str]] = {}
    for other in others.split("; "):
        quantity, _, name = other.removeprefix("every ").removeprefix("other ").partition(" of ")
        named.setdefault(quantity, []).extend([name] if name else [])
    words = ((named[kind], *of) for kind, of in TIED_TO.items() if kind in named)
    return listed([of_some.format(listed(names)) if names else of_all for names, of_all, of_some in words])


def _plain(reason: str) -> str:
    words = reason.removeprefix("not estimable: ").replace("the reference", "the human score")
    for cells, plain in IN_PAIRS.items():
        words = words.replace(cells, plain)
    return words


def advice_on(letter: str, reason: str) -> str:
    """What to do about a bias that an estimand cannot tell for this reason; "" where it is said elsewhere, or nothing."""
    named = {_plain(key): advice for key, advice in ADVICE.items()} | dict.fromkeys((*TOLD, SILENT), "")
    return named.get(reason, MORE if letter == C else OTHERS)
