"""Findings on human scores, names and scales, and advice that fits the case."""

import random
import sys

import pytest
import yaml

from conftest import CONFIG
from rated_tables import FIVE, by_subject, findings_from, rated
from recuse.check.facts import FINE, NOTE, STOP, WARNING
from recuse.check.page import check_page
from recuse.check.support import judge_power
from recuse.data import registry

SONNET, GPT35, GPT4, LLAMA, MISTRAL = FIVE


def unscored(rows, lost):
    return [row | {"gt": ""} if lost(row) else row for row in rows]


def spelt(rows, rename, *, who=("judge", "model")):
    """Rows with other names in some of the columns: rename(name, row) -> name."""
    return [row | {each: rename(row[each], row) for each in who} for row in rows]


def models_with(**families):
    return CONFIG["models"] | {
        name.replace("_", "-"): {"family": family} for name, family in families.items()
    }


def test_a_rating_without_a_human_score_is_not_missing(check):
    """30 % of the answers of a judge lack a human score, 5 of its other ratings are missing: each
    is reported as what it is.
    """
    rows = unscored(rated(), lambda row: row["model"] == GPT4 and int(row["prompt_id"][1:]) < 12)
    for row in [row for row in rows if row["judge"] == GPT4 and row["model"] == LLAMA][:5]:
        row["rating"] = ""
    findings = check(rows)
    assert findings["own ratings missing", GPT4].value == pytest.approx(-5 / 160)
    assert {findings["own ratings missing", judge].level for judge in FIVE} == {FINE}
    assert findings["missing", f"judge {GPT4}"].value == pytest.approx(5 / 200)
    assert findings["missing", f"model {GPT4}"].value == 0
    assert findings["missing", ""].words == "0.5 % of the ratings are missing (5 without a rating)"
    finding = findings["no human score", f"model {GPT4}"]
    assert (finding.value, finding.level) == (0.3, WARNING)
    assert (
        finding.words
        == f"30 % of the rated answers of {GPT4} have no human score, 0 % of the others"
    )
    assert "judges need not be asked again" in finding.advice
    assert {findings["no human score", f"model {name}"].level for name in FIVE if name != GPT4} == {
        FINE
    }
    assert (findings["no human score", ""].value, findings["no human score", ""].level) == (
        pytest.approx(0.06),
        NOTE,
    )
    page = check_page("mine", list(findings.values()))
    assert next(line for line in page.splitlines() if line.startswith(GPT4)).split()[2] == "2.5%"


def test_few_answers_without_a_human_score_may_be_chance(check):
    rows = unscored(rated(), lambda row: row["model"] == GPT4 and row["prompt_id"] in ("p0", "p1"))
    finding = check(rows)["no human score", f"model {GPT4}"]
    assert (finding.value, finding.level) == (0.05, FINE)


def test_what_has_no_complete_row_is_named(check):
    rows = unscored(rated(), lambda row: row["model"] == LLAMA)
    rows = [row | {"rating": ""} if row["judge"] == MISTRAL else row for row in rows]
    findings = check(rows)
    finding = findings["left out", f"judge {MISTRAL}"]
    assert finding.words == (
        f"the judge '{MISTRAL}' is left out: none of its 200 rows has a rating"
    )
    assert "parsed" in finding.advice
    unrated = findings["no human score", f"model {LLAMA}"]
    assert finding.level == unrated.level == WARNING
    assert "have people score them" in unrated.advice
    assert ("left out", f"model {LLAMA}") not in findings  # as it counts for B and C


def few_prompts(who):
    """Rows in which Llama judges, or answers, 10 of 40 prompts."""
    return [row for row in ROWS if row[who] != LLAMA or int(row["prompt_id"][1:]) < 10]


