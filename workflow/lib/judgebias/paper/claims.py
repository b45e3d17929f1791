"""The sentences of Play Favorites that state a result, each judged on a study's tables and on the paper's own numbers."""

import re
from collections.abc import Iterator, Sequence

from judgebias.paper.claims_of_bias import CLAIMS as OF_BIAS
from judgebias.paper.claims_of_robustness import CLAIMS as OF_ROBUSTNESS
from judgebias.paper.claims_of_robustness import CLAIMS_ON_HELM
from judgebias.paper.findings import Claim, Finding
from judgebias.paper.published import ESTIMANDS
from judgebias.paper.results import AbsentError, Results

CLAIMS = (*OF_BIAS, *OF_ROBUSTNESS, *CLAIMS_ON_HELM)
HOLDS, FAILS, ABSENT = "holds", "fails", "data absent"
STAND_IN = "no ratings of HELM-Instruct but a simulated stand-in, with biases that are declared"
NOTHING_LEFT = "no number that the criterion asks for"
LISTED = 12  # findings written out; of more, the first ones against the claim


def judged(claim: Claim, results: Results) -> tuple[str, str]:
    """Return the verdict on a claim, HOLDS, FAILS or ABSENT, and the evidence: the numbers that decided, or what is missing."""
    missing = [dimension for dimension in claim.dimensions if dimension not in results.dimensions]
    if missing:
        return ABSENT, f"no ratings of {', '.join(missing)}"
    try:
        findings = [finding for part in claim.parts for finding in part(results)]
    except AbsentError as error:
        return ABSENT, str(error)
    if not findings:
        return ABSENT, NOTHING_LEFT
    holds = claim.quorum([finding.holds for finding in findings])
    return HOLDS if holds else FAILS, evidence(findings)


def estimand_of(claim: Claim) -> str:
    """Name what the biases are gaps to that a claim rests on, by the specs in its criterion; "" of a claim of other numbers."""
    specs = [word for word in re.findall(r"\w+", claim.criterion) if word in ESTIMANDS]
    return "; ".join(dict.fromkeys(ESTIMANDS[spec] for spec in specs))


def evidence(findings: Sequence[Finding]) -> str:
    """Count and list findings: those against the claim first, and those for it only where there is room."""
    against = [finding.text for finding in findings if not finding.holds]
    support = [finding.text for finding in findings if finding.holds] if len(findings) <= LISTED else []
    more = [f"and {len(against) - LISTED} more"] if len(against) > LISTED else []
    parts = [f"{len(findings) - len(against)} of {len(findings)}"]
    parts += [f"against: {'; '.join(against[:LISTED] + more)}"] if against else []
    parts += [f"for: {'; '.join(support)}"] if support else []
    return ". ".join(parts)


def claims(study: str, results: Results, published: Results, *, kind: str, helm: Results | None = None) -> Iterator[dict]:
    """Yield the rows of the claims table: each claim's verdict on the study, and on the published values.

    kind: simulated, published or user, what the ratings of `results` are. helm: what a user's ratings of HELM-Instruct give, on
    which the claims of section C.2 are judged for every study; None where there are none, and these claims have no data.
    """
    for claim in CLAIMS:
        ratings, whose = (helm, "user" if helm else "simulated") if claim in CLAIMS_ON_HELM else (results, kind)
        verdict, why = judged(claim, ratings) if ratings else (ABSENT, STAND_IN)
        theirs, why_theirs = judged(claim, published)
        yield {
            "study": study, "claim": claim.name, "section": claim.section, "sentence": claim.sentence,
            "criterion": claim.criterion, "estimand": estimand_of(claim), "kind": whose, "verdict": verdict, "evidence": why,
            "published": theirs, "published_evidence": why_theirs,
        }  # fmt: skip
