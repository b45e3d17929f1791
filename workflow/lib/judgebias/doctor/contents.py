"""What is in the ratings: how many of everything, which judges are models, what families there are, lengths."""

from collections.abc import Iterator

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import CONTENTS, FAMILIES, FINE, LENGTHS, NAMES, NOTE, Finding, counted, listed, percent


def contents(facts: Facts) -> Iterator[Finding]:
    """Say how many rows, judges, models, dimensions, datasets and prompts there are."""
    present = int((facts.completeness["prompts"] - facts.completeness["absent"]).sum())
    words = f"{counted(facts.rows, 'complete row')} of {present:,}"
    yield Finding(CONTENTS, "rows", words, facts.rows)
    for factor in ("judge", "model", "dimension", "dataset"):
        names = facts.names(factor)
        yield Finding(CONTENTS, f"{factor}s", f"{counted(len(names), factor)}: {listed(names, most=12)}", len(names))
    yield Finding(CONTENTS, "prompts", counted(facts.prompts, "prompt"), facts.prompts)


def names(facts: Facts) -> Iterator[Finding]:
    """Say which judges are models too, and which models have no judge."""
    judges, models = facts.names("judge"), facts.names("model")
    both = [judge for judge in judges if judge in models]
    rated = "is rated as a model, too" if len(judges) == 1 else "are rated as models, too"
    yield Finding(NAMES, "", f"{len(both)} of {counted(len(judges), 'judge')} {rated}", len(both))
    others, alone = ([name for name in those if name not in both] for those in (judges, models))
    if others:
        yield Finding(NAMES, "judges", f"not rated as models: {listed(others, most=12)}", len(others))
    if alone:
        yield Finding(NAMES, "models", f"models that are no judges here: {listed(alone, most=12)}", len(alone))


def families(facts: Facts) -> Iterator[Finding]:
    """Say how many judges and models each family of a judge or a model has."""
    family, judges, models = facts.families(), facts.names("judge"), facts.names("model")
    for name in sorted(set(family.values())):
        of_judges = [judge for judge in judges if family[judge] == name]
        of_models = [model for model in models if family[model] == name]
        pairs = sum(judge != model for judge in of_judges for model in of_models)
        words = f"{name}: {counted(len(of_judges), 'judge')}, {counted(len(of_models), 'model')}"
        words += f"; {counted(pairs, 'pair')} of a judge and a sibling" if of_judges else ""
        yield Finding(FAMILIES, name, words, pairs)


def lengths(facts: Facts) -> Iterator[Finding]:
    """Say whether the ratings have lengths."""
    share = facts.with_length / facts.rows
    if facts.with_length:
        yield Finding(LENGTHS, "", f"{percent(share)} of the rows have the length of the completion", share, FINE)
    else:
        advice = "add a column pred_length (tokens) if longer answers may be favoured for their length"
        yield Finding(LENGTHS, "", "no row has the length of the completion: no control for length", 0.0, NOTE, advice)
