"""The environment variables that a sample of Letta Code sets.

A dataset is not trusted: what a program loads and runs, where keys are sent to and which keys
these are is never a sample's to say. The rest is, where the suite says so.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from harness.system.json_values import compact_json
from harness.types.errors import TargetError

ANY = "*"
"""What a suite writes to let samples set any variable that is not guarded."""

MEMORY_VARIABLES = ("MEMORY_DIR", "LETTA_MEMORY_DIR")
"""The variables by which the command knows its memory folder."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 100
_GUARDED = frozenset(
    # where programs and their files are found
    {"PATH", "HOME", "USERPROFILE", "CDPATH", "TMPDIR", "TMP", "TEMP", "PWD", "OLDPWD", "ZDOTDIR"}
    | {"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "COMSPEC", "PATHEXT", "PSMODULEPATH", "CLASSPATH"}
    | {"SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "USER", "LOGNAME", "USERNAME"}
    # what shells and tools run by themselves
    | {"ENV", "SHELL", "IFS", "PS4", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "FPATH"}
    | {"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "INPUTRC"}
    | {
        "MAKEFLAGS",
        "MFLAGS",
        "GNUMAKEFLAGS",
        "RUSTFLAGS",
        "RUSTC",
        "CC",
        "CXX",
        "CFLAGS",
        "LDFLAGS",
    }
    # what the loader and the C library load, and how names of hosts are read
    | {"GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN"}
    | {"RES_OPTIONS", "SUDO_ASKPASS", "WATCHMAN_SOCK", "HF_TOKEN"}
)
_GUARDED_STARTS = (
    *("LD_", "DYLD_", "LETTA_", "REGRADE_", "BASH_", "GIT_", "SSH_", "SSL_", "OPENSSL", "XDG_"),
    *("NODE_", "NPM_", "YARN_", "PNPM_", "COREPACK_", "BUN_", "DENO_", "TS_NODE_", "ELECTRON_"),
    *("PYTHON", "PIP_", "UV_", "CONDA_", "VIRTUAL_ENV", "PERL", "RUBY", "GEM_", "BUNDLE_", "LUA_"),
    *("JAVA_", "_JAVA_", "JDK_", "MAVEN_", "GRADLE_", "CARGO_", "DOTNET_", "CORECLR_", "COR_"),
    *("CURL_", "REQUESTS_", "WGET", "DOCKER_", "KUBE", "RIPGREP_", "MALLOC_", "GO_", "GOFLAGS"),
    *("AWS_", "AZURE_", "CLOUDFLARE_", "GOOGLE_", "GCLOUD_", "CLOUDSDK_", "VERTEX", "OLLAMA_"),
    *("OPENAI_", "ANTHROPIC_", "CLAUDE_", "GEMINI_", "OPENROUTER_", "HUGGINGFACE_", "OTEL_"),
)
_GUARDED_ENDS = ("PROXY", "API_KEY", "BASE_URL", "API_BASE", "API_URL", "_CA_BUNDLE", "_CA_CERTS")


def is_guarded(name: str) -> bool:
    """Say whether a variable is never a sample's to set, in whatever case it is written."""
    if name in MEMORY_VARIABLES:
        return False
    upper = name.upper()
    return upper in _GUARDED or upper.startswith(_GUARDED_STARTS) or upper.endswith(_GUARDED_ENDS)


def sample_environment(extra_vars: Mapping[str, Any], allowed: Collection[str]) -> dict[str, str]:
    """Return the variables that a sample sets as `extra_vars.env`; None is an empty text.

    `allowed` are the names that it may set; `ANY` stands for all that are not guarded.

    Raises:
        TargetError: `bad_request`, where they are no variables, or not the sample's to set.
    """
    found = extra_vars.get("env")
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _refused(f"it must be a dict, found {type(found).__name__}")
    return {_checked_name(name, allowed): _text(name, value) for name, value in found.items()}


def _checked_name(name: Any, allowed: Collection[str]) -> str:
    if not isinstance(name, str):
        raise _refused(f"its keys must be strings, found {name!r}")
    shown = repr(name[:_SHOWN])
    if not _NAME.fullmatch(name):
        raise _refused(f"{shown} cannot be the name of a variable")
    if is_guarded(name):
        raise _refused(f"{shown} is not a sample's to set: it says what is run, or where keys go")
    if name not in allowed and ANY not in allowed:
        raise _refused(f"{shown} is not a name that target.sample_env lists")
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
