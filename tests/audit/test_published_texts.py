"""The prompts and answers of papers through an audit; counts are those that the papers state."""

import json
import os
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import yaml

from audited import run
from mock_server import Mock, digest
from recuse.audit.inputs import read_audit
from recuse.audit.paper_metrics import write_paper_metrics
from recuse.audit.published import PERTURBED, RELEASED, published_texts
from recuse.base.database import write_parquet
from recuse.base.errors import DataError, FetchError
from recuse.base.tables import read_table
from recuse.collect.table import Collected
from recuse.config.load import load
from recuse.data.verdicts import COMPARISONS

needs_texts = pytest.mark.skipif(
    "RECUSE_MIRROR" not in os.environ, reason="needs the published files"
)
VOTES = ("Answer1", "Tie", "Answer2")
PRINTED = {"error": "factual_error", "authority": "fake_reference"}


class Voter(Mock):
    """Votes in the words of Chen et al.; some say nothing.

    A vote depends on the text and on how many votes on it were given before, whatever else was
    asked meanwhile: requests arrive in any order, and several on one text at once.
    """

    def __init__(self):
        super().__init__()
        self.votes = Counter()  # by text

    def completion(self, body):
        reply = super().completion(body)
        text = body["messages"][-1]["content"]
        self.votes[text] += 1
        luck = random.Random(f"{digest(text)} {self.votes[text]}")
        vote = luck.choice((*VOTES, "Answer1", "None of them"))
        reply["choices"][0]["message"]["content"] = vote
        return reply


class ByLength(Mock):
    """Chooses the longer answer to a third of the questions, the shorter one to another third, and
    the first one to the rest.
    """

    SHOWN = re.compile(
        r"~~~Question\n(.*)\n~~~\n~~~Answer1\n(.*)\n~~~\n~~~Answer2\n(.*)\n~~~", re.S
    )

    def completion(self, body):
        reply = super().completion(body)
        question, *answers = self.SHOWN.fullmatch(body["messages"][-1]["content"]).groups()
        place = ("first", "second").index(self.choice(question, *answers))
        reply["choices"][0]["message"]["content"] = f"Answer{1 + place}"
        return reply

    @staticmethod
    def choice(question, first, second):
        longer = len(first.split()) - len(second.split())
        third = len(question) % 3
        if third == 2 or not longer:
            return "first"
        return "first" if (longer > 0) == (third == 0) else "second"


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
    assert len(texts.prompts) == prompts
    assert len({row["dataset"] for row in texts.prompts}) == datasets
    by_model = Counter(row["model"] for row in texts.answers)
    assert [*by_model.values()] == [prompts] * models
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


@needs_texts
def test_attack_success_rates_are_those_of_a_count_by_hand():
    with Voter() as mock:
        plan = written_plan(
            mock.url,
            prompts="chen",
            treatments=[*PERTURBED],
            wordings=["chen_answer_alone"],
            replicates=3,
            repair=False,
            design={"prompts": 12},
        )
        rows = run(plan)
    assert len(rows) == 12 * 4 * 2 * 6
    assert {row["reason"] for row in rows} == {"", "unreadable"}
    votes = defaultdict(list)
    for row in rows:
        votes[row["treatment"], row["prompt"], row["arm"]].append(row["value"])
    rates = read_table("results/audits/plan/attack_rates.csv")
    for treatment in PERTURBED:
        condition = PRINTED.get(treatment, PERTURBED[treatment])
        (found,) = (
            row for row in rates if (row["judge"], row["condition"]) == ("voter", condition)
        )
        shifted = among = used = lost = 0
        for prompt in {row["prompt"] for row in rows}:
            means = []
            for arms in ({"as it is"}, {row["arm"] for row in rows} - {"as it is"}):
                of_sample = [
                    value for arm in arms for value in votes.get((treatment, prompt, arm), [])
                ]
                numbers = [float(value) for value in of_sample if value]
                lost += len(of_sample) - len(numbers)
                used += len(numbers)
                means.append(sum(numbers) / len(numbers))
            before, after = means
            if treatment == "error":
                among += before >= 0.5
                shifted += before >= 0.5 and after >= 0.5
            else:
                among += before <= 0.5
                shifted += before <= 0.5 and after > 0.5
        counted = (
            int(found["shifted"]),
            int(found["n"]),
            int(found["votes"]),
            int(found["errors"]),
        )
        assert counted == (shifted, among, used, lost)
        assert float(found["asr"]) == shifted / among
    printed = [row for row in rates if row["source"]]
    assert len(printed) == 24


@needs_texts
def test_shares_of_cobblers_biases_are_those_of_a_count_by_hand():
    with Voter() as mock:
        plan = written_plan(
            mock.url,
            prompts="cobbler",
            treatments=["order", "majority", "distraction"],
            wordings=["chen_answer_alone"],
            repair=False,
            against="gpt4",
            design={"prompts": 2},
        )
        rows = run(plan)
    found = {
        (row["experiment"], row["bias"]): (int(row["biased"]), int(row["n"]))
        for row in read_table("results/audits/plan/cognitive_biases.csv")
        if row["judge"] == "voter"
    }
    by_pair = defaultdict(dict)
    for row in rows:
        pair = row["treatment"], row["prompt"], row["model"], row["other"]
        by_pair[pair][row["arm"], row["order"]] = row["value"]
    counts = Counter()
    for (treatment, *_), values in by_pair.items():
        if treatment == "order":
            places = values["first", ""], values["second", ""]
            counts["", "order_first"] += places == ("1.0", "0.0")
            counts["", "order_last"] += places == ("0.0", "1.0")
            continue
        bias = {"majority": "bandwagon", "distraction": "attentional"}[treatment]
        for arm, won in (("for", "1.0"), ("against", "0.0"), ("irrelevant sentence", "1.0")):
            if (arm, "first") in values:
                both = values[arm, "first"], values[arm, "second"]
                counts[f"{treatment} {arm}", bias] += both == (won, won)
    assert found == {key: (number, 2 * 14) for key, number in counts.items()}
    released = read_table("results/audits/plan/cognitive_biases.csv")
    assert {row["source"] for row in released} == {"", "CoBBLEr, released table"}


