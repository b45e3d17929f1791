"""Names, winners, scales and words of any provider, alphabet, range or tool are read right or asked
about, and never silently taken for something else.
"""

import json
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pytest
import yaml
from importing import import_files

from recuse.base.errors import DataError
from recuse.data.registry import usual_scale
from recuse.imports.guess import ASKED, guess
from recuse.imports.names import group_families, known_family, spellings_by_model
from recuse.imports.verdicts import import_verdicts
from text_tables import lines

pytestmark = pytest.mark.usefixtures("own_folder")

FAMILIES = """
    GPT gpt-4o gpt-4.1-mini o3-mini gpt-3.5-turbo chatgpt-4o
    Claude claude-3-5-sonnet claude-sonnet-4 claude-2.1
    Gemini gemini-1.5-pro gemini-2.0-flash-lite
    Gemma gemma-2-9b-it
    Llama llama-3.1-70b-instruct Meta-Llama-3-8B-Instruct codellama-34b
    Qwen Qwen2.5-72B-Instruct qwq-32b
    Mistral mistral-large Mixtral-8x7B-Instruct ministral-8b
    DeepSeek deepseek-v3 deepseek-r1
    Cohere command-r-plus
    Phi phi-4
    Grok grok-2
    Nova nova-pro
"""
MODELS = {name: family for family, *names in lines(FAMILIES) for name in names}
PROVIDERS = """
    {} openai/{} azure/{} openrouter/openai/{} OpenAI/{} models/{} publishers/google/models/{}
    together_ai/meta-llama/{} accounts/fireworks/models/{} hf/org/{} org__{} openai_{} google_{}
    openai:{} openai:chat:{} anthropic:messages:{} ollama:chat:{} huggingface:text-generation:org/{}
    bedrock/anthropic.{} bedrock/us.anthropic.{} us.meta.{}-v1:0 eu.amazon.{}-v1:0
    apac.anthropic.{}-v2:0 bedrock:us-gov.anthropic.{}-v1:0 bedrock/converse/us.deepseek.{}-v1:0
    arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.{}-v1:0
    databricks-{} {}:free {}:beta {}:latest {}-latest {}@default
"""
DATES = ["", "-2024-08-06", "-20241022", "@20241022", "-08-2024", "-05-06", "-0613", "-002"]


@pytest.mark.parametrize("provider", PROVIDERS.split())
def test_a_provider_and_a_date_change_neither_model_nor_family(provider):
    """A judge so written is the model without these, of its family; two dates are two models."""
    for (name, family), date in product(MODELS.items(), DATES):
        written = provider.format(name + date)
        assert known_family(written) == family
        assert group_families([written], [name]).keys() == {family}
        assert len([*spellings_by_model([written], [name])]) == 1
        other = f"{name}-2023-01-31"
        assert len([*spellings_by_model([written], [other])]) == (2 if date else 1)


OTHERS = """
    gpt-4 gpt-4-turbo gpt-3.5-turbo-instruct llama-3.1-8b-instruct gpt-4o-mini claude-3-5-haiku
    claude-3-sonnet deepseek-r1-distill-llama-70b o3 o1-mini
"""


def test_different_models_are_never_one():
    names = [*MODELS, *OTHERS.split()]
    for provider, date in product(PROVIDERS.split(), ("", "-20241022")):
        written = [provider.format(name + date) for name in names]
        groups = sorted(map(sorted, spellings_by_model(written, names)))
        pairs = zip(written, names, strict=True)
        assert groups == sorted(sorted({*pair}) for pair in pairs)


# Words for: the answer of model_a, neither, the answer of model_b
ALPHABETS = """
    [[A]] [[C]] [[B]]|A C B|a tie b|A>>B A=B B>>A|[[A>B]] [[A=B]] [[A<B]]|B<<A A~B A<<B|0 0.5 1
    1 0.5 0|-1 0 1|1 0 -1|1 1.5 2|1.0 1.5 2.0|0 2 1|1 2 3|model_a tie model_b|Model-A Tie Model-B
    model_a tie_(bothbad) model_b|assistant_a draw assistant_b|left both right|first neither second
    Response_1 same Response_2|Answer_A equal Answer_B|win tie loss|loss tie win|true none false
    yes no_preference no|A_wins even B_wins|A_is_better both_good B_is_better|output_1 tie output_2
    chosen tie rejected|{a} tie {b}|option_1 tie option_2
"""
ALPHABETS = [words.strip() for line in ALPHABETS.split("\n") for words in line.split("|")][1:-1]
CANDIDATES = ("gpt-4o", "openai/gpt-4.1", "claude-3", "b-llama", "A")
PAIRS = [(0, 1), (1, 0), (0, 2), (1, 2)]


