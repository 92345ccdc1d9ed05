"""Where the providers of judges are asked: their own OpenAI-compatible endpoints, and their keys.

Addresses and variables are those that each provider documents (2025).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

ProviderName = Literal["openai", "anthropic", "google"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """An endpoint: `url` is None for the SDK's own, `max_tokens` bounds a reply.

    The first of the variables `urls` that is set overrides `url`; `keys` are the variables that
    may hold the key. `path` is added to an address without one, as providers write theirs. One
    that does not hold a model to a JSON schema has `has_schemas` false.
    """

    url: str | None = None
    urls: tuple[str, ...]
    keys: tuple[str, ...]
    path: str = ""
    has_schemas: bool = True
    max_tokens: int | None = None

    def address(self) -> str | None:
        """Return the address to ask, the environment's before the provider's own."""
        values = (os.environ.get(name, "").strip() for name in self.urls)
        url = next((value for value in values if value), self.url)
        if url and self.path and not urlsplit(url).path.strip("/"):
            return url.rstrip("/") + self.path
        return url


PROVIDERS: Mapping[ProviderName, Provider] = MappingProxyType(
    {
        "openai": Provider(urls=("OPENAI_BASE_URL",), keys=("OPENAI_API_KEY",)),
        "anthropic": Provider(
            url="https://api.anthropic.com/v1/",
            urls=("ANTHROPIC_BASE_URL",),
            keys=("ANTHROPIC_API_KEY",),
            path="/v1/",
            has_schemas=False,
            max_tokens=4096,
        ),
        "google": Provider(
            url="https://generativelanguage.googleapis.com/v1beta/openai/",
            urls=("GEMINI_BASE_URL", "GOOGLE_BASE_URL"),
            keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            path="/v1beta/openai/",
        ),
    }
)
"""The providers that a judge may name."""
