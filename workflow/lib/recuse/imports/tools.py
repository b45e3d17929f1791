"""Scores in the files of other tools, each read from its published format; the docstrings name
repository and commit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from recuse.base.database import Connection
from recuse.base.errors import DataError
from recuse.base.log import warn
from recuse.base.settings import Setting, written
from recuse.data.registry import GOLD_LABELS, HUMAN
from recuse.imports.inspect_logs import LETTERS, log_records, read_inspect
from recuse.imports.logs import YES_NO, Log, Node, failure, one, present
from recuse.imports.rows import ImportedRows

MODEL_GRADED = {
    "llm-rubric",
    "g-eval",
    "factuality",
    "model-graded-factuality",
    "model-graded-closedqa",
    "search-rubric",
    "pi",
    "answer-relevance",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "agent-rubric",
}
SAMPLES_OF_TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d:.-]+\.jsonl")
JUDGE, CODE = "judge", "code"  # who gave a score, beside HUMAN
# Reasons of promptfoo's graders that give a failed judgment the score 0; earlier versions have no
# `graderError`.
UNGRADED = re.compile(
    "No output$|Could not extract JSON from|[a-z-]+ produced malformed response|API (call )?error"
)
ERROR = 2  # failureReason of promptfoo: the answer or the judgment failed


def read_promptfoo(log: Log, records: Sequence[Node]) -> None:
    """Read the components of each result (`promptfoo eval -o results.json` or .jsonl); manual
    grades are human scores.

    The judge is the provider of the assertion, else of its test, else of all tests; the model is
    the result's provider. A test of several model-graded assertions without a metric is as many
    prompts. Grader errors and results without a grade are missing. Source: promptfoo/promptfoo,
    0011eb0 (src/types/index.ts).
    """
    root = records[0]
    lines = "results" not in root.fields
    config = root.get("config")
    results = records if lines else [*_results(root).entries(records=True)]
    prompts = present(results, "testIdx", "vars")
    for result in log.each(results):
        provider, test = result["provider"], result.get("testCase")
        grading, prompt = result["gradingResult"], result.get(prompts).words
        if result.get("promptIdx").words not in (None, "0"):
            prompt = f"{prompt}, prompt {result['promptIdx'].words}"
        given = {"model": _label(provider), "dataset": test.get("metadata").get("dataset").text}
        failed, error = result.get("failureReason").value == ERROR, result.get("error").words
        graders = [
            found.get("options").get("provider") for found in (test, config.get("defaultTest"))
        ]
        parts = [
            (part.get("assertion"), part) for part in grading.get("componentResults").entries()
        ]
        asked = (
            [(assertion, None) for assertion in test.get("assert").entries()]
            if failed and not parts
            else []
        )
        unnamed = 0
        for assertion, part in parts or asked:
            kind = (assertion["type"].text if assertion else None) or "no assertion"
            human = kind == "human"
            if not human and kind.removeprefix("not-") not in MODEL_GRADED:
                log.left_out[kind] += 1
                continue
            metric, item = assertion.get("metric").text, prompt
            if not human and metric is None:
                unnamed += 1
                item = prompt if unnamed == 1 else f"{prompt}, assertion {unnamed}"
            judge = next(
                (name for name in map(_label, (assertion.get("provider"), *graders)) if name), None
            )
            reason = None if part is None else part.get("reason").words
            score = (
                _grade(part, reason if not human else None) if part else failure("result", error)
            )
            of_score = {
                "scorer": kind,
                "judge": judge,
                "by": HUMAN if human else None,
                "dimension": metric,
            }
            log.add(result, score, prompt=item, **given, **of_score, reason=reason)


def _grade(part: Node, reason: str | None) -> tuple[str | None, str | None]:
    """The score of a component as a rating, or why there is none: a grader that fails gives 0, with
    its reason.
    """
    if part.get("metadata").get("graderError"):
        return None, "the grader failed (graderError)"
    if UNGRADED.match(reason or ""):
        return failure("grader", reason)
    return part["score"].score()


def _results(root: Node) -> Node:
    """The list of results, in `results` or, as of version 3, in `results.results`."""
    results = root["results"]
    return results if isinstance(results.value, list) else results["results"]


def _label(provider: Node) -> str | None:
    """What a provider is called: its label or id, or itself."""
    if not isinstance(provider.value, dict):
        return provider.text
    return (
        provider.get("label").text
        or provider.get("id").text
        or (_label(provider["text"]) if provider.get("text") else None)
    )


def read_helm(log: Log, records: Sequence[Node]) -> None:
    """Read the annotations in scenario_state.json, of which per_instance_stats.json has only means,
    without the model.

    A judge is what an annotation calls it, such as `gpt`: `gpt_score`, or `gpt` with a score or
    several criteria; one without a name is the annotator. The dimension is the criterion, else the
    annotator. A judge without an annotation failed. Source: stanford-crfm/helm, 0b63075
    (annotation/model_as_judge.py), 054f998 (wildbench_annotator.py).
    """
    root = one(records, "states of a scenario are")
    model = root["adapter_spec"]["model"].name
    states = [*log.each(root["request_states"].entries(records=True))]
    scored = [
        {name: dict(_annotated(name, found)) for name, found in state.get("annotations").items()}
        for state in states
    ]
    keys = dict.fromkeys(
        (name, *key) for scores in scored for name, found in scores.items() for key in found
    )
    # Each judge of an annotator is asked all its criteria.
    wanted = dict.fromkeys(
        (name, judge, part)
        for name, judge, _ in keys
        for annotator, _, part in keys
        if annotator == name
    )
    for state, scores in zip(states, scored, strict=True):
        instance = state["instance"]
        perturbation = instance.get("perturbation").get("name").text
        trial = state.get("train_trial_index").text or "0"
        prompt = instance["id"].name
        prompt += f", trial {trial}" if trial != "0" else ""
        prompt += f", {perturbation}" if perturbation else ""
        for name, judge, criterion in wanted:
            node = scores.get(name, {}).get((judge, criterion))
            score = (None, "no annotation") if node is None else node.score()
            dimension = criterion or (None if len(log.scales) == 1 else name)
            log.add(
                state,
                score,
                model=model,
                prompt=prompt,
                scorer=judge,
                judge=judge,
                dimension=dimension,
                annotator=name,
            )


def _annotated(name: str, annotation: Node) -> Iterator[tuple[tuple[str, str | None], Node]]:
    """Each judge and criterion (None if there is one) of an annotation, with the score."""
    for key, value in annotation.items():
        if key == "score":
            yield (name, None), value
        elif key.endswith("_score"):
            yield (key.removesuffix("_score"), None), value
        elif isinstance(value.value, dict) and "score" in value.fields:
            yield (key, None), value["score"]
        elif isinstance(value.value, dict):
            yield from (
                ((key, part), inner["score"])
                for part, inner in value.items()
                if isinstance(inner.value, dict)
            )


def read_mlflow(log: Log, records: Sequence[Node]) -> None:
    """Read the feedback on traces, of which each says whether a judge or a human gave it.

    A judge's feedback that a human has overridden still is the judge's; what the judge has
    corrected is left out. The judge is the id of the source, the dimension the name, the prompt
    `client_request_id`, else the request; the model is the tag or metadata `model`, else
    `mlflow.modelId`. Feedback by code is none, unless config's `judge` names it.
    Source: mlflow/mlflow, 02ff24a (entities/assessment.py), 0206e55 (entities/trace_info.py).
    """
    prompts = present(
        [_info(trace) for trace in records], "client_request_id", "request_preview", "request"
    )
    for trace in log.each(records):
        info = _info(trace)
        kept = info.get("trace_metadata", "request_metadata")
        named = [
            found
            for found in (info.get("tags").get("model"), kept.get("model", "mlflow.modelId"))
            if found
        ]
        prompt = info.get(prompts).words
        assessments = [*info.get("assessments").entries()]
        corrected = {
            other.get("overrides").text
            for other in assessments
            if other["source"]["source_type"].value != "HUMAN"
        }
        for assessment in assessments:
            feedback, source = assessment.get("feedback"), assessment["source"]
            mine = assessment.get("assessment_id").text
            if assessment.get("expectation") or (mine is not None and mine in corrected):
                continue
            who = source.get("source_id").text
            name = assessment.get("assessment_name", "name").name
            giver = _giver(
                source["source_type"], LLM_JUDGE=JUDGE, AI_JUDGE=JUDGE, HUMAN=HUMAN, CODE=CODE
            )
            if giver == CODE and _left_out(log, name):
                continue
            error = feedback.get("error") or assessment.get("error")
            score = (
                feedback.get("value").score()
                if not error
                else failure("judge", error.get("error_message", "error_code").words)
            )
            of_score = {
                "judge": None if giver == CODE or who == "default" else who,
                "by": HUMAN if giver == HUMAN else None,
            }
            item = {
                "model": named[0].text if named else None,
                "prompt": prompt,
                "scorer": name,
                "dimension": name,
            }
            log.add(
                trace,
                score,
                **item,
                **of_score,
                rater=who,
                rationale=assessment.get("rationale").words,
            )


def _giver(kind: Node, **givers: str) -> str:
    """Who gave a score, JUDGE, HUMAN or CODE, by the tool's word for it; of two words for one, the
    first is today's.
    """
    word = kind.text
    if word not in givers:
        words: dict[str, str] = {}
        for today, giver in givers.items():
            words.setdefault(giver, today)
        *others, last = words.values()
        remedy = f"write {', '.join(others)} or {last}"
        raise kind.fault("which does not say who gave the score", remedy)
    return givers[word]


def _info(trace: Node) -> Node:
    return trace.get("info") if trace.get("info") else trace


def read_phoenix(log: Log, records: Sequence[Node]) -> None:
    """Read annotations of spans or traces, or those of an experiment's runs; each says whether an
    LLM, a human or code gave it.

    An annotation names neither model nor judge: config does, by `columns` and `judge`; the prompt
    is the example of a run. A score counts, else a label. Source: Arize-ai/phoenix, 06408b9
    (server/api/routers/v1/annotations.py).
    """
    for record in log.each(_page_records(records, bool(records[0].get("next_cursor")))):
        run = "annotations" in record.fields
        for annotation in record["annotations"].entries() if run else [record]:
            giver = _giver(annotation["annotator_kind"], LLM=JUDGE, HUMAN=HUMAN, CODE=CODE)
            result = annotation if run else annotation.get("result")
            name, error = annotation["name"].name, annotation.get("error").words
            score = failure("judge", error) if error else result.get("score", "label").score()
            repetition = record.get("repetition_number").text or "1"
            prompt = (
                f"{record['example_id'].name}{'' if repetition == '1' else f', repetition {repetition}'}"
                if run
                else None
            )
            scorer = {
                "scorer": name,
                "dimension": name,
                "by": HUMAN if giver == HUMAN else None,
            }
            if giver == CODE and _left_out(log, name):
                continue
            rater = annotation.get("user_id", "identifier").text
            log.add(
                record,
                score,
                model=None,
                prompt=prompt,
                **scorer,
                rater=rater,
                explanation=result.get("explanation").words,
            )


def _page_records(records: Sequence[Node], several: bool) -> Sequence[Node]:
    """The records of a page, with a warning if it is one of several; others as they are."""
    if len(records) != 1 or "data" not in records[0].fields:
        return records
    if several:
        warn(f"{records[0].path}: is one page of several; import them all")
    return [*records[0]["data"].entries(records=True)]


def read_langfuse(log: Log, records: Sequence[Node]) -> None:
    """Read scores, alone or in their traces, by source: EVAL (a judge), ANNOTATION (a human) or, if
    `judge` lists them, API.

    The dimension is the name. In a trace, the prompt is its input and the model that of its
    generations; alone, config names both, by `columns`. Source: langfuse/langfuse, 6137e82 and
    d93d107 (fern/apis/server/definition: legacy/scores-v2, commons).
    """
    pages = records[0].get("meta").get("totalPages").value
    for record in log.each(_page_records(records, pages not in (None, 0, 1))):
        whole = "scores" in record.fields
        generations = (
            [found.get("model").text for found in record.get("observations").entries()]
            if whole
            else []
        )
        models = sorted({name for name in generations if name})
        given = {
            "model": models[0] if len(models) == 1 else None,
            "prompt": record.get("input").words if whole else None,
        }
        for score in record["scores"].entries() if whole else [record]:
            kind, name = score.get("dataType").text, score["name"].name
            giver = _giver(score["source"], EVAL=JUDGE, ANNOTATION=HUMAN, API=CODE)
            if kind in ("TEXT", "CORRECTION"):
                log.left_out[name] += 1
                continue
            if giver == CODE and _left_out(log, name):
                continue
            label = score.get("stringValue", "value")
            value = label if kind == "CATEGORICAL" else score["value"]
            unlabelled = kind == "CATEGORICAL" and not isinstance(label.value, str)
            by = HUMAN if giver == HUMAN else None
            rater = score.get("authorUserId").text
            log.add(
                record,
                (None, "a category without its label") if unlabelled else value.score(),
                **given,
                scorer=name,
                dimension=name,
                by=by,
                rater=rater,
                comment=score.get("comment").words,
            )


def read_deepeval(log: Log, records: Sequence[Node]) -> None:
    """Read the metrics of each test case; the judge is the evaluation model, the dimension the
    metric, the prompt the input.

    The model is that of the hyperparameters, if it is there. Metrics without an evaluation model
    are none, unless config's `judge` names them. Source: confident-ai/deepeval, 08080fc
    (test_run/api.py), 6f417f9 (inspect/fixtures).
    """
    root = one(records, "results of a test run are")
    model = root.get("hyperparameters").get("model").text
    lists = {"testCases": "input", "test_results": "input", "conversationalTestCases": "name"}
    cases = (
        (case, prompt)
        for key, prompt in lists.items()
        for case in log.each(root.get(key).entries(records=True))
    )
    for case, prompts in cases:
        for metric in case.get("metricsData", "metrics_data").entries():
            name, error = metric["name"].name, metric.get("error").words
            score = failure("metric", error) if error else metric["score"].score()
            judge = metric.get("evaluationModel", "evaluation_model").text
            if not judge and _left_out(log, name):
                continue
            prompt = case.get(prompts).words
            scorer = judge if judge and not _listed(log, name) else name
            log.add(
                case,
                score,
                model=model,
                prompt=prompt,
                scorer=scorer,
                judge=judge,
                dimension=name,
                reason=metric.get("reason").words,
            )


def _listed(log: Log, name: str) -> bool:
    """Whether config's `judge` lists a scorer of this name."""
    return isinstance(log.judges, dict) and name in log.judges


