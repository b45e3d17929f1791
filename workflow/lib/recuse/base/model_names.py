"""Names of language models as providers write them: a model is the same with another provider,
region, maker or way of tuning.
"""

import re

# What promptfoo, OpenRouter and Amazon Bedrock write around a name
PROVIDER = re.compile(r"([a-z_-]+:)+(?=[a-z])")
REGION = re.compile(r"(us|us-gov|eu|apac|ap|au|ca|jp|sa|global)\.(?=[a-z0-9]+\.)")
MAKER = re.compile(
    r"((openai|anthropic|google|meta|mistralai|cohere|amazon|azure|microsoft|nvidia|x-?ai|ai21"
    r"|deepseek-ai|databricks)[._-]|(mistral|deepseek|qwen|writer)\.)+"
)
REVISION = re.compile(r"-v\d+:\d+$|:(latest|free|beta|nitro|floor|extended)$|[-@](latest|default)$")
# Not gpt-3.5-turbo-instruct, which is another model than gpt-3.5-turbo
TUNED = re.compile(r"(?<!turbo)[-_ ](instruct|chat|it|hf)([-_](turbo|lite|fp8|awq|gptq))?$")
# A date such as 2024-08-06, 08-2024, 05-06 or 0613, or a version such as 002
DATE = re.compile(
    r"[-_ @](20\d\d[-_.]?\d\d[-_.]?\d\d|\d\d-20\d\d|\d\d-\d\d|\d{4}|(?<!davinci[-_ ])00\d)$"
)
FINE_TUNED = "ft:"


def bare(name: str) -> str:
    """A name in lower case without provider, region and maker; empty for several names in one."""
    if ", " in name:
        return ""
    own = REVISION.sub("", re.split(r"/|__", name.strip().lower())[-1])
    if own.startswith(FINE_TUNED):
        return own.removeprefix(FINE_TUNED)
    for before in (PROVIDER, REGION, MAKER):
        own = before.sub("", own, count=1) if before.match(own) else own
    return own


def is_fine_tuned(name: str) -> bool:
    """Whether a name is that of a model that was tuned further, as OpenAI writes it."""
    return name.strip().lower().startswith(FINE_TUNED)


def model_and_date(name: str) -> tuple[tuple[str, ...], str]:
    """The letters and numbers of a model's name, the same in each of its spellings, and its date or
    version (digits), if it ends in one.
    """
    if is_fine_tuned(name):
        return (name,), ""
    own, date, before = bare(name), "", None
    while own != before:
        before = own
        if found := DATE.search(own):
            date = re.sub(r"\D", "", found[1])
        own = TUNED.sub("", DATE.sub("", own))
    return tuple(re.findall(r"[^\W\d_]+|\d+", own)), date