ROWS = rated()
PARTLY_MEASURED = [row | {"pred_length": ""} if n < 250 else row for n, row in enumerate(ROWS)]
SAME = ("数据", "数\u2060据")
NAMED_ALIKE = rated(models=(*FIVE, *SAME))
FAMILIES_ALIKE = {"models": CONFIG["models"] | {name: {"family": name} for name in SAME}}
IN_FAMILIES = {"GPT": [GPT4, "GPT 3.5 Turbo"], "Claude": [SONNET]}
# The rows, further settings, topic and subject; the value, the level, words, advice
FINDINGS = {
    "lengths of three quarters": (
        PARTLY_MEASURED,
        {},
        ("lengths", ""),
        0.75,
        WARNING,
        "75 % of the rows have the length of the completion: fits with length use these alone, all"
        " other fits every row",
        "",
    ),
    "lengths are not ratings": (PARTLY_MEASURED, {}, ("missing", ""), 0, FINE, "", ""),
    "a name in families that no rating has": (
        ROWS,
        {"of_config": {"imports": {"files": "a.csv"}, "named": IN_FAMILIES}},
        ("spelling", "families GPT 3.5 Turbo"),
        None,
        WARNING,
        "names 'GPT 3.5 Turbo', which is neither a judge nor a model in these ratings; did you mean"
        " 'GPT-3.5",
        "",
    ),
    "names that look the same, each with all prompts": (
        NAMED_ALIKE,
        FAMILIES_ALIKE,
        ("spelling", f"model {SAME[1]}, {SAME[0]}"),
        None,
        WARNING,
        f"the names '{SAME[1]}' and '{SAME[0]}' look the same: U+2060 in one is nothing in the other",
        "",
    ),
    "no answer is missing for a name that looks the same": (
        NAMED_ALIKE,
        FAMILIES_ALIKE,
        ("missing", f"model {SAME[0]}"),
        0,
        FINE,
        "",
        "",
    ),
    "answers that no judge has": (
        few_prompts("model"),
        {},
        ("missing", f"model {LLAMA}"),
        0.75,
        WARNING,
        "",
        "no judge has a row of these answers",
    ),
    "answers that one judge lacks": (
        few_prompts("judge"),
        {},
        ("missing", f"judge {LLAMA}"),
        0.75,
        WARNING,
        "",
        "ask the judges again",
    ),
    "another spelling of a judge": (
        rated(("openai/gpt-4o-2024-08-06", SONNET), (GPT4, SONNET)),
        {"models": models_with(GPT_4o="GPT") | {"openai/gpt-4o-2024-08-06": {"family": "GPT"}}},
        ("spelling", "openai/gpt-4o-2024-08-06"),
        None,
        WARNING,
        "the judge 'openai/gpt-4o-2024-08-06' may be another spelling of the model 'GPT-4o'",
        'ids: ["openai/gpt-4o-2024-08-06"]',
    ),
    "all ratings alike": (
        rated(rating=lambda *given: 5),
        {},
        ("verdict", "supports"),
        0,
        STOP,
        "",
        "parsed",
    ),
    "pairs that are not rated by design": (
        [row for row in ROWS if (row["judge"], row["model"]) != (GPT4, LLAMA)],
        {},
        ("missing", ""),
        0,
        FINE,
        "0 % of the ratings are missing",
        "",
    ),
    "human scores of one value": (
        rated(score=lambda model: 3),
        {},
        ("human scores", "Tone"),
        1,
        WARNING,
        "all human scores of Tone are 3: they do not distinguish answers",
        "",
    ),
    "human scores of five values": (
        ROWS,
        {},
        ("human scores", "Tone"),
        5,
        FINE,
        "the human scores of Tone take 5 values from 1 to 5",
        "",
    ),
    "a scale that is too wide": (
        ROWS,
        {"scale": (1, 10)},
        ("range", "Tone"),
        0,
        WARNING,
        "no rating and no human score of Tone is above 5 of its scale from 1 to 10",
        "",
    ),
    "a scale that begins too low": (
        ROWS,
        {"scale": (-5, 5)},
        ("range", "Tone"),
        0,
        NOTE,
        "no rating and no human score of Tone is below 1 of its scale from -5 to 5",
        "",
    ),
    "the scale in use": (
        ROWS,
        {},
        ("range", "Tone"),
        0,
        FINE,
        "Tone, a scale from 1 to 5 (0.1 of it is 0.4): ratings from 1 to 5 and human scores from 1 to 5",
        "",
    ),
    "human scores on another scale": (
        [row | {"gt": row["gt"] / 5} for row in ROWS],
        {"scale": (0, 5)},
        ("range", "Tone"),
        0.8,
        WARNING,
        "human scores from 0.2 to 1: are the human scores on another scale?",
        "",
    ),
    "human scores in the middle": (
        [row | {"gt": (row["gt"] + 3) / 2} for row in ROWS],
        {"scale": (0, 5)},
        ("range", "Tone"),
        0.2,
        FINE,
        "Tone, a scale from 0 to 5 (0.1 of it is 0.5): ratings from 1 to 5 and human scores from 2 to 4",
        "",
    ),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_a_finding(check, case):
    """A finding on spelling is the only one of its topic."""
    rows, settings, place, value, level, words, advice = FINDINGS[case]
    findings = check(rows, **settings)
    finding = findings[place]
    if place[0] == "spelling":
        assert [each for each in findings if each[0] == "spelling"] == [place]
    assert (finding.value, finding.level) == (pytest.approx(value), level)
    assert words in finding.words
    assert advice in finding.advice


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
    assert topic not in {topic for topic, _ in check(rows, models=models_with(**names))}


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
    finding = check(rows)["wordings", ""]
    assert (finding.level, finding.value) == (level, number)
    assert f"asked in {number} wordings" in finding.words
    assert f"{number - 1} degree" in finding.words
    assert f"{wider} times as wide as with many wordings" in finding.words
    advice = (
        "ask in 4 wordings or more (1.4 times as wide), or in one; the verdicts then apply to that"
        " wording alone"
    )
    assert finding.advice == (advice if level == WARNING else "")


def test_judges_and_models_of_one_family(check):
    models = {name: {"family": "GPT"} for name in FIVE}
    findings = check(rated(), models=models)
    stop = findings["verdict", "supports"]
    assert stop.level == STOP
    assert stop.advice.startswith("add judges or models of another family")
    for letter in "ABC":
        finding = findings["estimable", f"{letter}: self-bias of {GPT4}"]
        assert finding.words.endswith(
            "all judges and models are of one family, so there is nothing to compare with"
        )
        assert finding.advice == stop.advice


def test_one_judge_needs_another(check):
    findings = check(rated((GPT4,)))
    supported = "supports: self-bias of 1 of 1 judge (A); family-bias of 1 of 1 family (A)"
    assert supported in findings["verdict", "supports"].words
    for letter in "BC":
        finding = findings["estimable", f"{letter}: self-bias of {GPT4}"]
        assert finding.words.endswith(
            "its preferences cannot be separated from how good the models are"
        )
        assert finding.advice.startswith("add a second judge")
    assert findings["names", ""].words == "1 of 1 judge is also rated as a model"


def test_no_detectable_size_for_what_cannot_be_estimated(check):
    findings = check([row for row in rated() if row["judge"] != row["model"]])
    assert findings["verdict", "supports"].words.startswith("supports: family-bias of 1 of 4")
    assert "finding a self-bias" not in findings["verdict", "does not support"].words
    assert [subject for topic, subject in findings if topic == "detectable"] == [""]
    assert "judges that rate their own answers" in findings["detectable", ""].words


def test_advice_on_single_raters_names_the_right_key(check):
    assert "`raters:`" in check(rated())["reliability", "Tone"].advice
    advice = check(rated(), of_config={"imports": {"files": "a.csv"}})["reliability", "Tone"].advice
    assert "`raters:`" not in advice
    assert "`references: {columns: {rating: [first, second]}}`" in advice


def test_a_model_spelt_in_two_ways(check):
    """A tenth of a model's answers have another spelling, without human scores: the advice corrects
    it.
    """

    def rename(name, row):
        return (
            "gpt-4O "
            if name == GPT4 and row["model"] == GPT4 and row["prompt_id"].endswith("1")
            else name
        )

    rows = unscored(spelt(rated(), rename, who=("model",)), lambda row: row["model"] == "gpt-4O ")
    models = CONFIG["models"] | {"gpt-4O ": {"family": "gpt-4O "}}
    findings = check(
        rows, models=models, of_config={"imports": {"files": "a.csv"}, "named": {"GPT": [GPT4]}}
    )
    finding = findings["spelling", "model gpt-4O "]
    assert finding.level == WARNING
    assert (
        finding.words
        == f"the models 'gpt-4O ' (20 rows) and '{GPT4}' (180 rows) may be two spellings of one"
    )
    assert findings["no human score", "model gpt-4O "].value == 1
    assert findings["own ratings missing", GPT4].value == findings["missing", ""].value == 0
    families = yaml.safe_load(finding.advice.split("`")[1])["families"]
    assert families == {"GPT": {GPT4: ["gpt-4O "]}}
    corrected = check(
        rows, models=CONFIG["models"] | registry.models_with(families, CONFIG["models"])
    )
    assert not [subject for topic, subject in corrected if topic in ("spelling", "left out")]
    assert corrected["contents", "models"].value == 5


def test_a_judge_at_the_end_of_the_scale(check):
    """Half of its ratings at the highest level is a warning: that much of an upward bias cannot
    show.
    """
    drawn = random.Random(2)
    shares = {GPT4: 0.6, SONNET: 0.4, LLAMA: 0.1}

    def rating(judge, *_):
        return 5 if drawn.random() < shares.get(judge, 0) else drawn.randint(1, 4)

    findings = check(rated(rating=rating))
    assert [findings["ceiling", judge].level for judge in shares] == [WARNING, NOTE, FINE]


def renamed(one, other, who):
    """Rows of which half those of GPT-4o, as judge or model, have one name and half another."""
    return spelt(
        rated(),
        lambda name, row: (one if row["prompt_id"] < "p2" else other) if name == GPT4 else name,
        who=who,
    )


@pytest.mark.parametrize(
    ("who", "one", "other", "differs", "instead"),
    [
        ("judge", "Caf\u00e9", "Cafe\u0301", "U+00E9", "U+0065 U+0301"),
        ("model", "GPT-4o", "GPT-4o\u200b", "nothing", "U+200B"),
        ("judge model", "数据", "数\u2060据", "nothing", "U+2060"),
        ("judge model", "Llama 3", "Llama\u00a03", "U+0020", "U+00A0"),
    ],
)
def test_names_that_look_the_same_are_reported_with_how_they_differ(
    check, who, one, other, differs, instead
):
    models = CONFIG["models"] | {name: {"family": "GPT"} for name in (one, other)}
    findings = check(renamed(one, other, who.split()), models=models)
    words = [finding.words for (topic, _), finding in findings.items() if topic == "spelling"]
    assert len(words) == len(who.split())
    ways = (f"{differs} in one is {instead} in", f"{instead} in one is {differs} in")
    assert all(sentence.endswith(tuple(f"{way} the other" for way in ways)) for sentence in words)


def test_a_name_that_is_not_what_it_looks_like_is_reported(check):
    names = {SONNET: "evil\u202e004", GPT35: "\x1b[31mred\x07"}
    models = CONFIG["models"] | {name: {"family": "F"} for name in names.values()}
    findings = check(spelt(rated(), lambda name, row: names.get(name, name)), models=models)
    words = findings["names", "judge evil\u202e004"].words
    assert words == "the judge 'evil\u202e004' has U+202E, which is invisible"
    assert findings["names", "judge \x1b[31mred\x07"].words.endswith(
        "has U+001B and U+0007, which are invisible"
    )
    page = check_page("mine", list(findings.values()))
    assert "evil⟨U+202E⟩004" in page
    assert not [letter for letter in page if not letter.isprintable() and letter != "\n"]


def test_a_size_beyond_the_scale_is_not_promised(tmp_path, monkeypatch):
    """Nothing like "2.138 (2.14 points) would be found" on a scale of width 1."""

    def far(*args, **settings):
        return [row | {"detectable": 2.138} for row in judge_power(*args, **settings)]

    monkeypatch.setattr(sys.modules["recuse.check.check"], "judge_power", far)
    findings = by_subject(findings_from(tmp_path, rated())[0])
    assert "finding a self-bias of any size (A, C)" in findings["verdict", "does not support"].words
    words = findings["detectable", f"C {GPT4}"].words
    assert words.startswith(f"C: not even a self-bias of {GPT4} of the whole scale would be found")
    assert not [one for one in findings.values() if "2.138" in one.words]


def test_a_dimension_that_is_a_number_does_not_read_like_one_of_a_list(check):
    findings = check(rated(dimensions=("1",)))
    words = [one.words for one in findings.values()]
    assert findings["prompts", "1"].words == "dimension 1 has 40 prompts"
    assert not [
        each for each in words if each.startswith(("1:", "1, ", "1 has")) or "scores of 1 " in each
    ]
