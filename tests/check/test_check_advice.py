"""Findings on human scores, names and scales, and advice that fits the case."""

import random
import sys
from functools import partial

import pytest
import yaml

from conftest import CONFIG
from rated_tables import (
    FIVE,
    by_subject,
    changed,
    expect,
    findings_from,
    rated,
    rows_where,
    subjects,
)
from recuse.check.facts import FINE, WARNING
from recuse.check.page import check_page
from recuse.check.support import judge_power, wordings
from recuse.data import registry
from text_tables import fields

SONNET, GPT35, GPT4, LLAMA, MISTRAL = FIVE
ROWS = rated()


def models_with(**families):
    return CONFIG["models"] | {
        name.replace("_", "-"): {"family": family} for name, family in families.items()
    }


def test_a_rating_without_a_human_score_is_not_missing(check):
    """30 % of the answers of a judge lack a human score, 5 of its other ratings are missing: each
    is reported as what it is.
    """
    rows = changed("model == 'GPT-4o' and p < 12", ROWS, gt="")
    findings = check(
        changed("judge == 'GPT-4o' and model == 'Llama 3 8B' and p < 5", rows, rating="")
    )
    expect(
        findings,
        """
        own ratings missing | GPT-4o | | -0.03125
        own ratings missing | * | fine
        missing | judge GPT-4o | | 0.025
        missing | model GPT-4o | | 0
        missing | | | | 0.5 % of the ratings are missing (5 without a rating)
        no human score | model GPT-4o | warning | 0.3
            | 30 % of the rated answers of GPT-4o have no human score, 0 % of the others
            | *judges need not be asked again*
        no human score | model Claude 3 Sonnet | fine
        no human score | model GPT-3.5 Turbo | fine
        no human score | model Llama 3 8B | fine
        no human score | model Mistral 7B | fine
        no human score | | note | 0.06
        """,
    )
    page = check_page("mine", list(findings.values()))
    assert next(line for line in page.splitlines() if line.startswith(GPT4)).split()[2] == "2.5%"


def test_what_has_no_complete_row_is_named(check):
    """A model without human scores is not left out, as it counts for B and C."""
    rows = changed("model == 'Llama 3 8B'", ROWS, gt="")
    findings = check(changed("judge == 'Mistral 7B'", rows, rating=""))
    expect(
        findings,
        """
        left out | judge Mistral 7B | warning |
            | the judge 'Mistral 7B' is left out: none of its 200 rows has a rating
            | *parsed*
        no human score | model Llama 3 8B | warning | | | *have people score them*
        """,
    )
    assert ("left out", f"model {LLAMA}") not in findings