def prd_labels():
    """The answers that people prefer, by question and pair of models: the sign of all their
    votes.
    """
    models = {"bard": "Bard", "claude": "Claude", "gpt35": "GPT-3.5", "gpt4": "GPT-4"}
    models["vicuna-13b"] = "Vicuna-13B"
    votes = Counter()
    for path in Path(os.environ["RECUSE_MIRROR"]).glob(
        "bcdnlp/PRD/*/data/vicuna80/ratings-human/*"
    ):
        names = re.match(r"answer_(.+)-vs-answer_(.+)-human", path.name).groups()
        if not {*names} <= {*models}:
            continue
        for line in path.read_text("utf-8").splitlines():
            vote = json.loads(line)
            first, second = (models[name] for name in names)
            sign = {1: 1, 2: -1, 3: 0}[vote["score"]]
            votes[str(vote["question_id"]), first, second] += sign
            votes[str(vote["question_id"]), second, first] -= sign
    return {key: "tie" if not sign else key[1 if sign > 0 else 2] for key, sign in votes.items()}


def llmbar_labels():
    """The better output by instruction and pair."""
    labels = {}
    for path in Path(os.environ["RECUSE_MIRROR"]).glob("**/LLMBar/**/dataset.json"):
        for number, entry in enumerate(json.loads(path.read_text("utf-8")), start=1):
            better = f"output {entry['label']}"
            labels[f"{path.parent.name}/{number}", "output 1", "output 2"] = better
    return labels


def counted_by_hand(texts, labels, prompts):
    """What ByLength chooses, condition -> count, with the answers and labels as published."""
    answers = {(row["prompt"], row["model"]): row["text"] for row in texts.answers}
    counts = defaultdict(Counter)
    for prompt in texts.prompts:
        name = prompt["prompt"]
        for (labelled, first, second), label in labels.items():
            if labelled != name or name not in prompts or first > second:
                continue
            models = first, second
            shown = [answers[name, model] for model in models]
            choices = [models[ByLength.choice(prompt["text"], *shown) == "second"]]
            choices.append(models[ByLength.choice(prompt["text"], *shown[::-1]) == "first"])
            count = counts[prompt["dataset"] if "/" in name else ""]
            count["n"] += 2
            count["agree"] += choices.count(label)
            count["consistent"] += choices[0] == choices[1]
            words = [len(text.split()) for text in shown]
            if choices[0] == choices[1] and label != "tie" and words[0] != words[1]:
                longer = models[words[1] > words[0]]
                side = "longer" if label == longer else "shorter"
                count[side] += 1
                count[f"wrong {side}"] += choices[0] != label
    return counts


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
        rows = run(plan)
    if name == "prd":
        assert_released_verdicts_of_prd_have_the_values_that_the_papers_print()
    asked = {row["prompt"] for row in rows}
    known = labels()
    assert ("tie" in {label for (prompt, *_), label in known.items() if prompt in asked}) == (
        name == "prd"
    )
    counts = counted_by_hand(published_texts(name, load(None)), known, asked)
    assert len(counts) == conditions
    tables = {}
    for table in ("agreement", "position", "verbosity"):
        whole = read_table(f"results/audits/plan/{table}.csv")
        released = {row["judge"] for row in whole if row["source"] == "released verdicts"}
        assert len(released) == judges
        own = [row for row in whole if (row["judge"], row["source"]) == ("voter", "")]
        assert {row["condition"] for row in own} == {*counts}
        tables[table] = {
            (row["condition"], row.get("order") or row.get("statistic"), row.get("draws")): row
            for row in own
        }
    for condition, count in counts.items():
        agreement = tables["agreement"][condition, "pooled", None]
        assert (int(agreement["agree"]), int(agreement["n"])) == (count["agree"], count["n"])
        consistency = tables["position"][condition, "consistency", None]
        assert float(consistency["value"]) == count["consistent"] / (count["n"] / 2)
        verbosity = tables["verbosity"][condition, "debiased", "excluded"]
        for side in ("shorter", "longer"):
            found = int(verbosity[f"wrong_{side}"]), int(verbosity[f"n_{side}"])
            assert found == (count[f"wrong {side}"], count[side])
        if count["shorter"] and count["longer"]:
            wrong = (count[f"wrong {side}"] / count[side] for side in ("shorter", "longer"))
            expected = next(wrong) - next(wrong)
            assert float(verbosity["verbosity_bias"]) == pytest.approx(expected, abs=1e-12)


def assert_released_verdicts_of_prd_have_the_values_that_the_papers_print():
    rows = read_table("results/audits/plan/agreement.csv")
    pooled = {row["judge"]: row["value"] for row in rows if row["order"] == "pooled"}
    printed = {"GPT-4": "0.6425", "GPT-3.5": "0.620625", "Claude": "0.606875"}
    assert printed.items() <= pooled.items()
    saito = [
        row for row in read_table("results/audits/plan/verbosity.csv") if "Saito" in row["source"]
    ]
    assert {row["judge"]: row["verbosity_bias"] for row in saito} == {
        "GPT-4": "0.328",
        "GPT-3.5": "0.428",
    }


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
