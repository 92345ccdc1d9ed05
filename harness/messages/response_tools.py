"""Tool calls among the items of OpenAI's Responses API: items come in, calls and outputs go out.

Functions and custom tools have a name; a tool of the provider is called by the type of its item,
`web_search` for a `web_search_call`. What the provider runs has its result inside the call.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.messages.arguments import Arguments, read_arguments
from harness.messages.assistant_messages import read_id
from harness.messages.outputs import Output, read_output
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub

_ARGUMENTS: Mapping[str, str] = {
    "apply_patch_call": "operation",
    "computer_call": "action",
    "function_call": "arguments",
    "local_shell_call": "action",
    "mcp_call": "arguments",
    "shell_call": "action",
    "tool_search_call": "arguments",
    "web_search_call": "action",
}
"""Where an item of each type holds its arguments; any other type is its arguments itself."""

_INSIDE: Mapping[str, str] = {
    "code_interpreter_call": "outputs",
    "file_search_call": "results",
    "image_generation_call": "result",
    "mcp_call": "output",
    "web_search_call": "results",
}
"""Where an item of each type holds what the provider's tool gave back."""

_ENVELOPE = frozenset(
    {"type", "id", "call_id", "status", "caller", "name", "namespace", "execution", "created_by"}
    | {"fingerprint", "error", *_INSIDE.values()}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCall:
    """A call: `result` is what the item itself holds of it, None where it holds nothing.

    `failed` says that the item is marked as failed.
    """

    call_id: str | None
    name: str
    arguments: Arguments
    caller: str | None
    result: Output | None
    failed: bool


def is_call(kind: str) -> bool:
    """Say whether items of a type are calls."""
    return kind.endswith("_call") or kind == "program"


def is_output(kind: str) -> bool:
    """Say whether items of a type are what a call gave back."""
    return kind.endswith("_call_output") or kind in {"tool_search_output", "program_output"}


def read_call_item(item: Mapping[str, Any]) -> ItemCall:
    """Read an item that is a call."""
    kind = item["type"]
    name = item.get("name")
    caller = item.get("caller")
    return ItemCall(
        call_id=read_id(item.get("call_id")) or read_id(item.get("id")),
        name=scrub(name) if isinstance(name, str) and name else kind.removesuffix("_call"),
        arguments=_arguments(kind, item),
        caller=read_id(caller.get("caller_id")) if isinstance(caller, Mapping) else None,
        result=_result_inside(kind, item),
        failed=item.get("status") == "failed",
    )


def _arguments(kind: str, item: Mapping[str, Any]) -> Arguments:
    if kind == "custom_tool_call":
        # The input of a custom tool is free text, also where it looks like JSON.
        text = item.get("input")
        return (
            Arguments(scrub(text), scrub(text)) if isinstance(text, str) else Arguments(text, None)
        )
    key = _ARGUMENTS.get(kind, "")
    if key in item:
        return read_arguments(item[key])
    own = {key: value for key, value in item.items() if key not in _ENVELOPE}
    return Arguments(clean_json(own), None)


def _result_inside(kind: str, item: Mapping[str, Any]) -> Output | None:
    content, error = item.get(_INSIDE.get(kind, "")), item.get("error")
    if content is None and error is None:
        return None
    failed = bool(error) or item.get("status") == "failed"
    if content is None:
        return Output(error if isinstance(error, str) else compact_json(error), ok=False)
    if kind == "code_interpreter_call":
        return _printed(content, "logs", ok=not failed)
    if kind == "image_generation_call":
        return Output("", not failed, {"result": clean_json(content)})
    text = content if isinstance(content, str) else compact_json(content)
    return Output(scrub(text), not failed)


def read_output_item(item: Mapping[str, Any]) -> tuple[str | None, Output]:
    """Read an item that is a result: the id of its call, and what the agent saw.

    Raises:
        ValueError: it has no JSON form.
    """
    kind = item["type"]
    call_id = read_id(item.get("call_id"))
    if call_id is None and kind == "local_shell_call_output":
        call_id = read_id(item.get("id"))
    failed = item.get("status") in ("failed", "error")
    keys = {"tool_search_output": "tools", "program_output": "result"}
    content = item.get(keys.get(kind, "output"))
    if kind == "shell_call_output":
        return call_id, _printed(content, "stdout", "stderr", ok=not failed)
    if isinstance(content, Mapping) and isinstance(content.get("type"), str):
        content = [content]
    if kind == "tool_search_output":
        return call_id, Output(compact_json(content), not failed)
    flags = {"is_error": True} if failed else {}
    return call_id, read_output({"content": content, "error": item.get("error"), **flags})


def _printed(content: Any, *keys: str, ok: bool) -> Output:
    """Return what was printed, the rest (exit codes, images) as the structure behind it."""
    blocks = content if isinstance(content, list) else [content]
    rows = [block if isinstance(block, Mapping) else {} for block in blocks]
    texts = [text for row in rows for key in keys if isinstance(text := row.get(key), str) and text]
    whole = isinstance(content, str)
    return Output(
        scrub(content) if whole else "\n".join(map(scrub, texts)), ok, clean_json(content)
    )
