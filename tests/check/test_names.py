"""Which names may be two spellings of one model."""

import pytest

from recuse.check.names import alike


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("openai/gpt-4o-2024-08-06", "GPT-4o", True),
        ("anthropic.claude-3-sonnet-20240229-v1:0", "Claude 3 Sonnet", True),
        ("Llama-3-8B-Instruct", "Llama 3 8B", True),
        ("Cluade 3 Sonnet", "Claude 3 Sonnet", True),
        ("gpt4o", "GPT-4o", True),
        ("GPT-4", "GPT-4o", False),
        ("GPT-4o mini", "GPT-4o", False),
        ("Claude 3 Sonnet", "Claude 3.5 Sonnet", False),
        ("Claude 3", "Claude 3.5", False),
        ("Llama 3 8B", "Llama 3 70B", False),
        ("Judge A", "Judge B", False),
        ("Judge Alpha", "Judge Omega", False),
        ("---", "GPT-4o", False),
        ("gpt-4-0613", "gpt-4-1106", False),
        ("gemini-1.5-pro-001", "gemini-1.5-pro-002", False),
        ("claude-3-5-sonnet-20240620", "claude-3-5-sonet-20241022", False),
        ("ft:gpt-4o-2024-08-06:acme::AbCd1", "ft:gpt-4o-2024-08-06:acme::AbCd2", False),
        ("ft:gpt-4o-2024-08-06:acme::AbCdE", "ft:gpt-4o-2024-08-06:acme::AbCdF", False),
        ("Llama 3 8B Instruct", "meta-llama/llama-3-8b-instruct", True),
        ("gpt-4-preview", "gpt-4", True),
        ("gpt-4-1106-preview", "gpt-4-0125-preview", False),
    ],
)
def test_spellings(name, other, same):
    assert alike(name, [other, "Gemini"]) == (other if same else None)
    assert alike(other, [name, "Gemini"]) == (name if same else None)