def _left_out(log: Log, name: str) -> bool:
    """Leave out a score that no model or human gave, unless config's `judge` lists its scorer, by
    this name.
    """
    if not _listed(log, name):
        log.scorers[name] = None
        log.left_out[name] += 1
    return not _listed(log, name)


def read_lm_eval(log: Log, records: Sequence[Node]) -> None:
    """Read a metric of samples_<task>_<date>.jsonl as gold labels: its only one, or the one that
    `columns: rating` names.

    With a filter it is `metric,filter`, as in the tool's results. The model is the folder, in which
    `__` stands for /, the dataset the task. Source: EleutherAI/lm-evaluation-harness, 5b321a1
    (lm_eval/evaluator.py).
    """
    metrics = [*dict.fromkeys(name for record in records for name in _metrics(record))]
    wanted = log.columns.get("rating", metrics[0] if len(metrics) == 1 else None)
    if wanted not in metrics:
        example = metrics[0] if metrics else "acc"
        remedy = f"name one of them, as in {Setting('columns', 'rating').line(written(example))}"
        raise DataError(f"{log.path}: its metrics are {', '.join(metrics) or 'none'}; {remedy}")
    path = Path(log.path)
    task = SAMPLES_OF_TASK.fullmatch(path.name)
    model = path.parent.name.replace("__", "/", 1) if "__" in path.parent.name else None
    for record in log.each(records):
        if wanted in _metrics(record):
            score = record[wanted.partition(",")[0]].score()
            log.add(
                record,
                score,
                model=model,
                prompt=record["doc_id"].name,
                dataset=task[1] if task else None,
                scorer=wanted,
                by=GOLD_LABELS,
            )


