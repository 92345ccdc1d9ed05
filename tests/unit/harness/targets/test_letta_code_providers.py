"""Which keys an agent of Letta Code sees: those of its model's provider, and no other's."""

import pytest

from harness.targets.letta_code_environment import base_environment
from harness.targets.letta_code_providers import provider_variables

ENVIRON = {
    "PATH": "/bin",
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GEMINI_API_KEY": "gemini",
    "GOOGLE_CLOUD_PROJECT": "project",
    "GOOGLE_CLIENT_SECRET": "client",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "AWS_CDK_TOKEN": "cdk",
    "AZURE_CLIENT_SECRET": "azure",
    "AZURE_OPENAI_API_KEY": "azure-openai",
    "CLOUDFLARE_API_KEY": "cloudflare",
    "CLOUDFLARE_API_TOKEN": "dns",
    "HF_TOKEN": "hf",
    "ZAI_CODING_CN_API_KEY": "zai",
    "LETTA_API_KEY": "letta",
    "INTERNAL_API_KEY": "ours",
}


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ("openai/gpt-4.1", {"OPENAI_API_KEY"}),
        ("anthropic/claude-sonnet-4-5", {"ANTHROPIC_API_KEY"}),
        ("openai-responses/gpt-4.1", {"OPENAI_API_KEY"}),
        ("google_ai/gemini-2.5-pro", {"GEMINI_API_KEY"}),
        ("google-vertex/gemini-2.5-pro", {"GOOGLE_CLOUD_PROJECT"}),
        ("bedrock/some.model", {"AWS_SECRET_ACCESS_KEY"}),
        ("azure-openai-responses/gpt-4.1", {"AZURE_OPENAI_API_KEY"}),
        ("cloudflare-workers-ai/@cf/meta/llama", {"CLOUDFLARE_API_KEY"}),
        ("huggingface/meta/llama", {"HF_TOKEN"}),
        ("zai-coding-cn/glm", {"ZAI_CODING_CN_API_KEY"}),
        ("scripted/plan", set()),
        ("openai-compatible/local", set()),
        ("openai-codex/gpt", set()),
        ("gpt-4.1", set()),
        ("/gpt-4.1", set()),
        ("unknown.maker/model", set()),
    ],
)
def test_only_the_keys_of_the_models_provider_are_seen(model, seen):
    environment = base_environment(ENVIRON, pass_env=(), keys=provider_variables(model))
    assert set(environment) & set(ENVIRON) == {"PATH", *seen}


def test_what_the_suite_names_is_seen_besides():
    keys = provider_variables("openai/gpt-4.1")
    environment = base_environment(ENVIRON, pass_env=("HF_TOKEN",), keys=keys)
    assert set(environment) & set(ENVIRON) == {"PATH", "OPENAI_API_KEY", "HF_TOKEN"}
