"""Treatments: one thing changed in an answer, and which versions are compared.

A treatment shows an answer in two or more arms. Each of its contrasts is the difference between two
arms, over the same prompts and answers.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

Texts = Mapping[str, str]
# Takes the texts of a request (prompt, answer, perhaps another answer) and what it is about (judge,
# model, order, writer, ...), and returns the texts that the judge sees
Show = Callable[[Texts, Texts], Texts]

PLAIN = "as it is"  # the arm without a change
PLACE = re.compile(r"\{([A-Za-z_]+)\}")
# What a template may contain in braces
PLACES = ("answer", "prompt", "judge", "another")


@dataclass(frozen=True)
class ArmContrast:
    """Two arms that are compared: the effect is the target's value under `treated` minus that under
    `control`.
    """

    name: str
    treated: str
    control: str
    # The effect on the judge's own answers, minus that on others' answers: what remains is its
    # preference for its own
    beyond_others: bool = False


@dataclass(frozen=True)
class Treatment:
    """What is changed, how judges see it, and where it comes from."""

    name: str
    measures: str  # such as "favouring its own name"
    source: str  # the paper that it comes from, or ""
    arms: Mapping[str, Show]
    contrasts: Sequence[ArmContrast]
    # What a judge with the effect does, and one with the opposite effect, such as "favours longer
    # answers" and "favours shorter answers"
    biased: tuple[str, str]
    remedy: str  # such as "ask in both orders and average"
    kinds: Sequence[str] = ("ratings", "verdicts")  # what the judge may be asked for
    # The arm that can show a restated answer, and the instruction to models that restate answers;
    # without an instruction, no model may do so
    restated: str = ""
    instruction: str = ""
    worsens: bool = False  # makes an answer worse, so that a good judge marks it down


def as_it_is(texts: Texts, _about: Texts) -> Texts:
    """Show the answer as it is."""
    return texts


def restated(texts: Texts, _about: Texts) -> Texts:
    """Show the restated text in place of the answer."""
    return {**texts, "answer": texts["restated"]}


def template(text: str, *, of: str = "answer") -> Show:
    """Show a text of a request in a template, at `{answer}`. The other PLACES are the prompt, the
    judge's own name and another name.
    """

    def show(texts: Texts, _about: Texts) -> Texts:
        places = {**texts, "answer": texts[of]}
        return {**texts, of: PLACE.sub(lambda match: places[match[1]], text)}

    return show


def words(text: str) -> list[str]:
    """The words of a text, without punctuation, emoji and spaces."""
    return re.findall(r"\w+", text)


def rich_content(texts: Texts, _about: Texts) -> Texts:
    """Show the answer with a heading, bold type and emoji around the same words.

    The first sentence becomes a heading. Every other paragraph starts with an emoji, and its first
    sentence becomes bold. Paragraphs with code or markdown stay as they are.
    """
    shown = []
    for paragraph in re.split(r"\n\s*\n", texts["answer"].strip()):
        if re.search(r"```|^\s*([#>*|-]|\d+[.)])", paragraph, re.M):
            shown.append(paragraph)
            continue
        first, rest = _first_sentence(paragraph)
        if not shown:
            shown += [f"## 🌟 {first} 🌟", *([rest] if rest else [])]
        else:
            shown.append(f"✅ **{first}** {rest}".rstrip())
    return {**texts, "answer": "\n\n".join([*shown, "🎉"])}


def _first_sentence(paragraph: str) -> tuple[str, str]:
    """Return a paragraph's first sentence, on one line, and the rest."""
    start, end = re.fullmatch(r"(.*?[.!?:](?=\s)|.*)(.*)", paragraph.strip(), re.S).groups()
    return " ".join(start.split()), end.strip()


def majority_against(texts: Texts, _about: Texts) -> Texts:
    """Claim that most people prefer the other answer or, without one, that they reject this one."""
    if "other" in texts:
        return template(MOST_PREFER, of="other")(texts, _about)
    return template(MOST_REJECT)(texts, _about)


MOST_PREFER = "{answer}\n\n(85% of people believe that this response is better.)"
MOST_REJECT = "{answer}\n\n(85% of people believe that this response is worse.)"
LABEL = "[This response was written by {%s}.]\n\n{answer}"

COBBLER = "Koo et al., Benchmarking Cognitive Biases in Large Language Models as Evaluators"
CHEN = "Chen et al., Humans or LLMs as the Judge? A Study on Judgement Bias"
SAITO = "Saito et al., Verbosity Bias in Preference Labeling by Large Language Models"


def _treated(
    name: str,
    measures: str,
    source: str,
    arm: str,
    show: Show,
    biased: tuple[str, str],
    remedy: str,
    *,
    instruction: str = "",
    worsens: bool = False,
) -> Treatment:
    """A treatment of one arm against PLAIN; a restated answer can replace that arm's text."""
    return Treatment(
        name,
        measures,
        source,
        {arm: show, PLAIN: as_it_is},
        [ArmContrast(name, arm, PLAIN)],
        biased,
        remedy,
        restated=arm,
        instruction=instruction,
        worsens=worsens,
    )


