"""Runs of the OpenAI Agents SDK for Python (run state schema 1.0 to 1.21): events go out.

A run comes in as its serialised state (`RunState.to_json`) or as the result that the SDK returned.
Its items wrap those of the Responses API and name the agent. The responses of the model repeat
them, and are looked at for the numbers alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.messages.completions import read_usage, text_or_none
from harness.messages.plain_values import fields_of, plain, take
from harness.messages.response_items import ResponseItems
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import compact_json
from harness.types.trajectories import Step, Turn


def is_agents_state(value: Any) -> bool:
    """Say whether a value is the serialised state of a run."""
    if not isinstance(value, Mapping) or "original_input" not in value:
        return False
    return "$schemaVersion" in value or isinstance(value.get("generated_items"), list)


def is_agents_result(value: Any) -> bool:
    """Say whether an object is the result of a run, without importing the SDK."""
    if isinstance(value, Mapping):
        return False
    return callable(getattr(value, "to_input_list", None))


def read_agents_result(result: Any) -> tuple[Turn, ...]:
    """Read the result of a run; what it was given comes first.

    Raises:
        ValueError: it holds no items, or one cannot be kept as JSON.
    """
    builder = TurnBuilder()
    new, given = take(result, "new_items"), take(result, "input")
    if not isinstance(new, list | tuple):
        new, given = [], result.to_input_list()
    run = AgentsRun(builder, _rows(take(result, "raw_responses")))
    run.add_input(plain(given))
    for item in new:
        run.add(_run_item(item))
    return builder.trajectory().turns


def _rows(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _run_item(item: Any) -> Any:
    if isinstance(item, Mapping):
        return plain(item)
    # The agent of an item holds its tools and instructions: its name is enough.
    agent = take(take(item, "agent"), "name")
    raw = take(item, "raw_item")
    named = {"name": agent} if isinstance(agent, str) else None
    return {"type": plain(take(item, "type")), "agent": named, "raw_item": plain(raw)}


def read_agents_state(state: Mapping[str, Any], builder: TurnBuilder) -> None:
    """Read a serialised state into a conversation.

    Where it has no items of its own, those of the responses are read; else an item that only a
    response has is kept as unread.

    Raises:
        ValueError: an item cannot be kept as JSON.
    """
    responses = _rows(state.get("model_responses"))
    if not responses and isinstance(state.get("last_model_response"), Mapping):
        responses = [state["last_model_response"]]
    items = _rows(state.get("generated_items")) or _rows(state.get("session_items"))
    run = AgentsRun(builder, responses)
    run.add_input(state.get("original_input"))
    for item in items or list(_outputs(responses)):
        run.add(item)
    if items:
        run.keep_rest(_outputs(responses))


def _outputs(responses: Iterable[Any]) -> Iterator[Any]:
    for response in responses:
        yield from _rows(take(response, "output"))


class AgentsRun:
    """Reads the items of one run into a conversation.

    `responses` are those of the model: their numbers go to the steps that their items make.
    """

    def __init__(self, builder: TurnBuilder, responses: Iterable[Any]) -> None:
        self._builder = builder
        self._items = ResponseItems(builder)
        self._steps: list[Step] = []
        self._response_of: dict[str, int] = {}
        self._current: int | None = None
        self._seen: set[str] = set()
        for index, response in enumerate(responses):
            usage = read_usage(fields_of(take(response, "usage")))
            self._steps.append(Step(usage=usage))
            for item in _rows(take(response, "output")):
                self._response_of[_key(plain(item))] = index

    def add_input(self, given: Any) -> None:
        """Add what the run was given: a text, or items."""
        if isinstance(given, str):
            self._items.add({"role": "user", "content": given})
        for item in _rows(given):
            self._items.add(item)

    def add(self, item: Any) -> None:
        """Add the next item: one of a run, or one of the Responses API."""
        wrapped = isinstance(item, Mapping) and "raw_item" in item
        raw = item["raw_item"] if wrapped else item
        agent = take(item.get("agent"), "name") if wrapped else None
        if wrapped and not isinstance(raw, Mapping):
            kind = item.get("type")
            named = kind if isinstance(kind, str) and kind else "run_item"
            self._builder.keep_unread(named, plain(item))
            return
        key = _key(raw)
        self._seen.add(key)
        self._begin_response(self._response_of.get(key))
        self._items.add(raw, agent=text_or_none(agent))

    def _begin_response(self, index: int | None) -> None:
        if index == self._current:
            return
        if index is None:
            self._items.end()
        else:
            self._items.begin(self._steps[index])
        self._current = index

    def keep_rest(self, items: Iterable[Any]) -> None:
        """Keep the items of responses that the run itself does not have."""
        for item in items:
            if _key(item) not in self._seen:
                self._builder.keep_unread("response_item", plain(item))


def _key(item: Any) -> str:
    """Return what an item is known by: its type and ids, else all of it."""
    if isinstance(item, Mapping) and (item.get("id") or item.get("call_id")):
        item = [item.get("type"), item.get("call_id"), item.get("id")]
    return compact_json(item)
