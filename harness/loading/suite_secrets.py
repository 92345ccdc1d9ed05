"""The secrets of a suite: keys that it holds in clear, and those of the variables that it names."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.documents.nodes import Location
from harness.loading.load_context import LoadContext
from harness.system.secret_values import Secrets
from harness.types.suites import GraderSpec, TargetSpec

_KEY_VARIABLE = "api_key_env"
"""The option of targets and judges that names the variable of a key."""


def suite_secrets(
    target: TargetSpec | None,
    graders: Iterable[GraderSpec],
    named: Mapping[str, Location],
    context: LoadContext,
) -> tuple[str, ...]:
    """Return the values that are never to be stored, each once.

    `named` are the variables under the suite's `secrets`. One that is not set, or whose value is
    too short to be looked for, is noted: it may be misspelt.
    """
    environ = context.environ or {}
    agent = target.target if target else None
    judges = [inner.grader for spec in graders for inner in spec.with_parts]
    variables = {name for plugin in (agent, *judges) for name in _key_variables(plugin)}
    for name, at in named.items():
        if problem := _problem(name, environ):
            context.findings.note(at, problem, "its value is not looked for")
    values = (environ.get(name, "").strip() for name in (*named, *sorted(variables)))
    return tuple(dict.fromkeys(value for value in (*_in_clear(agent), *values) if value))


def _problem(name: str, environ: Mapping[str, str]) -> str:
    if name not in environ:
        return f"the environment variable {name} is not set"
    return "" if Secrets([environ[name]]) else f"the value of {name} is too short for a secret"


def _in_clear(agent: Any) -> Iterator[str]:
    key = getattr(agent, "api_key", None)
    others = getattr(agent, "secrets", None) or ()
    values = (key, *(others.values() if isinstance(others, Mapping) else others))
    return (word for value in values if isinstance(value, str) for word in value.split())


def _key_variables(plugin: Any) -> Iterator[str]:
    """Return the variables that hold keys, of a plug-in and of what its options are made of."""
    if not dataclasses.is_dataclass(plugin):
        return
    for option in dataclasses.fields(plugin):
        value = getattr(plugin, option.name, None)
        if option.name == _KEY_VARIABLE and isinstance(value, str):
            yield str(value)
        elif dataclasses.is_dataclass(value):
            yield from _key_variables(value)
