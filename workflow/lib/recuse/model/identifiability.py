"""Which judge x model cells identify each coefficient, and against which others, in words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.base.words import counted
from recuse.data.moments import Moments
from recuse.data.study import StudyTables
from recuse.model.design import Term, absent_terms, design_layout, estimable_terms
from recuse.model.estimable import spec_slices
from recuse.model.least_squares import IDENTIFIED, Solution, solve
from recuse.model.prompt_sums import sparse_layouts
from recuse.model.spec import BIASES, Spec, estimand_name

IDENTIFIABILITY = column_names(
    "study spec slice estimand quantity term reason words n n_term cells carried_by against",
    "n_against share_carried share_same_judge share_same_model share_others rank_deficiency",
    "tied_to",
)

FEW = 2  # judges and models up to this number are named


@dataclass(frozen=True)
class CellWords:
    """The cells of a slice, in the order of judge and model."""

    judge: np.ndarray  # (cells,) of str
    model: np.ndarray  # (cells,) of str
    kin: np.ndarray  # (cells,) of bool: the model is the judge or of its family

    @cached_property
    def codes(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the judges and of the models, (cells,) each."""
        return tuple(np.unique(names, return_inverse=True)[1] for names in (self.judge, self.model))

    @cached_property
    def _judges(self) -> tuple[np.ndarray, np.ndarray]:
        """The judges, and the first cell of each; those of one follow one another."""
        return np.unique(self.judge, return_index=True)

    def listed(self, chosen: np.ndarray, *, named: bool) -> str:
        """The cells `chosen`, (cells,) of bool, as in `A: all 9 models but B; the other 8 judges:
        all 9 models`.

        All models are those that the judge rates. If not `named`, judges and models are counted: `8
        judges: 3 of 9 models`.
        """
        judges, first = self._judges
        count = np.add.reduceat(chosen, first, dtype=int).tolist()
        cells = map(slice, first, [*first[1:], len(chosen)])
        phrases = {
            judge: self._models(inside, chosen[inside], number, named)
            for judge, inside, number in zip(judges.tolist(), cells, count, strict=True)
            if number
        }
        sizes = Counter(phrases.values())
        # The largest group comes last, as `the other judges`.
        order = sorted(
            sizes,
            key=lambda phrase: (
                named and sizes[phrase] > FEW and sizes[phrase] == max(sizes.values())
            ),
        )
        parts = []
        for phrase in order:
            names = [judge for judge, words in phrases.items() if words == phrase]
            # All of them, or all others
            rest = len(names) > FEW and len(phrases) == len(judges)
            if rest and len(order) == 1:
                who = f"all {len(names)} judges"
            elif not named:
                who = counted(len(names), "judge")
            else:
                who = (
                    f"the other {len(names)} judges"
                    if rest and phrase == order[-1]
                    else ", ".join(names)
                )
            parts.append(f"{who}: {phrase}")
        return "; ".join(parts)

    def _models(self, inside: slice, selected: np.ndarray, number: int, named: bool) -> str:
        """The models of a judge's cells that are selected, (cells of the judge,) of bool, so many
        of them.
        """
        rated = self.model[inside]
        every = f"all {len(rated)} models"
        if number == len(rated) > FEW:
            return every
        if not named:
            return f"{number} of {len(rated)} models"
        if number > FEW and (selected == ~self.kin[inside]).all():
            return "all models of other families"
        if 0 < len(rated) - number < number:
            return f"{every} but {', '.join(rated[~selected])}"
        return ", ".join(rated[selected])


NEGLIGIBLE = 1e-6  # share of a coefficient's squared weights: below it, a cell does not count


def identifiability(spec: Spec, study: StudyTables) -> Iterator[dict]:
    """Yield the rows of the identifiability table of a least-squares spec: of each coefficient of
    each slice.

    A coefficient is a weighted sum of the ratings, with the weights l = x A e_k of the rows, A =
    (X'X)^-1. The cells that carry it hold the rows of the term; those that identify it `against`
    are the others with a weight. The sum of l^2 is divided between the cells that carry it, others
    of their judges (same judge), others of their models (same model), and all others.
    rank_deficiency: directions of the slice's design without information; tied_to: terms that share
    one with a coefficient. Cells are named for self- and family-biases, and counted for other
    coefficients: see CellWords.
    """
    for label, moments in spec_slices(spec, study):
        where = {"spec": spec.name, "slice": label, "estimand": estimand_name(spec)}
        for absent in absent_terms(spec, moments.factors):
            yield where | absent._asdict()
        if terms := estimable_terms(spec, moments.factors):
            yield from ({**where, **row} for row in _of_design(spec, moments, terms))


