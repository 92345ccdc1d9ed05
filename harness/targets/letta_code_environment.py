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
_TOKENS = ("HF_TOKEN", "COPILOT_GITHUB_TOKEN")
_PROVIDERS = ("AWS_", "AZURE_", "CLOUDFLARE_", "GOOGLE_")
_ALWAYS = {"DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1"}


def base_environment(
    environ: Mapping[str, str], *, pass_env: Iterable[str], keys: Iterable[str] = ()
) -> dict[str, str]:
    """Return what every process of the command sees, the variables called `keys` among it."""
    network = [name for name in environ if name.upper() in _NETWORK]
    return {**plain_environment(environ, passed=[*pass_env, *network, *keys]), **_ALWAYS}


def is_provider_key(name: str) -> bool:
    """Say whether a variable is one by which a model provider knows its customers: a secret."""
    is_key = name.endswith("_API_KEY") and name != _SERVER_KEY
    return is_key or name in _TOKENS or name.startswith(_PROVIDERS)
