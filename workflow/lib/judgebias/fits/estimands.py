"""What a self- or family-bias is a gap to: the words that stand in every table and figure of them."""

from collections.abc import Iterable

from judgebias.fits.spec import Spec

A = "A: gap to the human scale"
A_OF_REFERENCE = "A: gap to the scale of the judges that are the reference"
B = "B: gap to what the other judges give, by {}"  # without taste that all judges share
C = "C: gap beyond ordinary taste of a judge for a model"
MEANINGS = {
    "A": "gap to the human scale; in it are the judge's own taste, taste that all judges share and errors of the human scores.",
    "B": "gap to what the other judges give the same model or completion; in it are the judge's own taste and, where judges' "
    "slopes on the human score differ, errors of the human scores.",
    "C": "gap to what is expected of judge and model; its interval is how far a cell that is neither self nor family scatters. "
    "Where slopes differ, errors of the human scores are in it.",
}


def estimand_of(spec: Spec) -> str:
    """Name the estimand of a spec: A, of Equation 1, or B, with effects of models or completions; "" if it has no bias.

    A holds the bias itself, any taste that all judges share against the humans, the judge's own taste for the model, and what
    errors of the human scores make of the model's quality; B no taste that is shared; C, of judgebias.inference.placebo, is
    measured against the judges' ordinary tastes. Errors of the human scores are in B and C as far as the judges' slopes differ.
    """
    if not {"self", "same_family"} & set(spec.terms):
        return ""
    if by := against_judges(spec):
        return B.format(by)
    return A if spec.reference is None else A_OF_REFERENCE


def against_judges(spec: Spec) -> str:
    """What the other judges give the same of, where biases are gaps to that: such as a model; "" where they are not."""
    if spec.absorb is not None:
        return spec.absorb
    if "model:dimension" in spec.terms:
        return "model and dimension"
    return "model" if "model" in spec.terms else ""


def estimands_in_words(estimands: Iterable[str]) -> str:
    """What a figure and its caption say of the estimands of their biases; nothing where there is none.

    Where there are several letters, a line for each says what it means.
    """
    named = [estimand for estimand in dict.fromkeys(estimands) if estimand]
    letters = dict.fromkeys(estimand[0] for estimand in named)
    if len(letters) > 1:
        return "\n".join(f"{letter}: {MEANINGS[letter]}" for letter in letters)
    return f"Estimand {'; '.join(named)}." if named else ""