def _of_design(spec: Spec, moments: Moments, terms: list[Term]) -> Iterator[dict]:
    layout, factors = design_layout(spec, terms, moments), moments.factors
    solution = solve(moments, layout)
    pairs = np.stack([factors["judge"], factors["model"]], axis=1)
    names, first, cell = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    cells = CellWords(*names.T, kin=(factors["judge_family"] == factors["model_family"])[first])
    # (groups, v - 1, terms)
    weights = np.stack([of @ solution.inverse for of in sparse_layouts(layout)], axis=1)
    squares = np.zeros((len(names), len(terms)))  # sums over the rows of each cell
    sums = moments.regressor_sums @ weights
    np.add.at(squares, cell, np.einsum("gwt,gwt->gt", weights, sums))
    rows = np.bincount(cell, moments.n)
    for place, term in enumerate(terms):
        carried = np.bincount(cell, term.carried) > 0
        row = {
            "quantity": term.quantity,
            "term": term.term,
            "n_term": round(moments.n[term.carried].sum()),
            "n": solution.n,
            "rank_deficiency": solution.null.shape[1],
        }
        named = term.quantity in BIASES
        if solution.identified[place]:
            yield row | _described(cells, carried, squares[:, place], rows, named=named)
        else:
            row |= {"cells": int(carried.sum()), "carried_by": cells.listed(carried, named=named)}
            yield row | _tied(terms, solution, place)


def _tied(terms: list[Term], solution: Solution, place: int) -> dict:
    """The reason of a term in directions without information, and the other terms in them.

    Its fact `to`: quantity -> the terms that are tied, none where all of the quantity are. tied_to:
    the same in words.
    """
    shared = np.abs(solution.null @ solution.null[place]) > IDENTIFIED
    shared[place] = False
    to, names = {}, []
    for quantity in dict.fromkeys(term.quantity for term in terms):
        others = [
            number
            for number, term in enumerate(terms)
            if term.quantity == quantity and number != place
        ]
        tied = [terms[number].term for number in others if shared[number]]
        if not tied:
            continue
        every = len(tied) == len(others) > FEW
        to[quantity] = [] if every else tied
        other = "other " if terms[place].quantity == quantity else ""
        names += (
            [f"every {other}{quantity}"] if every else [f"{quantity} of {name}" for name in tied]
        )
    return {"tied_to": "; ".join(names), "reason": because(Reason.TIED, to=to)}


def _described(
    cells: CellWords, carried: np.ndarray, squares: np.ndarray, rows: np.ndarray, *, named: bool
) -> dict:
    """Columns of a coefficient that some cells carry; squares: of the weights, rows: of ratings,
    (cells,) each.
    """
    against = ~carried & (squares > NEGLIGIBLE * squares.sum())
    of_judges, of_models = (np.isin(codes, codes[carried]) for codes in cells.codes)
    same_judge, same_model = against & of_judges, against & ~of_judges & of_models
    kinds = {
        "same judge": same_judge,
        "same model": same_model,
        "others": against & ~same_judge & ~same_model,
    }
    shares = {
        name: float(squares[kind].sum() / squares.sum())
        for name, kind in {"carried": carried, **kinds}.items()
    }
    counts = ", ".join(
        f"{kind.sum()} {'' if name == 'others' else 'of the '}{name}"
        for name, kind in kinds.items()
    )
    words = f"{counted(carried.sum(), 'cell')} {f'against {counts}' if against.any() else 'alone'}"
    row = {
        "cells": int(carried.sum()),
        "carried_by": cells.listed(carried, named=named),
        "against": cells.listed(against, named=named),
        "n_against": round(rows[against].sum()),
        "words": words,
    }
    return row | {f"share_{name.replace(' ', '_')}": share for name, share in shares.items()}
