"""The environment of Letta Code: little of our own, and what the suite asks for.

Whatever the command sees, the agent's tools see too. So only the keys that are needed go in.
"""

from collections.abc import Iterable, Mapping

from harness.system.child_environment import plain_environment

_NETWORK = frozenset(
    {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "LETTA_PROJECT_ID"}
)
_SERVER_KEY = "LETTA_API_KEY"
_PROVIDERS = ("AWS_", "AZURE_", "CLOUDFLARE_", "GOOGLE_")
_ALWAYS = {"DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1"}


def base_environment(
    environ: Mapping[str, str], *, pass_env: Iterable[str], provider_keys: bool
) -> dict[str, str]:
    """Return what every process of the command sees; the keys of model providers if wanted."""
    needed = [
        name
        for name in environ
        if name.upper() in _NETWORK or (provider_keys and is_provider_key(name))
    ]
    return {**plain_environment(environ, passed=[*pass_env, *needed]), **_ALWAYS}


def is_provider_key(name: str) -> bool:
    """Say whether a variable is one by which a model provider knows its customers."""
    is_key = name.endswith("_API_KEY") and name != _SERVER_KEY
    return is_key or name == "HF_TOKEN" or name.startswith(_PROVIDERS)
