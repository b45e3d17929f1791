"""The prompts and answers of papers through an audit; counts are those that the papers state."""

import json
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from audited import run
from mock_server import Mock
from picked_rows import fields, only, where
from recuse.audit.inputs import read_audit
from recuse.audit.paper_metrics import as_comparisons, write_paper_metrics
from recuse.audit.published import PERTURBED, RELEASED, published_texts
from recuse.base.database import write_parquet
from recuse.base.errors import DataError, FetchError
from recuse.base.tables import read_table
from recuse.collect.table import Collected
from recuse.config.load import load
from recuse.data.verdicts import COMPARISONS
from text_tables import cases

needs_texts = pytest.mark.skipif(
    "RECUSE_MIRROR" not in os.environ, reason="needs the published files"
)


class FirstAnswer(Mock):
    """Always prefers the first answer, in the words of Chen et al."""

    def place(self, text):
        """The place of the answer that is chosen, 1 or 2."""
        return 1

    def completion(self, body):
        reply = super().completion(body)
        place = self.place(body["messages"][-1]["content"])
        reply["choices"][0]["message"]["content"] = f"Answer{place}"
        return reply


class ByLength(FirstAnswer):
    """Chooses the longer answer to a third of the questions, the shorter one to another third, and
    the first one to the rest.
    """

    SHOWN = re.compile(
        r"~~~Question\n(.*)\n~~~\n~~~Answer1\n(.*)\n~~~\n~~~Answer2\n(.*)\n~~~", re.S
    )

    def place(self, text):
        return 1 + self.choice(*self.SHOWN.fullmatch(text).groups())

    @staticmethod
    def choice(question, first, second):
        """0 for the first answer, 1 for the second."""
        longer = len(second.split()) - len(first.split())
        third = len(question) % 3
        return 0 if third == 2 or not longer else int((longer > 0) == (third == 0))


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def written_plan(url, **settings):
    settings = {
        "judges": {"voter": {"model": "mock-1", "base_url": url, "mode": "text"}},
        "ask": "verdicts",
        **settings,
    }
    Path("plan.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    return read_audit("plan.yaml", load(None))


@needs_texts
@pytest.mark.parametrize(
    ("name", "prompts", "models", "datasets"),
    [("chen", 142, 2, 6), ("cobbler", 50, 15, 1), ("prd", 80, 5, 9), ("llmbar", 419, 2, 5)],
)
def test_the_texts_of_a_paper_are_all_there(name, prompts, models, datasets):
    texts = published_texts(name, load(None))
    asked, answers = pd.DataFrame(texts.prompts), pd.DataFrame(texts.answers)
    assert (len(asked), asked["dataset"].nunique()) == (prompts, datasets)
    assert answers["model"].value_counts().tolist() == [prompts] * models
    assert {name: len(rows) for name, rows in texts.restated.items()} == (
        dict.fromkeys(PERTURBED, 142) if name == "chen" else {}
    )


@needs_texts
def test_every_text_of_chen_is_shown_as_published():
    plan = written_plan(
        "http://127.0.0.1:9/v1", prompts="chen", treatments=[*PERTURBED], blind=False
    )
    requests = Collected.in_ledger(plan).requests
    assert len(requests) == 142 * 4 * 2 * 2  # perturbations, arms and orders
    # Of two questions both answers are the same, so that their orders are, too.
    assert len({request.key for request in requests}) == 142 * (4 + 1) * 2 - 2
    texts = published_texts("chen", load(None))
    perturbed = {
        (treatment, row["prompt"], row["model"]): row["text"]
        for treatment, rows in texts.restated.items()
        for row in rows
    }
    for request in requests:
        about = request.about
        if about["arm"] != "as it is":
            text = perturbed[about["treatment"], about["prompt"], about["model"]]
            assert text in request.messages[-1]["content"]


# Judgments, and below each what it is in the words of the papers: both names, order and outcome
JUDGMENTS = """
order,first,y,x,,1.0
    order,,,x,y,ba,b
order,second,y,x,,0.5
    order,,,x,y,ab,tie
order,first,x,y,,1.0
    order,,,x,y,ab,a
order,second,x,y,,
    order,,,x,y,ba,error
majority,for,x,y,first,1.0
    bandwagon,majority for,b,y,x,ba,b
majority,against,x,y,second,0.0
    bandwagon,majority against,a,y,x,ab,a
distraction,irrelevant sentence,y,x,second,1.0
    attentional,distraction irrelevant sentence,b,x,y,ab,b
error,as it is,x,y,first,0.0
    control,factual_error,,raw,perturbed,ba,a
error,with an error,x,y,second,1.0
    factual_error,factual_error,,raw,perturbed,ab,b
authority,invented reference,y,x,first,1.0
    reference,reference,,raw,perturbed,ba,b
rich_content,rich content,x,y,second,0.5
    rich_content,rich_content,,raw,perturbed,ab,tie
gender,perturbed,x,y,first,
    gender,gender,,raw,perturbed,ba,error
"""


def comparisons(judgment):
    """What an observation of an audit, a line as in JUDGMENTS, is in the words of the papers."""
    *named, value = judgment.split(",")
    about = dict(zip(("treatment", "arm", "model", "other", "order"), named, strict=True))
    about |= {"judge": "j", "prompt": "p", "replicate": "2", "wording": "plain"}
    return [*as_comparisons([about | {"value": float(value) if value else None}])]


@pytest.mark.parametrize(("judgment", "expected"), cases(JUDGMENTS))
def test_a_judgment_is_a_comparison_in_the_words_of_the_papers(judgment, expected):
    (row,) = comparisons(judgment)
    names = ("condition", "experiment", "favoured", "model_a", "model_b", "order", "outcome")
    assert ",".join(row.get(name) or "" for name in names) == expected
    assert fields(row, "judge item vote wording") == ("j", "p", "2", "plain")


@pytest.mark.parametrize("judgment", ["majority,none,x,y,first,1.0", "length,longer,x,y,first,1.0"])
def test_judgments_that_no_paper_counts_are_left_out(judgment):
    assert comparisons(judgment) == []


def asked(prompts, treatments, **settings):
    """Observations of a judge that always prefers the first answer, about some of these prompts."""
    with FirstAnswer() as mock:
        settings |= {"prompts": prompts, "treatments": treatments}
        return run(written_plan(mock.url, wordings=["chen_answer_alone"], **settings))


@needs_texts
def test_attack_success_rates_of_a_judge_that_prefers_the_first_answer():
    """In both orders, it is undecided before and after: a shift if the answer is worse since."""
    rows = asked("chen", [*PERTURBED], replicates=3, design={"prompts": 12})
    assert len(rows) == 12 * 4 * 2 * 6
    rates = read_table("results/audits/plan/attack_rates.csv")
    names = "condition shifted n votes errors"
    assert {fields(row, names) for row in rates if not row["source"]} == {
        ("factual_error", "12", "12", "144", "0"),
        ("fake_reference", "0", "12", "144", "0"),
        ("rich_content", "0", "12", "144", "0"),
        ("gender", "0", "12", "144", "0"),
    }
    assert len([row for row in rates if row["source"]]) == 24


@needs_texts
def test_shares_of_cobblers_biases_of_a_judge_that_prefers_the_first_answer():
    treatments = ["order", "majority", "distraction"]
    asked("cobbler", treatments, against="gpt4", design={"prompts": 2})
    rows = read_table("results/audits/plan/cognitive_biases.csv")
    names = "experiment bias biased n"
    assert {fields(row, names) for row in rows if not row["source"]} == {
        ("", "order_first", "28", "28"),
        ("", "order_last", "0", "28"),
        ("majority for", "bandwagon", "0", "28"),
        ("majority against", "bandwagon", "0", "28"),
        ("distraction irrelevant sentence", "attentional", "0", "28"),
    }
    assert {row["source"] for row in rows} == {"", "CoBBLEr, released table"}


MODELS_OF_PRD = {"bard": "Bard", "claude": "Claude", "gpt35": "GPT-3.5", "gpt4": "GPT-4"}
MODELS_OF_PRD["vicuna-13b"] = "Vicuna-13B"


def prd_labels():
    """The answers that people prefer, by question and pair of models: the sign of all their
    votes.
    """
    votes = Counter()
    for path in Path(os.environ["RECUSE_MIRROR"]).glob(
        "bcdnlp/PRD/*/data/vicuna80/ratings-human/*"
    ):
        names = re.match(r"answer_(.+)-vs-answer_(.+)-human", path.name).groups()
        if {*names} <= {*MODELS_OF_PRD}:
            first, second = (MODELS_OF_PRD[name] for name in names)
            of_first = {1: 1, 2: -1, 3: 0} if first < second else {1: -1, 2: 1, 3: 0}
            for vote in map(json.loads, path.read_text("utf-8").splitlines()):
                pair = sorted((first, second))
                votes[str(vote["question_id"]), *pair] += of_first[vote["score"]]
    return {key: "tie" if not sign else key[1 if sign > 0 else 2] for key, sign in votes.items()}


def llmbar_labels():
    """The better output by instruction and pair."""
    labels = {}
    for path in Path(os.environ["RECUSE_MIRROR"]).glob("**/LLMBar/**/dataset.json"):
        for number, entry in enumerate(json.loads(path.read_text("utf-8")), start=1):
            better = f"output {entry['label']}"
            labels[f"{path.parent.name}/{number}", "output 1", "output 2"] = better
    return labels


def choices(name, labels, prompts):
    """Choices of ByLength between published answers, in both orders, beside published labels."""
    texts = published_texts(name, load(None))
    asked = {row["prompt"]: row for row in texts.prompts if row["prompt"] in prompts}
    answers = {(row["prompt"], row["model"]): row["text"] for row in texts.answers}
    for (prompt, *pair), label in labels.items():
        if prompt in asked:
            question, shown = asked[prompt]["text"], [answers[prompt, model] for model in pair]
            words = [len(text.split()) for text in shown]
            yield {
                "condition": asked[prompt]["dataset"] if "/" in prompt else "",
                "label": label,
                "ab": pair[ByLength.choice(question, *shown)],
                "ba": pair[1 - ByLength.choice(question, *shown[::-1])],
                "longer": "" if words[0] == words[1] else pair[words[1] > words[0]],
            }


@needs_texts
@pytest.mark.parametrize(
    ("name", "prompts", "labels", "conditions", "judges"),
    [("prd", 2, prd_labels, 1, 5), ("llmbar", 40, llmbar_labels, 5, 6)],
)
def test_metrics_of_verdicts_are_those_of_a_count_by_hand(
    name, prompts, labels, conditions, judges
):
    """LLMBar has conditions; PRD has five models, and pairs between which people are undecided."""
    with ByLength() as mock:
        plan = written_plan(
            mock.url,
            prompts=name,
            treatments=["order"],
            wordings=["chen_answer_alone"],
            blind=False,
            design={"prompts": prompts},
        )
        asked = {row["prompt"] for row in run(plan)}
    if name == "prd":
        assert_released_verdicts_of_prd_have_the_values_that_the_papers_print()
    chosen = pd.DataFrame(choices(name, labels(), asked))
    assert chosen["label"].eq("tie").any() == (name == "prd")
    assert chosen["condition"].nunique() == conditions
    own = {}
    for table in ("agreement", "position", "verbosity"):
        rows = read_table(f"results/audits/plan/{table}.csv")
        released = where(rows, source="released verdicts")
        assert len({row["judge"] for row in released}) == judges
        own[table] = where(rows, judge="voter", source="")
        assert {row["condition"] for row in own[table]} == {*chosen["condition"]}
    for condition, pairs in chosen.groupby("condition"):
        agreement = only(own["agreement"], condition=condition, order="pooled")
        agree = pairs[["ab", "ba"]].eq(pairs["label"], axis=0).to_numpy()
        assert fields(agreement, "agree n") == (str(agree.sum()), str(agree.size))
        consistency = only(own["position"], condition=condition, statistic="consistency")
        same = pairs["ab"] == pairs["ba"]
        assert float(consistency["value"]) == same.mean()
        of_draws = {"order": "debiased", "draws": "excluded"}
        verbosity = only(own["verbosity"], condition=condition, **of_draws)
        decided = pairs[same & (pairs["label"] != "tie") & (pairs["longer"] != "")]
        wrong = decided["ab"] != decided["label"]
        is_longer = decided["label"] == decided["longer"]
        shorter, longer = wrong[~is_longer], wrong[is_longer]
        expected = (*map(str, (shorter.sum(), shorter.size, longer.sum(), longer.size)),)
        assert fields(verbosity, "wrong_shorter n_shorter wrong_longer n_longer") == expected
        if shorter.size and longer.size:
            expected = pytest.approx(shorter.mean() - longer.mean(), abs=1e-12)
            assert float(verbosity["verbosity_bias"]) == expected


def assert_released_verdicts_of_prd_have_the_values_that_the_papers_print():
    rows = read_table("results/audits/plan/agreement.csv")
    pooled = {row["judge"]: row["value"] for row in rows if row["order"] == "pooled"}
    printed = {"GPT-4": "0.6425", "GPT-3.5": "0.620625", "Claude": "0.606875"}
    assert printed.items() <= pooled.items()
    rows = read_table("results/audits/plan/verbosity.csv")
    saito = {row["judge"]: row["verbosity_bias"] for row in rows if "Saito" in row["source"]}
    assert saito == {"GPT-4": "0.328", "GPT-3.5": "0.428"}


def test_a_pair_without_a_label_is_an_error(tmp_path):
    labels = {name: np.array([""], object) for name in COMPARISONS} | {
        "item": np.array(["Natural/1"], object),
        "model_a": np.array(["output 1"], object),
        "model_b": np.array(["output 2"], object),
    }
    (tmp_path / "texts").mkdir()
    write_parquet(labels, str(tmp_path / "texts" / RELEASED))
    asked = {"judge": "ours", "treatment": "order", "arm": "first", "order": "", "value": 1.0}
    asked |= {"model": "output 2", "other": "output 1", "replicate": "1", "wording": "plain"}
    rows = [{**asked, "prompt": prompt} for prompt in ("Natural/1", "Natural/2")]
    with pytest.raises(DataError, match=r"no label for prompt Natural/2, output 1 and output 2"):
        write_paper_metrics(tmp_path, rows, confidence=0.9, seed=1)


def test_a_paper_that_cannot_be_fetched_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("RECUSE_MIRROR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("RECUSE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(FetchError, match=r"raw\.json"):
        written_plan("http://127.0.0.1:9/v1", prompts="chen", treatments=["order"])