EVEN, RARE = (0.4, 0.2, 0.4), (0.93, 0, 0.07)  # shares of the three words


@pytest.mark.parametrize(
    ("alphabet", "shares"),
    [
        *((alphabet, EVEN) for alphabet in ALPHABETS),
        *((alphabet, RARE) for alphabet in ALPHABETS[::4]),
        *(
            pytest.param(each, RARE, marks=pytest.mark.long)
            for each in ALPHABETS
            if each not in ALPHABETS[::4]
        ),
    ],
)
def test_a_winner_is_never_reversed_or_lost(alphabet, shares):
    """However rare a word is: its meaning is right or asked for, and no failure."""
    random = np.random.default_rng(len(alphabet))
    models = np.array(CANDIDATES)[random.choice(PAIRS, 60)]
    answers = random.choice(3, 60, p=shares)
    rows = ["judge,question,model_a,model_b,winner"]
    for place, ((a, b), answer) in enumerate(zip(models, answers, strict=True)):
        word = alphabet.split()[answer].format(a=a, b=b).replace("_", " ")
        rows.append(f"judge,{place},{a},{b},{word}")
    Path("pairs.csv").write_text("\n".join([*rows, ""]), "utf-8")
    text = guess(["pairs.csv"])
    if ASKED in text:
        return
    settings = yaml.safe_load(text)["comparisons"]["mine"]["import"]
    assert "missing" not in settings
    outputs = {"verdicts": "v.parquet", "imported": "i.csv"}
    import_verdicts("mine", ["pairs.csv"], [], settings=settings, outputs=outputs)
    found = duckdb.sql("select outcome from 'v.parquet' order by source_record").fetchall()
    for (outcome,), answer in zip(found, answers, strict=True):
        # What is left as it is in the file, the next step refuses
        assert outcome == ("a", "tie", "b")[answer] or outcome not in ("a", "b", "tie", "error")


def test_a_usual_scale_hides_no_ceiling():
    """Scores reach its upper half; 0 to 11 stays so."""
    ends = [*range(-12, 120), 0.5, 4.5, 9.5, 87.5]
    for low, high in product(ends, ends):
        if low < high:
            bottom, top = usual_scale(low, high)
            assert bottom <= low
            assert top >= high > (bottom + top) / 2 or high <= 1
            assert (
                top - high < 1
                or (bottom, top) in {(0, 1), (0, 10), (1, 10), (0, 100), (1, 100)}
                or high <= 0
            )
    assert usual_scale(0, 11) == (0, 11)


# Words of a log
WORDS = ["C", "P", "I", "N", "yes", "No", "TRUE", "false", True, False, "pass", "fail", "0.5", 1, 0]
LETTERS = {"c": 1, "p": 0.5, "i": 0, "n": 0}
YES_NO = {"yes": 1, "no": 0, "true": 1, "false": 0}
NUMBERS = {"0.5": 0.5, "1": 1, "0": 0}
NAMED = {"columns": {"model": "metadata.model", "prompt": "metadata.prompt"}, "judge": "judge"}
JUDGE = {"source_type": "LLM_JUDGE", "source_id": "judge"}
GRADER = {"type": "llm-rubric", "metric": "quality", "provider": "judge"}


def entry(tool, prompt, word):
    """What a log has of the score of an answer to a prompt."""
    scored, here = (
        {"name": "quality", "score": word},
        {"metadata": {"model": "m", "prompt": str(prompt)}},
    )
    feedback = {"assessment_name": "quality", "source": JUDGE, "feedback": {"value": word}}
    return {
        "inspect": {"id": prompt, "epoch": 1, "scores": {"s": {"value": word}}},
        "promptfoo": {
            **{"provider": "m", "testIdx": prompt},
            "gradingResult": {"componentResults": [scored | {"assertion": GRADER}]},
        },
        "mlflow": {"data": {}, "info": {"client_request_id": str(prompt), "tags": {"model": "m"}, "assessments": [feedback]}},
        "deepeval": {"input": str(prompt), "metricsData": [scored | {"evaluationModel": "judge"}]},
        "helm": {"instance": {"id": str(prompt)}, "annotations": {"quality": {"judge_score": word}}},
        "phoenix": {"name": "quality", "annotator_kind": "LLM", "result": {"score": word}} | here,
        "phoenix label": {"name": "quality", "annotator_kind": "LLM", "result": {"label": word}} | here,
        "langfuse label": {"name": "quality", "source": "EVAL", "dataType": "CATEGORICAL", "stringValue": word} | here,
        "langfuse": {"name": "quality", "source": "EVAL", "dataType": "NUMERIC", "value": word} | here,
    }[tool]  # fmt: skip


