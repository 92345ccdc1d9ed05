"""The key `target` as letta-evals writes it, put as native suites have it."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.documents.nodes import Listing, Location, Scalar, describe
from harness.documents.shapes import option_hints
from harness.loading.letta_evals_keys import NativeKeys, scalar

CHAT, CODE = "letta", "letta_code"
OLD_KINDS = ("agent", "letta_agent")
LOCAL_SERVER = "${LETTA_BASE_URL:-http://localhost:8283}"
"""Where letta-evals looks for a server for its `agent` and `letta_agent`."""

DEFAULT_SECONDS = 300.0
"""How long letta-evals lets a sample take, if the suite says nothing."""

_OF_CHAT = ("model_handles", "model_configs", "timeout", "max_retries")
_OF_CODE = (
    *(key for key in _OF_CHAT if key != "model_configs"),
    *("working_dir", "sandbox", "skills_dir", "allowed_tools", "disallowed_tools", "flags"),
    *("permission_mode", "memory_workspace", "memory_dir", "pricing"),
)
TARGET_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType({CHAT: _OF_CHAT, CODE: _OF_CODE})
"""The keys that letta-evals has below `target`, by our kinds; others are named as ours are."""

_OPTIONAL = ("base_url", "api_key", "project_id", "agent_id", "agent_file", "agent_script")
"""The keys that both have alike; null is as good as none in letta-evals."""

SUITE_FOLDER = "."
ANY_NAME = "*"
STATE = "keep_agent_state"
_HAS_AGENT = ("agent", "agent_id", "agent_file")
_MOST_RETRIES = 99


def native_kind(target: Location | None) -> str | None:
    """Return our kind of a target; one of letta-evals may leave that of Letta Code out."""
    if target is None:
        return None
    kind = target.text("kind")
    if kind in OLD_KINDS:
        return CHAT
    if kind is not None or target.child("kind"):
        return kind
    is_code = any(target.child(key) for key in _OF_CODE)
    return CODE if is_code and not any(target.child(key) for key in _HAS_AGENT) else None


def put_target(keys: NativeKeys) -> None:
    """Put the keys of a Letta target where native suites have them."""
    target = keys.given("target")
    kind = native_kind(target)
    if target is None or kind is None or kind not in TARGET_KEYS:
        return
    for key in (*_OPTIONAL, *TARGET_KEYS[kind]):
        if keys.given("target", key) is None:
            keys.take("target", key)
    _put_kind(keys, target, kind)
    keys.move(("target", "model_handles"), "target", "models")
    _refuse_configs(keys)
    if keys.given("target", "timeout") is not None:
        keys.move(("target", "timeout"), "limits", "trial_seconds")
        keys.default(None, "limits", "turn_seconds")
    _put_retries(keys)
    _drop_pricing(keys, kind)


def put_folder(keys: NativeKeys) -> None:
    """Let Letta Code work in the suite's own folder, unless the suite says where to work.

    There graders of letta-evals look for what the agent has written. Its versions up to 0.17 made
    a subfolder for each model inside of a `working_dir`, which `sandbox: true` asks for.
    """
    target = keys.given("target")
    if target is None or native_kind(target) != CODE or _says_where(target):
        return
    keys.default(SUITE_FOLDER, "target", "working_dir")
    keys.default(False, "target", "sandbox")
    keys.context.findings.note(
        target,
        "Letta Code works in the suite's folder, as in letta-evals: its tools run there unasked",
        "`files: FOLDER` gives each trial a copy of a folder instead",
    )


def open_variables(keys: NativeKeys) -> None:
    """Let samples of letta-evals set any variable of Letta Code that is not guarded."""
    target = keys.given("target")
    if target is not None and native_kind(target) == CODE and target.child("sample_env") is None:
        keys.put(target, Listing(items=(scalar(ANY_NAME),)), "target", "sample_env")


def _says_where(target: Location) -> bool:
    memory = target.child("memory_workspace")
    in_memory = memory is not None and isinstance(memory.node, Scalar) and bool(memory.node.value)
    return in_memory or any(map(target.child, ("working_dir", "files")))


def keep_state(keys: NativeKeys) -> None:
    """Store all of the agent's end state, which functions of letta-evals are given."""
    kind = native_kind(keys.given("target")) or ""
    plugin = keys.context.plugins.targets.get(kind)
    if plugin is not None and STATE in option_hints(plugin):
        keys.default(True, "target", STATE)


def _put_kind(keys: NativeKeys, target: Location, kind: str) -> None:
    written = target.text("kind")
    if written in OLD_KINDS and (at := keys.take("target", "kind")):
        keys.put(at, scalar(kind, at.node.position), "target", "kind")
        keys.default(LOCAL_SERVER, "target", "base_url")
    keys.default(kind, "target", "kind")


def _refuse_configs(keys: NativeKeys) -> None:
    if (at := keys.take("target", "model_configs")) is not None:
        keys.context.findings.fault(
            at,
            "the model configurations that letta-evals bundled are not known here",
            "write `model_handles: [openai/gpt-4.1]`, with the handles of your server",
        )
        # Without a model there would be a second fault about the same.
        keys.default("named-by-model-configs", "target", "model")


def _put_retries(keys: NativeKeys) -> None:
    """Put the number of further attempts as the number of all."""
    at = keys.take("target", "max_retries")
    if at is None:
        return
    value = at.node.value if isinstance(at.node, Scalar) else None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_RETRIES:
        keys.put(at, scalar(value + 1, at.node.position), "retries", "attempts")
        return
    allowed = f"a whole number from 0 to {_MOST_RETRIES}"
    keys.context.findings.fault(at, f"found {describe(at.node)}", allowed)


def _drop_pricing(keys: NativeKeys, kind: str) -> None:
    plugin = keys.context.plugins.targets.get(kind)
    if plugin is not None and "pricing" in option_hints(plugin):
        return
    target = keys.given("target")
    if target is not None and keys.take("target", "pricing") is not None:
        problem = "has no effect: the cost of a trial is what the server says it is"
        keys.context.findings.note_key(target, "pricing", problem)
