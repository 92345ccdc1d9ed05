"""How a turn of Letta Code failed: what it printed comes in, a `TargetError` goes out.

Verified with the command of PyPI `letta` 0.34.12. A model's failure is an `error` line whose
message begins with the status: `401: {"message": ...}`. After statuses from 500 on and lost
connections the command asks again itself, 16 times in 35 s, before it gives up. What keeps it from
starting it says on stderr, and prints nothing.
"""

import re
import signal
from collections.abc import Collection, Mapping
from contextlib import suppress

from harness.endpoints.error_bodies import code_of_error, read_error_body
from harness.messages.letta_code_lines import LettaCodeLines
from harness.messages.letta_replies import LettaFailure
from harness.system.redaction import redacted_line
from harness.system.texts import error_line
from harness.types.errors import TargetError

_WIDTH = 500
_STATUS = re.compile(r"\s*([1-5]\d\d)(?::\s|\s)(.*)", re.DOTALL)
_BY_TEXT: Mapping[str, re.Pattern[str]] = {
    code: re.compile(text, re.IGNORECASE)
    for code, text in {
        "not_found": r"unknown (model|provider)|not (found|registered)|not available on",
        "unauthorized": r"missing letta_api_key|no api key|(invalid|incorrect) api key"
        r"|unauthorized|provider is not configured",
        "bad_reply": r"malformed|error reading response|unexpected token|no response",
        "connection_refused": r"econnrefused",
        "connection_lost": r"connection error|fetch failed|failed to connect|econnreset|enotfound"
        r"|etimedout|timed? ?out|socket hang up|terminated",
    }.items()
}
_HINTS: Mapping[str, str] = {
    "unauthorized": "check the key: of the model's provider, or of the server",
    "not_found": "check the model's name, and that its provider is connected or its key set",
}
_REFUSED = re.compile(
    r"unknown option|invalid|can only be used|cannot be used|mutually exclusive|not supported"
    r"|requires",
    re.IGNORECASE,
)
"""What the command says when it is not called as it wants to be."""

_BY_KIND: Mapping[str, str] = {
    "max_steps": "max_steps",
    "cancelled": "agent_crash",
    "llm_authentication": "unauthorized",
    "llm_bad_request": "bad_request",
    "llm_rate_limit": "rate_limited",
    "llm_insufficient_credits": "quota_exhausted",
    "llm_timeout": "connection_lost",
}


def turn_failure(
    lines: LettaCodeLines,
    *,
    exit_code: int | None,
    errors: str,
    asked: int,
    secrets: Collection[str] = (),
) -> TargetError | None:
    """Return the error of a turn that has failed; None for one that has ended well.

    `errors` is the end of what the command said on stderr, `asked` how often it has asked its
    model again by itself.
    """
    result = lines.result
    if exit_code == 0 and result is not None and result.ok:
        return None
    if lines.failures:
        return _reported(lines.failures[-1], asked, secrets)
    if exit_code != 0:
        return ended_failure(exit_code, errors, secrets)
    if lines.init is None:
        said = "No agent_id found: the command printed no line that says who answers"
        return _made(said, "bad_reply", secrets)
    if result is None:
        return _made("the command ended without a result", "stream_cut", secrets)
    return _made(f"the turn ended as {result.subtype or 'error'}", "agent_crash", secrets)


def _reported(told: LettaFailure, asked: int, secrets: Collection[str]) -> TargetError:
    code, text = _read(told)
    repeated = f" (the command itself has asked {asked + 1} times)" if asked else ""
    return _made(f"letta: {text}{repeated}", code, secrets)


def _read(told: LettaFailure) -> tuple[str, str]:
    """Return the code of a failure, and what it says."""
    text = told.message or told.detail or told.kind
    if told.kind in _BY_KIND:
        return _BY_KIND[told.kind], text
    if found := _STATUS.match(text):
        body = read_error_body(found[2], status=int(found[1]))
        return code_of_error(body), f"{found[1]}: {body}"
    unknown = "bad_request" if told.retryable is False else "server_error"
    return _code_of_text(text) or unknown, text


def _code_of_text(text: str) -> str | None:
    return next((code for code, words in _BY_TEXT.items() if words.search(text)), None)


def ended_failure(exit_code: int | None, errors: str, secrets: Collection[str] = ()) -> TargetError:
    """Return the error of a command that ended without telling of its failure in a line.

    `errors` is what it said on stderr: its first line says what is wrong, the others how to use it.
    """
    said = errors.strip()
    first = said.partition("\n")[0] or "it said nothing"
    refused = "bad_request" if _REFUSED.search(first) else "agent_crash"
    text = f"letta ended with {_describe(exit_code)}: {first}"
    return _made(text, _code_of_text(said) or refused, secrets)


def start_failure(error: Exception) -> TargetError:
    """Return the error of a command that could not be started."""
    # Out of processes, memory or open files, the next attempt may find some.
    refused = isinstance(error, FileNotFoundError | PermissionError | ValueError)
    code = "bad_request" if refused else "overloaded"
    return _made(f"letta cannot be started: {error_line(error)}", code, ())


def torn_failure(line: str, secrets: Collection[str] = ()) -> TargetError:
    """Return the error of a turn in which a line began as a record and was no whole one."""
    return _made(f"letta printed a line that is no whole record: {line}", "bad_reply", secrets)


def _describe(exit_code: int | None) -> str:
    if exit_code is None:
        return "no return code"
    if exit_code < 0:
        with suppress(ValueError):
            return f"signal {signal.Signals(-exit_code).name}"
    return f"return code {exit_code}"


def _made(text: str, code: str, secrets: Collection[str]) -> TargetError:
    return TargetError(redacted_line(text, _WIDTH, secrets), code=code, hint=_HINTS.get(code, ""))
