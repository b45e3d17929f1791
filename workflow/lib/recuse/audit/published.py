"""The prompts and answers of papers: fetched and verified like all published files, and written as
tables that a plan reads. Released verdicts, with people's labels, are fetched in the same way.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from recuse.audit.settings import CHEN, COBBLER, LLMBAR, PRD, Audit, OwnTreatment
from recuse.base.database import parse_bytes
from recuse.base.log import steps
from recuse.base.places import WORKFLOW
from recuse.base.products import VERDICTS
from recuse.base.tables import read_table, write_table
from recuse.config.declared.settings import Settings
from recuse.pairwise.table import normalise
from recuse.papers.attacks import ANSWERS
from recuse.papers.cobbler import JUDGES, read_quoted
from recuse.papers.fetch import cache_folder, fetch, mirror_location
from recuse.papers.product import PRODUCT
from recuse.papers.sources import MODELS, SUBSETS, load_json, load_json_lines

MANIFEST = WORKFLOW / "data" / "sources" / "audit.csv"
# Keys of `sources` in the configuration
SOURCES = {CHEN: "judgement_bias", COBBLER: "cobbler", PRD: "prd", LLMBAR: "llmbar"}
# Treatment -> the file with the perturbed answers of Chen et al.
PERTURBED = {
    "error": "factual_error",
    "authority": "reference",
    "rich_content": "rich_content",
    "gender": "gender",
}
ANSWER = ("prompt", "model", "text")
QUOTED_SHARES = "shares.csv"  # has the shares of biases by judge that CoBBLEr released
RELEASED = "released.parquet"  # has the verdicts that PRD or LLMBar released


@dataclass
class PublishedTexts:
    """A paper's prompts (prompt, text, dataset), answers (prompt, model, text), restated answers by
    treatment, and the shares of biases that it released (judge, bias, share).
    """

    prompts: list[dict] = field(default_factory=list)
    answers: list[dict] = field(default_factory=list)
    restated: dict[str, list[dict]] = field(default_factory=dict)
    shares: list[dict] = field(default_factory=list)

    def add(self, prompt: object, text: str, answers: Mapping[str, str], dataset: str) -> None:
        """Add a prompt and its answers, model -> text."""
        prompt = str(prompt)
        self.prompts.append({"prompt": prompt, "text": text, "dataset": dataset})
        self.answers += [
            {"prompt": prompt, "model": model, "text": answer} for model, answer in answers.items()
        ]


def chen_texts(folder: Path) -> PublishedTexts:
    """The 142 questions of Chen et al. with two answers each and, for each perturbation, the answer
    that differs from the raw one.
    """
    texts = PublishedTexts()
    raw = {}
    for entry in load_json_lines(f"{folder}/data/raw.json"):
        answers = {name: entry["answers"][name]["answer"] for name in ANSWERS}
        raw[entry["question_id"]] = answers
        texts.add(entry["question_id"], entry["question"], answers, entry["level"])
    for treatment, file in PERTURBED.items():
        texts.restated[treatment] = rows = []
        for entry in load_json_lines(f"{folder}/data/{file}.json"):
            prompt = entry["question_id"].removesuffix(f"-{file}")
            for name in ANSWERS:
                text = entry["answers"][name]["answer"]
                if text != raw[prompt][name]:
                    rows.append({"prompt": prompt, "model": name, "text": text})
    return texts


def cobbler_texts(folder: Path) -> PublishedTexts:
    """The 50 instructions of CoBBLEr with the answers of 15 models, and the released shares."""
    texts = PublishedTexts()
    root = f"{folder}/competitive-llms"
    answers = load_json(f"{root}/n15_responses/full_n15_model_generations.json")
    for number, entry in enumerate(load_json(f"{root}/datasets/llm_preference_evalset.json")):
        by_model = {model: listed[number] for model, listed in answers.items()}
        texts.add(number + 1, entry["instruction"], by_model, "CoBBLEr")
    for row in read_quoted(str(folder)):
        texts.shares.append(
            {
                "judge": JUDGES.get(row["judge"], row["judge"]),
                "bias": row["bias"],
                "share": row["share"],
                "valid": row["valid"],
                "source": "CoBBLEr, released table",
            }
        )
    return texts


def prd_texts(folder: Path) -> PublishedTexts:
    """The 80 questions of Vicuna with the answers of the five models of PRD."""
    texts = PublishedTexts()
    root = f"{folder}/data/vicuna80"
    answers: dict[int, dict[str, str]] = {}
    for name, model in MODELS.items():
        for entry in load_json_lines(f"{root}/generations/answer_{name}.jsonl"):
            answers.setdefault(entry["question_id"], {})[model] = entry["text"]
    for entry in load_json_lines(f"{root}/prompts/vicuna_questions.jsonl"):
        number = entry["question_id"]
        texts.add(number, entry["text"], answers[number], entry["category"])
    return texts


def llmbar_texts(folder: Path) -> PublishedTexts:
    """The 419 instructions of LLMBar with two outputs each, called as in its verdicts."""
    texts = PublishedTexts()
    for subset in SUBSETS:
        part = subset if subset == "Natural" else f"Adversarial/{subset}"
        entries = load_json(f"{folder}/Dataset/LLMBar/{part}/dataset.json")
        for number, entry in enumerate(entries, start=1):
            outputs = {"output 1": entry["output_1"], "output 2": entry["output_2"]}
            texts.add(f"{subset}/{number}", entry["input"], outputs, subset)
    return texts


READERS: Mapping[str, Callable[[Path], PublishedTexts]] = {
    CHEN: chen_texts,
    COBBLER: cobbler_texts,
    PRD: prd_texts,
    LLMBAR: llmbar_texts,
}


def published_texts(name: str, settings: Settings, released: Path | None = None) -> PublishedTexts:
    """Fetch and read the texts of a paper, a key of READERS; FetchError if that fails.

    settings: the project's, for the repositories and the mirror. released: where to write the
    paper's verdicts, canonical comparisons (parquet), if it released any.
    """
    source = settings.sources[SOURCES[name]]
    files = [row for row in read_table(MANIFEST) if row["prompts"] == name]
    reader = PRODUCT.readers.get(SOURCES[name])
    verdicts = []
    if reader is not None and released is not None:
        verdicts = read_table(MANIFEST.with_name(source.manifest))
    with TemporaryDirectory() as folder:
        for row in steps([*files, *verdicts], "fetching", unit="files"):
            fetch(
                repository=source.repository,
                commit=source.commit,
                path=row["path"],
                blob=row["blob"],
                mirror=mirror_location(settings.mirror, os.environ),
                cache=cache_folder(os.environ),
                destination=Path(folder, row["path"]),
                largest=int(parse_bytes(settings.download_limit)),
                is_quiet=True,
            )
        if verdicts:
            normalise(
                name,
                [f"{folder}/{row['path']}" for row in verdicts],
                reader=reader,
                comparisons=str(released),
                completeness=f"{folder}/completeness.csv",
            )
        return READERS[name](Path(folder))


def with_published_texts(audit: Audit, folder: Path, settings: Settings) -> Audit:
    """Write the tables of the paper that `prompts` names into a folder; return the settings with
    them. Values and verdicts of another paper there are removed.

    Answers and restated answers that the settings name stay. Released verdicts are written if the
    audit asks for verdicts on the paper's answers in both orders.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for published in (QUOTED_SHARES, RELEASED):
        (folder / published).unlink(missing_ok=True)
    can_compare = audit.answers is None and audit.ask == VERDICTS and "order" in audit.options()
    texts = published_texts(audit.prompts, settings, folder / RELEASED if can_compare else None)

    def table(name: str, columns: Iterable[str], rows: list[dict]) -> str:
        path = f"{folder}/{name}.csv"
        write_table(path, [*columns], rows)
        return path

    added: dict[str, object] = {
        "prompts": table("prompts", ("prompt", "text", "dataset"), texts.prompts)
    }
    if texts.shares:
        write_table(folder / QUOTED_SHARES, [*texts.shares[0]], texts.shares)
    treatments = audit.options()
    if audit.answers is None:
        added["answers"] = table("answers", ANSWER, texts.answers)
        for treatment, rows in texts.restated.items():
            chosen = treatments.get(treatment)
            if chosen is not None and not chosen.has_texts:
                treatments[treatment] = OwnTreatment(file=table(treatment, ANSWER, rows))
    return audit.model_copy(update={**added, "treatments": treatments})
