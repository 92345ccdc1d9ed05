"""Where a Letta server is and with what key it is asked, without the client that asks it."""

import os
from collections.abc import Iterator

from harness.endpoints.keys import find_key
from harness.types.errors import TargetError

CLOUD = "https://api.letta.com"


def base_url_of(option: str | None) -> str:
    """Return the address of the server: that of the suite, of LETTA_BASE_URL, or Letta Cloud's."""
    return option or os.environ.get("LETTA_BASE_URL") or CLOUD


def key_of(url: str, *, key: str | None, variable: str) -> str | None:
    """Return the key: that of the suite, else that of the variable; None where a server needs none.

    Raises:
        TargetError: `unauthorized`, where Letta Cloud is asked without one.
    """
    if key:
        return key
    if url.startswith(CLOUD) or os.environ.get(variable, "").strip():
        return find_key((variable,), url=url, option="target.api_key_env")
    return None


def missing_key(option: str | None, *, key: str | None, variable: str) -> Iterator[tuple[str, str]]:
    """Yield that Letta Cloud cannot be asked, as `lint_keys` of a target does.

    `option`, `key` and `variable` are what the suite says of address, key and variable.
    """
    url = base_url_of(option)
    try:
        key_of(url, key=key, variable=variable)
    except TargetError as error:
        elsewhere = "" if option else "; a server elsewhere is named by base_url or LETTA_BASE_URL"
        yield "api_key_env", f"{error.line}{elsewhere}"


def key_hint(*, key: str | None, variable: str) -> str:
    """Say where the key came from that a server has refused, or that there was none."""
    if key:
        return "the key is that of target.api_key"
    if os.environ.get(variable, "").strip():
        return f"the key is that of the environment variable {variable}"
    return f"there is no key: the environment variable {variable} is not set"


def address_problems(option: str | None) -> Iterator[str]:
    """Yield what keeps an address from being that of a Letta server."""
    if option is not None and option.rstrip("/").endswith("/v1"):
        bare = option.rstrip("/").removesuffix("/v1")
        yield f"a Letta server's address ends before /v1; {bare}"