def tool_log(tool, words):
    """A log with a score of each word."""
    entries = [entry(tool, prompt, word) for prompt, word in enumerate(words)]
    scorer = {"name": "s", "options": {"model": "judge"}}
    return {
        "inspect": {
            **{"version": 2, "status": "success", "samples": entries},
            "eval": {"model": "m", "scorers": [scorer]},
        },
        "promptfoo": {"config": {}, "results": entries},
        "deepeval": {"hyperparameters": {"model": "m"}, "testPassed": 1, "testCases": entries},
        "helm": {"adapter_spec": {"model": "m"}, "request_states": entries},
    }.get(tool, entries)


def ratings_in_log(tool, words, **settings):
    """The rating of each word in a log of them, in halves, and why it failed."""
    path, format = Path("log.json"), tool.split()[0]
    path.write_text(json.dumps(tool_log(tool, words)), "utf-8")
    settings |= {"format": format, "step": 0.5}
    settings |= NAMED if format in ("phoenix", "langfuse") else {}
    import_files(path, settings=settings, scales={"quality": [0, 1]})
    columns = "judge, model, prompt_id::int, rating, failure"
    query = f"select {columns} from 'ratings.parquet' order by prompt_id::int"
    rows = duckdb.sql(query).fetchall()
    assert [row[:3] for row in rows] == [("judge", "m", prompt) for prompt in range(len(words))]
    return [row[3:] for row in rows]


@pytest.mark.parametrize(
    ("tools", "meanings"),
    [
        (["inspect"], NUMBERS | YES_NO | LETTERS),
        (["promptfoo", "mlflow", "deepeval"], NUMBERS | YES_NO),
        (["helm", "phoenix", "langfuse"], NUMBERS),
    ],
)
def test_words_of_a_tool_count_what_the_tool_means_or_are_refused(tools, meanings):
    known = [word for word in WORDS if str(word).lower() in meanings]
    others = [word for word in WORDS if str(word).lower() not in meanings]
    refused = rf"found '{others[0]}', which is not a number; .* \({len(others) - 1} more row"
    for tool in tools:
        found = ratings_in_log(tool, known)
        assert found == [(2 * meanings[str(word).lower()], None) for word in known]
        with pytest.raises(DataError, match=refused):
            ratings_in_log(tool, others)


TOOLS = ("inspect", "promptfoo", "phoenix label", "langfuse label")
INSPECT = TOOLS[:1]


@pytest.mark.parametrize(
    ("tools", "settings", "found"),
    [
        (TOOLS, {"values": {"helpful": 1, "poor": 0.5}}, {"Helpful": (2, None)}),
        (TOOLS[:2], {"values": {"yes": 0, "no": 1}}, {"yes": (0, None)}),
        (INSPECT, {"values": {True: 0, False: 1, "C": 0.5}}, {"yes": (0, None), "c": (1, None)}),
        (TOOLS, {"missing": ["p", "x"]}, {"P": (None, "value 'P'")}),
        (INSPECT, {"missing": ["c", 0.5]}, {"0.50": (None, "value '0.50'")}),
    ],
)
def test_a_word_of_a_log_is_what_config_says(tools, settings, found):
    """A number, counted as one of the words that were read, or a failure."""
    for tool in tools:
        assert ratings_in_log(tool, [*found], **settings) == [*found.values()]
        counts = Path("imported.csv").read_text("utf-8")
        read_as = [word for word in found if f"value '{word}' read as" in counts]
        assert read_as == [*found] * ("values" in settings)


def test_a_word_that_has_a_meaning_for_the_tool_is_refused_if_values_lack_it():
    for tool in ("inspect", "promptfoo"):
        with pytest.raises(DataError, match="found 'yes', which is not a number"):
            ratings_in_log(tool, ["yes"], values={"NO": 1})