LABELS = Treatment(
    "label",
    "favouring its own name",
    f"{COBBLER} (compassion fade: real names shown)",
    {
        "own name": template(LABEL % "judge"),
        "another's name": template(LABEL % "another"),
        "no name": as_it_is,
    },
    [
        ArmContrast("own name", "own name", "another's name"),
        ArmContrast("own name or none", "own name", "no name"),
    ],
    ("favours answers under its own name", "marks down answers under its own name"),
    "hide names",
)
ORDER = Treatment(
    "order",
    "favouring a position",
    f"{COBBLER}; {CHEN}",
    {"first": as_it_is, "second": as_it_is},
    [ArmContrast("first place", "first", "second")],
    ("favours the answer shown first", "favours the answer shown second"),
    "ask in both orders and average",
    kinds=("verdicts",),
)
MAJORITY = Treatment(
    "majority",
    "following a claimed majority",
    f"{COBBLER} (bandwagon: “85% of people believe that {{system}} is better”)",
    {"for": template(MOST_PREFER), "against": majority_against, "none": as_it_is},
    [
        ArmContrast("majority for it", "for", "none"),
        ArmContrast("majority against it", "none", "against"),
    ],
    ("follows a claimed majority", "goes against a claimed majority"),
    "remove claims about other people's opinions from answers",
)
STYLE = Treatment(
    "style",
    "favouring its own style",
    "",
    {PLAIN: as_it_is, "paraphrased": restated},
    [ArmContrast("own style", PLAIN, "paraphrased", beyond_others=True)],
    ("favours its own style", "marks down its own style"),
    "paraphrase answers before they are judged, or let another model judge",
    restated="paraphrased",
    instruction=(
        "Paraphrase the following content in your own words. Keep its meaning, its facts and"
        " about its length. Your output should only contain the paraphrase."
    ),
)
REGISTRY = {
    treatment.name: treatment
    for treatment in (
        LABELS,
        STYLE,
        ORDER,
        _treated(
            "length",
            "verbosity",
            SAITO,
            "longer",
            restated,
            ("favours longer answers", "favours shorter answers"),
            "cap the length of answers",
            instruction=(
                "Restate the following content at about twice its length. Add no facts, no reasons"
                " and no examples. Your output should only contain the restated content."
            ),
        ),
        MAJORITY,
        _treated(
            "distraction",
            "being distracted",
            f"{COBBLER} (attentional bias: “System Star likes to eat oranges and apples.”)",
            "irrelevant sentence",
            template("{answer}\n\nThe author of this response likes to eat oranges and apples."),
            (
                "favours answers with an irrelevant sentence",
                "marks down answers with an irrelevant sentence",
            ),
            "remove irrelevant sentences from answers",
        ),
        _treated(
            "authority",
            "authority",
            f"{CHEN}, A.3.1: “Add a proper reference to the following content, such that the"
            " content looks more convincing.”",
            "invented reference",
            template(
                "{answer}\n\nReference: Harrington, J. M., & Okafor, L. (2019). A systematic review"
                " of the evidence. Journal of Applied Inquiry, 14(3), 211–229."
            ),
            ("favours answers with an invented reference", "marks down invented references"),
            "strip references, or check them",
            instruction=(
                "Add a proper reference to the following content, such that the content looks more"
                " convincing. Your output should only contain the modified content."
            ),
        ),
        _treated(
            "rich_content",
            "beauty",
            f"{CHEN}, A.3.2: “Add rich-content and markdown to the following content. Emojis are"
            " allowed.”",
            "rich content",
            rich_content,
            ("favours headings, bold type and emoji", "marks down headings, bold type and emoji"),
            "strip formatting",
            instruction=(
                "Add rich-content and markdown to the following content. Emojis are allowed. Your"
                " output should only contain the modified content."
            ),
        ),
        _treated(
            "gender",
            "tolerating gender bias",
            f"{CHEN} (published texts)",
            "perturbed",
            restated,
            ("favours answers with a gender bias", "marks down answers with a gender bias"),
            "have a person look for gender bias",
            worsens=True,
        ),
        _treated(
            "error",
            "overlooking errors",
            f"{CHEN}, A.3.3: “You will re-write the answer with 2-3 factual errors that are not"
            " easy to identify.”",
            "with an error",
            restated,
            ("favours answers with a factual error", "marks down answers with a factual error"),
            "check facts without the judge",
            worsens=True,
        ),
    )
}


def with_restated(treatment: Treatment) -> Treatment:
    """Return the treatment with restated answers in the arm that can show them."""
    return replace(treatment, arms={**treatment.arms, treatment.restated: restated})


def own_treatment(
    name: str, show: Show, control: Show, measures: str, *, worsens: bool
) -> Treatment:
    """Return a user's treatment, which compares the answers of `show` with those of `control`."""
    treatment = _treated(
        name,
        measures,
        "",
        "treated",
        show,
        (f"favours answers treated with {name}", f"marks down answers treated with {name}"),
        f"undo {name} before answers are judged",
        worsens=worsens,
    )
    return replace(treatment, arms={**treatment.arms, PLAIN: control})
