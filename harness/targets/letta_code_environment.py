"""The environment of Letta Code: little of our own, what the suite asks for, and the sample's.

Whatever the command sees, the agent's tools see too. So only the keys that are needed go in.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from harness.system.json_values import compact_json
from harness.types.errors import TargetError

MARK = "REGRADE_TRIAL"
"""The variable by which every process of a trial is known."""

_PLAIN = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "SHELL", "USER", "LOGNAME"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "LETTA_PROJECT_ID"}
    # Windows starts no program without these.
    | {"COMSPEC", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR"}
)
_SERVER_KEY = "LETTA_API_KEY"
_PROVIDERS = ("AWS_", "AZURE_", "CLOUDFLARE_", "GOOGLE_")
_ALWAYS = {"DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1"}


def base_environment(
    environ: Mapping[str, str], *, pass_env: Iterable[str], provider_keys: bool
) -> dict[str, str]:
    """Return what every process of the command sees; the keys of model providers if wanted."""
    wanted = set(pass_env)
    passed = {
        name: value
        for name, value in environ.items()
        if name.upper() in _PLAIN
        or name.startswith("LC_")
        or name in wanted
        or (provider_keys and is_provider_key(name))
    }
    return {**passed, **_ALWAYS}


def is_provider_key(name: str) -> bool:
    """Say whether a variable is one by which a model provider knows its customers."""
    is_key = name.endswith("_API_KEY") and name != _SERVER_KEY
    return is_key or name == "HF_TOKEN" or name.startswith(_PROVIDERS)


def sample_environment(extra_vars: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that a sample sets as `extra_vars.env`; None is an empty text.

    Raises:
        TargetError: `bad_request`, where they are no variables.
    """
    found = extra_vars.get("env")
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _refused(f"it must be a dict, found {type(found).__name__}")
    return {_checked_name(name): _text(name, value) for name, value in found.items()}


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise _refused(f"its keys must be strings, found {name!r}")
    if not name or "=" in name or "\0" in name:
        raise _refused(f"{name!r} cannot be the name of a variable")
    if name in {"HOME", "USERPROFILE", MARK}:
        raise _refused(f"{name} is the trial's own")
    return name


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    text = compact_json(value) if isinstance(value, Mapping | list | tuple) else str(value)
    if "\0" in text:
        raise _refused(f"the value of {name} holds a null character")
    return text


def _refused(problem: str) -> TargetError:
    return TargetError(f"extra_vars.env of the sample: {problem}", code="bad_request")