PARTLY_MEASURED = [row | {"pred_length": ""} if n < 250 else row for n, row in enumerate(ROWS)]
SAME = ("数据", "数\u2060据")
NAMED_ALIKE = rated(models=(*FIVE, *SAME))
FAMILIES_ALIKE = {"models": CONFIG["models"] | {name: {"family": name} for name in SAME}}
FIVES_FOR_GPT4 = rows_where("judge != 'GPT-4o' or gt == 5", ROWS)
IN_FAMILIES = {"GPT": [GPT4, "GPT 3.5 Turbo"], "Claude": [SONNET]}
# The rows, further settings, and what is found
FINDINGS = {
    "lengths of three quarters, and a name in families that no rating has": (
        PARTLY_MEASURED,
        {"of_config": {"imports": {"files": "a.csv"}, "named": IN_FAMILIES}},
        """
        lengths | | warning | 0.75
            | 75 % of the rows have the length of the completion: fits with length use these alone*
        lengths | | | | *use these alone, all other fits every row*
        missing | | fine | 0
        spelling | families GPT 3.5 Turbo | warning | none
            | *names 'GPT 3.5 Turbo', which is neither a judge nor a model in these ratings; did*
        spelling | * | | | *; did you mean 'GPT-3.5*
        """,
    ),
    "names that look the same, each with all prompts": (
        NAMED_ALIKE,
        FAMILIES_ALIKE,
        f"""
        spelling | model {SAME[1]}, {SAME[0]} | warning | none
            | *the names '{SAME[1]}' and '{SAME[0]}' look the same: U+2060 in one is nothing in*
        spelling | * | | | * in one is nothing in the other*
        missing | model {SAME[0]} | fine | 0
        """,
    ),
    "answers that no judge has, and others that one judge lacks": (
        rows_where("(model != 'Llama 3 8B' and judge != 'Mistral 7B') or p < 10", ROWS),
        {},
        """
        missing | model Llama 3 8B | warning | 0.75 | | *no judge has a row of these answers*
        missing | judge Mistral 7B | warning | 0.75 | | *ask the judges again*
        """,
    ),
    "another spelling of a judge": (
        rated(("openai/gpt-4o-2024-08-06", SONNET), (GPT4, SONNET)),
        {"models": models_with(GPT_4o="GPT") | {"openai/gpt-4o-2024-08-06": {"family": "GPT"}}},
        """
        spelling | openai/gpt-4o-2024-08-06 | warning | none
            | *the judge 'openai/gpt-4o-2024-08-06' may be another spelling of the model 'GPT-4o'*
            | *ids: [[]"openai/gpt-4o-2024-08-06"]*
        """,
    ),
    "all ratings alike": (
        rated(rating=lambda *given: 5),
        {},
        "verdict | supports | stop | 0 | | *parsed*",
    ),
    "pairs that are not rated by design": (
        rows_where("not (judge == 'GPT-4o' and model == 'Llama 3 8B')", ROWS),
        {},
        "missing | | fine | 0 | *0 % of the ratings are missing*",
    ),
    "human scores and ranges": (
        [
            *rated(prompts=10, score=lambda model: 3, dimensions=("Alike",)),
            *rated(prompts=10, dimensions=("Tone", "Wide", "Low")),
            *(row | {"gt": row["gt"] / 5} for row in rated(prompts=10, dimensions=("Fifths",))),
            *(row | {"gt": (row["gt"] + 3) / 2} for row in rated(prompts=10, dimensions=("Mid",))),
        ],
        {"scales": {"Wide": (1, 10), "Low": (-5, 5), "Fifths": (0, 5), "Mid": (0, 5)}},
        """
        human scores | Alike | warning | 1
            | *all human scores of Alike are 3: they do not distinguish answers*
        human scores | Tone | fine | 5 | *the human scores of Tone take 5 values from 1 to 5*
        range | Tone | fine | 0 | *Tone, a scale from 1 to 5 (0.1 of it is 0.4): ratings from 1*
        range | Tone | | | *ratings from 1 to 5 and human scores from 1 to 5*
        range | Wide | warning | 0
            | *no rating and no human score of Wide is above 5 of its scale from 1 to 10*
        range | Low | note | 0
            | *no rating and no human score of Low is below 1 of its scale from -5 to 5*
        range | Fifths | warning | 0.8
            | *human scores from 0.2 to 1: are the human scores on another scale?*
        range | Mid | fine | 0.2 | *Mid, a scale from 0 to 5 (0.1 of it is 0.5): ratings from 1*
        range | Mid | | | *ratings from 1 to 5 and human scores from 2 to 4*
        """,
    ),
    "few answers without a human score, which may be chance": (
        changed("model == 'GPT-4o' and p < 2", ROWS, gt=""),
        {},
        "no human score | model GPT-4o | fine | 0.05",
    ),
    "no human scores: the gap to people is left out once": (
        [row | {"gt": ""} for row in ROWS],
        {},
        """
        verdict | supports | | | supports: self-bias of 5 of 5 judges (B, C); family-bias of *
        verdict | does not support | |
            | *: any gap to the human scale, which is A (no row has a human score); family-bias of *
        verdict | does not support | | | *; family-bias of Claude, Llama 3 and Mistral (B, C)
        """,
    ),
    "human scores that do not vary for a judge, and two wordings": (
        [
            row | {"wording": "plain" if row["prompt_id"] < "p2" else "strict"}
            for row in FIVES_FOR_GPT4
        ],
        {},
        """
        estimable | C: self-bias of GPT-4o | | | *does not vary*
        wordings | | warning | 2 | *3.8 times as wide*
        """,
    ),
    "judges of one prompt each: no cell in which human scores vary is left for C": (
        rows_where("p == j", rated(prompts=5)),
        {},
        "estimable | C: self-bias of * | | 0",
    ),
    "judges and models of one family": (
        ROWS,
        {"models": {name: {"family": "GPT"} for name in FIVE}},
        """
        verdict | supports | stop | | | add judges or models of another family*
        estimable | ?: self-bias of GPT-4o | | | *all judges and models are of one family, so *
        estimable | ?: self-bias of GPT-4o | |
            | *of one family, so there is nothing to compare with
            | add judges or models of another family*
        """,
    ),
    "one judge, which needs another": (
        rated((GPT4,)),
        {},
        """
        verdict | supports | |
            | *supports: self-bias of 1 of 1 judge (A); family-bias of 1 of 1 family (A)*
        estimable | [BC]: self-bias of GPT-4o | |
            | *its preferences cannot be separated from how good the models are
            | add a second judge*
        names | | | | 1 of 1 judge is also rated as a model
        """,
    ),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_a_finding(check, case):
    """A finding on spelling is the only one of its topic."""
    rows, settings, table = FINDINGS[case]
    findings = check(rows, **settings)
    expect(findings, table)
    assert len(subjects(findings, "spelling")) == ("spelling" in table)


@pytest.mark.parametrize(
    ("rows", "names", "topic"),
    [
        # As one, two models that answer all prompts would have two answers to each.
        (
            rated(FIVE, (*FIVE, "Llama-3-8B-Instruct")),
            {"Llama_3_8B_Instruct": "Llama 3"},
            "spelling",
        ),
        ([row | {"wording": "w"} for row in rated(prompts=5)], {}, "wordings"),
    ],
)
def test_what_is_nothing_to_report(check, rows, names, topic):
    assert not subjects(check(rows, models=models_with(**names)), topic)


@pytest.mark.parametrize(
    ("number", "level", "wider"), [(2, WARNING, "3.8"), (3, WARNING, "1.8"), (4, FINE, "1.4")]
)
def test_few_wordings_cost_width_by_the_quantiles_of_t(check, number, level, wider):
    """At 90 %: 6.31, 2.92 and 2.35 of t with 1, 2 and 3 degrees of freedom, and 1.645 of the normal
    distribution.
    """
    rows = [
        row | {"wording": f"w{wording}"} for wording in range(number) for row in rated(prompts=5)
    ]
    findings = check(rows, find=partial(wordings, confidence=0.9))
    expect(
        findings,
        f"""
        wordings | | {level} | {number} | *asked in {number} wordings*
        wordings | | | | *{number - 1} degree*
        wordings | | | | *{wider} times as wide as with many wordings*
        """,
    )
    advice = (
        "ask in 4 wordings or more (1.4 times as wide), or in one; the verdicts then apply to that"
        " wording alone"
    )
    assert findings["wordings", ""].advice == (advice if level == WARNING else "")


def test_no_detectable_size_for_what_cannot_be_estimated(check):
    findings = check(rows_where("judge != model", ROWS))
    expect(
        findings,
        """
        verdict | supports | | | supports: family-bias of 1 of 4*
        detectable | | | | *judges that rate their own answers*
        """,
    )
    assert "finding a self-bias" not in findings["verdict", "does not support"].words
    assert subjects(findings, "detectable") == [""]


def test_advice_on_single_raters_names_the_right_key(check):
    expect(check(ROWS), "reliability | Tone | | | | *`raters:`*")
    findings = check(ROWS, of_config={"imports": {"files": "a.csv"}})
    key = "*`references: {columns: {rating: [[]first, second]}}`*"
    expect(findings, f"reliability | Tone | | | | {key}")
    assert "`raters:`" not in findings["reliability", "Tone"].advice


def test_a_model_spelt_in_two_ways(check):
    """A tenth of a model's answers have another spelling, without human scores: the advice corrects
    it.
    """

    other = {"model": "gpt-4O ", "gt": ""}
    rows = changed("model == 'GPT-4o' and p % 10 == 1", ROWS, **other)
    models = CONFIG["models"] | {"gpt-4O ": {"family": "gpt-4O "}}
    findings = check(
        rows, models=models, of_config={"imports": {"files": "a.csv"}, "named": {"GPT": [GPT4]}}
    )
    expect(
        {(topic, about.strip()): each for (topic, about), each in findings.items()},
        """
        spelling | model gpt-4O | warning |
            | the models 'gpt-4O ' (20 rows) and 'GPT-4o' (180 rows) may be two spellings of one
        no human score | model gpt-4O | | 1
        own ratings missing | GPT-4o | | 0
        missing | | | 0
        """,
    )
    advice = findings["spelling", "model gpt-4O "].advice
    families = yaml.safe_load(advice.split("`")[1])["families"]
    assert families == {"GPT": {GPT4: ["gpt-4O "]}}
    corrected = check(
        rows, models=CONFIG["models"] | registry.models_with(families, CONFIG["models"])
    )
    assert not subjects(corrected, "spelling") + subjects(corrected, "left out")
    expect(corrected, "contents | models | | 5")


def test_a_judge_at_the_end_of_the_scale(check):
    """Half of its ratings at the highest level is a warning: that much of an upward bias cannot
    show.
    """
    drawn = random.Random(2)
    shares = {GPT4: 0.6, SONNET: 0.4, LLAMA: 0.1}

    def rating(judge, *_):
        return 5 if drawn.random() < shares.get(judge, 0) else drawn.randint(1, 4)

    expect(
        check(rated(prompts=20, rating=rating)),
        """
        ceiling | GPT-4o          | warning
        ceiling | Claude 3 Sonnet | note
        ceiling | Llama 3 8B      | fine
        """,
    )


def test_names_that_look_the_same_are_reported_with_how_they_differ(check):
    """In three of four prompts or so, a judge, a model or both have another name."""
    # Who had the name, as what: one name, the other, and how they differ
    alike = fields("""
        GPT-4o     | judge       | Caf\u00e9 | Cafe\u0301    | U+00E9  | U+0065 U+0301
        GPT-4o     | model       | GPT-4o    | GPT-4o\u200b  | nothing | U+200B
        Llama 3 8B | judge model | 数据      | 数\u2060据    | nothing | U+2060
        Mistral 7B | judge model | Llama 3   | Llama\u00a03  | U+0020  | U+00A0
    """)
    rows, models = ROWS, dict(CONFIG["models"])
    for name, who, one, other, *_ in alike:
        models |= {spelling: {"family": "GPT"} for spelling in (one, other)}
        for kind in who.split():
            rows = changed(f"{kind} == '{name}' and prompt_id >= 'p2'", rows, **{kind: other})
            rows = changed(f"{kind} == '{name}'", rows, **{kind: one})
    findings = check(rows, models=models)
    words = [findings["spelling", subject].words for subject in subjects(findings, "spelling")]
    assert len(words) == 6
    for _, who, _, _, differs, instead in alike:
        ways = (f"{differs} in one is {instead} in", f"{instead} in one is {differs} in")
        endings = tuple(f"{way} the other" for way in ways)
        assert sum(sentence.endswith(endings) for sentence in words) == len(who.split())


def test_a_name_that_is_not_what_it_looks_like_is_reported(check):
    names = {SONNET: "evil\u202e004", GPT35: "\x1b[31mred\x07"}
    models = CONFIG["models"] | {name: {"family": "F"} for name in names.values()}
    findings = check(
        [row | {who: names.get(row[who], row[who]) for who in ("judge", "model")} for row in ROWS],
        models=models,
    )
    expect(
        findings,
        """
        names | judge evil\u202e004 | | | the judge 'evil\u202e004' has U+202E, which is invisible
        names | judge \x1b[[]31mred\x07 | | | *has U+001B and U+0007, which are invisible
        """,
    )
    page = check_page("mine", list(findings.values()))
    assert "evil⟨U+202E⟩004" in page
    assert not [letter for letter in page if not letter.isprintable() and letter != "\n"]


def test_a_size_beyond_the_scale_is_not_promised(tmp_path, monkeypatch):
    """Nothing like "2.138 (2.14 points) would be found" on a scale of width 1."""

    def far(*args, **settings):
        return [row | {"detectable": 2.138} for row in judge_power(*args, **settings)]

    monkeypatch.setattr(sys.modules["recuse.check.check"], "judge_power", far)
    findings = by_subject(findings_from(tmp_path, ROWS)[0])
    expect(
        findings,
        """
        verdict | does not support | | | *finding a self-bias of any size (A, C)*
        detectable | C GPT-4o | |
            | C: not even a self-bias of GPT-4o of the whole scale would be found*
        """,
    )
    assert not [one for one in findings.values() if "2.138" in one.words]


def test_a_dimension_that_is_a_number_does_not_read_like_one_of_a_list(check):
    findings = check(rated(dimensions=("1",)))
    words = [one.words for one in findings.values()]
    expect(findings, "prompts | 1 | | | dimension 1 has 40 prompts")
    assert not [
        each for each in words if each.startswith(("1:", "1, ", "1 has")) or "scores of 1 " in each
    ]
