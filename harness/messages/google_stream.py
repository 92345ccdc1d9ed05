"""A streamed reply of Google's Gemini API (v1beta): chunks come in, a message goes out.

The message is in the shape of Anthropic's API, whose blocks stand in order as Google's parts do.
Arguments of a call may come in pieces, each with a JSON path; a call without name or arguments ends
the one that is open.
"""

import re
from collections.abc import Mapping
from typing import Any

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_MOST_STEPS = 50
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_FILES = ("inlineData", "fileData")


class GoogleStream:
    """Puts the chunks of one reply together."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._path = ""
        self._texts: list[str] = []
        self._codes = 0
        self._usage: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}
        self.ended = False

    def begins_anew(self, chunk: Mapping[str, Any]) -> bool:
        """Say whether a chunk is of another reply."""
        own, new = self._fields.get("id"), chunk.get("responseId")
        return self.ended and bool(own) and bool(new) and own != new

    def add(self, chunk: Mapping[str, Any]) -> bool:
        """Add the next chunk; say whether it was understood."""
        named = {"id": chunk.get("responseId"), "model": chunk.get("modelVersion")}
        self._fields |= {key: value for key, value in named.items() if value is not None}
        self._add_usage(chunk.get("usageMetadata"))
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, Mapping) and isinstance(feedback.get("blockReason"), str):
            self._stop(feedback["blockReason"])
        candidates = chunk.get("candidates")
        rows = candidates if isinstance(candidates, list) else []
        done = [self._add_candidate(row) for row in rows]
        return all(done) and (candidates is None or isinstance(candidates, list))

    def _add_usage(self, usage: Any) -> None:
        if not isinstance(usage, Mapping):
            return
        made = [usage.get(key) for key in ("candidatesTokenCount", "thoughtsTokenCount")]
        counts = [count for count in made if type(count) is int]
        if usage.get("promptTokenCount") is not None:
            self._usage["input_tokens"] = usage["promptTokenCount"]
        if counts:
            self._usage["output_tokens"] = sum(counts)

    def _stop(self, reason: str) -> None:
        self._fields["stop_reason"] = reason
        self.ended = True

    def _add_candidate(self, candidate: Any) -> bool:
        if not isinstance(candidate, Mapping) or candidate.get("index") not in (None, 0):
            return False
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason:
            self._stop(reason)
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        if parts is None:
            return True
        done = [self._add_part(part) for part in parts] if isinstance(parts, list) else [False]
        return all(done)

    def _add_part(self, part: Any) -> bool:
        if not isinstance(part, Mapping):
            return False
        if isinstance(part.get("text"), str):
            self._add_text(part["text"], "thinking" if part.get("thought") else "text")
        elif isinstance(part.get("functionCall"), Mapping):
            return self._add_call(part["functionCall"])
        elif isinstance(part.get("executableCode"), Mapping):
            self._codes += 1
            block = {"type": "tool_use", "id": self._code_id, "name": "code_execution"}
            self._blocks.append({**block, "input": dict(part["executableCode"])})
        elif isinstance(part.get("codeExecutionResult"), Mapping):
            self._add_printed(part["codeExecutionResult"])
        elif any(key in part for key in _FILES):
            self._blocks.append({"type": "file", **part})
        else:
            # What signs a thought stands alone in a part of its own.
            return set(part) <= {"thoughtSignature"}
        return True

    @property
    def _code_id(self) -> str:
        # Code that runs and what it printed have no id: they follow each other.
        return f"code_execution-{self._codes}"

    def _add_text(self, text: str, kind: str) -> None:
        last = self._blocks[-1] if self._blocks else {}
        if last.get("type") == kind:
            last["pieces"].append(text)
        else:
            self._blocks.append({"type": kind, "pieces": [text]})

    def _add_printed(self, result: Mapping[str, Any]) -> None:
        failed = result.get("outcome") not in (None, "OUTCOME_OK")
        block = {"type": "tool_result", "tool_use_id": self._code_id, "is_error": failed}
        output = result.get("output")
        self._blocks.append({**block, "content": "" if output is None else output})

    def _add_call(self, call: Mapping[str, Any]) -> bool:
        if isinstance(call.get("name"), str) and call["name"]:
            self._join_texts()
            self._open = {"type": "tool_use", "id": call.get("id"), "name": call["name"]}
            self._open |= {"input": {}, "is_whole": False}
            self._blocks.append(self._open)
        if self._open is None:
            return not call
        args, pieces = call.get("args"), call.get("partialArgs")
        if isinstance(args, Mapping):
            self._open["input"] |= args
        rows = pieces if isinstance(pieces, list) else []
        done = [self._add_piece(piece) for piece in rows]
        if not call.get("willContinue"):
            self._join_texts()
            self._open["is_whole"] = True
            self._open = None
        return all(done) and (args is None or isinstance(args, Mapping))

    def _add_piece(self, piece: Any) -> bool:
        path = piece.get("jsonPath") if isinstance(piece, Mapping) else None
        key = next((key for key in _VALUES if isinstance(piece, Mapping) and key in piece), None)
        if not isinstance(path, str) or key is None or self._open is None:
            return False
        value = None if key == "nullValue" else piece[key]
        if self._texts and self._path == path and isinstance(value, str):
            self._texts.append(value)
            return True
        self._join_texts()
        if piece.get("willContinue") and isinstance(value, str):
            self._path, self._texts = path, [value]
        return _set(self._open["input"], path, value)

    def _join_texts(self) -> None:
        """Write the text that came in pieces; they are joined once, however many they are."""
        if self._open is not None and len(self._texts) > 1:
            _set(self._open["input"], self._path, "".join(self._texts))
        self._texts = []

    def reply(self) -> dict[str, Any]:
        """Return the message as far as it has arrived."""
        self._join_texts()
        blocks = [_whole(block) for block in self._blocks]
        return {
            "type": "message",
            "role": "assistant",
            **self._fields,
            "content": blocks,
            "usage": self._usage,
        }


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    if "pieces" not in block:
        return block
    return {"type": block["type"], block["type"]: "".join(block["pieces"])}


def _steps(path: str) -> list[str | int] | None:
    """Return the keys and indexes of a path such as `$.a[0]['b']`; None for what is none."""
    steps: list[str | int] = []
    at = 1
    while at < len(path) and len(steps) < _MOST_STEPS:
        found = _STEP.match(path, at)
        if found is None:
            return None
        index = found.group(2)
        steps.append(int(index) if index else next(g for g in found.groups() if g is not None))
        at = found.end()
    return steps if path[:1] == "$" and steps and at == len(path) else None


def _set(holder: Any, path: str, value: Any) -> bool:
    """Set what stands at a path; say whether there is such a place."""
    steps = _steps(path)
    if steps is None:
        return False
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if not _reaches(holder, step):
            return False
        if following is None:
            holder[step] = value
        elif holder[step] is None:
            holder[step] = [] if isinstance(following, int) else {}
        holder = holder[step]
    return True


def _reaches(holder: Any, step: str | int) -> bool:
    """Say whether a step leads into a value, after making room for it."""
    if isinstance(holder, dict) and isinstance(step, str):
        holder.setdefault(step, None)
        return True
    if isinstance(holder, list) and isinstance(step, int) and step <= len(holder):
        # A list grows item by item: an index far beyond its end is none.
        holder += [None] if step == len(holder) else []
        return True
    return False