def _metrics(record: Node) -> list[str]:
    """The metrics of a sample, with the filter if it has one other than `none`."""
    names = [metric.text or "" for metric in record.get("metrics").entries()]
    chosen = record.get("filter").text
    return [name if chosen in (None, "none") else f"{name},{chosen}" for name in names]


class Tool(NamedTuple):
    """How the files of a tool are read."""

    read: Callable[[Log, Sequence[Node]], None]
    keys: Mapping[str, str]  # column of the table -> the key of a record that messages name
    # Numbers of words; Langfuse, Phoenix and HELM write numbers for these
    grades: Mapping[str, str] = YES_NO


TOOLS = {
    "inspect": Tool(
        read_inspect,
        {"rating": "value", "prompt_id": "id", "dimension": "scorer", "model": "eval.model"},
        YES_NO | LETTERS,
    ),
    "promptfoo": Tool(
        read_promptfoo,
        {
            "rating": "score",
            "prompt_id": "testIdx",
            "model": "provider",
            "judge": "assertion.provider",
        },
    ),
    "helm": Tool(
        read_helm,
        {"rating": "score", "prompt_id": "instance.id", "model": "adapter_spec.model"},
        {},
    ),
    "mlflow": Tool(
        read_mlflow,
        {"rating": "feedback.value", "judge": "source.source_id", "dimension": "name"},
    ),
    "phoenix": Tool(read_phoenix, {"rating": "score", "dimension": "name"}, {}),
    "langfuse": Tool(read_langfuse, {"rating": "value", "dimension": "name"}, {}),
    "deepeval": Tool(
        read_deepeval,
        {"rating": "score", "judge": "evaluationModel", "prompt_id": "input", "dimension": "name"},
    ),
    "lm_eval": Tool(read_lm_eval, {"rating": "metric", "prompt_id": "doc_id"}),
}


def read_tool(
    tool: str, connection: Connection, path: str, settings: dict, scales: Sequence[str]
) -> ImportedRows:
    """The ratings, human scores and gold labels in a file of a tool; DataError naming file, entry
    and key.
    """
    log = Log(path, settings, scales, TOOLS[tool].grades)
    TOOLS[tool].read(log, log_records(path))
    return log.rows(connection, TOOLS[tool].keys)


READERS_OF_LOGS = {tool: partial(read_tool, tool) for tool in TOOLS}
