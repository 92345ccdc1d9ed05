"""By which environment variables Letta Code (0.34) knows its user to a provider of models."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_AWS = (
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE"),
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)
_AZURE = (
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME"),
    *("AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_DEPLOYMENT_NAME_MAP"),
)
_VERTEX = (
    *("GOOGLE_CLOUD_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    "GOOGLE_APPLICATION_CREDENTIALS",
)
_GOOGLE = ("GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY")
_CLOUDFLARE = ("CLOUDFLARE_API_KEY", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID")

_VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "amazon-bedrock": _AWS,
    "azure-openai-responses": _AZURE,
    "bedrock": _AWS,
    "chatgpt-plus-pro": (),
    "cloudflare-ai-gateway": _CLOUDFLARE,
    "cloudflare-workers-ai": _CLOUDFLARE,
    "github-copilot": ("COPILOT_GITHUB_TOKEN",),
    "google": _GOOGLE,
    "google-ai": _GOOGLE,
    "google-vertex": _VERTEX,
    "huggingface": ("HF_TOKEN",),
    "kimi-coding": ("KIMI_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "moonshot-coding": ("KIMI_API_KEY",),
    "moonshotai": ("MOONSHOT_API_KEY",),
    "moonshotai-cn": ("MOONSHOT_API_KEY",),
    "ollama": ("OLLAMA_LOCAL_API_KEY",),
    "ollama-cloud": ("OLLAMA_API_KEY",),
    "openai-codex": (),
    "openai-compatible": (),
    "openai-responses": ("OPENAI_API_KEY",),
    "opencode-go": ("OPENCODE_API_KEY",),
    "qwen-token-plan-individual": ("QWEN_TOKEN_PLAN_API_KEY",),
    "scripted": (),
    "vercel-ai-gateway": ("AI_GATEWAY_API_KEY",),
})  # fmt: skip
"""The providers whose variable is not their name with `_API_KEY`, by what handles begin with."""


def provider_variables(model: str) -> tuple[str, ...]:
    """Return the variables that a model's provider is reached with; none for a bare name.

    A model is named by a handle, `anthropic/claude-sonnet-4-5`: the provider stands before the
    first slash, and a provider that is not known has its name's key (`ANTHROPIC_API_KEY`).
    """
    provider, slash, _ = model.partition("/")
    if not slash or not provider:
        return ()
    name = provider.lower().replace("_", "-")
    if name in _VARIABLES:
        return _VARIABLES[name]
    return (f"{re.sub('[^A-Z0-9]', '_', name.upper())}_API_KEY",)
