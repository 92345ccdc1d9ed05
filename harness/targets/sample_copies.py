"""Copies of samples, so that nothing an agent does to its sample reaches a grader."""

from typing import Any

from msgspec.structs import replace

from harness.types.samples import Sample

_MUTABLE = ("metadata", "extra_vars", "agent_args", "rubric_vars")


def own_copy(sample: Sample) -> Sample:
    """Return a sample whose lists and mappings are its own, however deep they are nested."""
    if not (
        sample.metadata
        or sample.extra_vars
        or sample.agent_args
        or sample.rubric_vars
        or sample.history
    ):
        return sample
    changes: dict[str, Any] = {
        name: _copy(value) for name in _MUTABLE if (value := getattr(sample, name))
    }
    if sample.history:
        changes["history"] = tuple(map(_copy, sample.history))
    return replace(sample, **changes)


def _copy(value: Any) -> Any:
    """Copy lists and mappings without recursion; anything else is not changed by anybody."""
    top = [value]
    waiting: list[Any] = [top]
    while waiting:
        holder = waiting.pop()
        places = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, inner in list(places):
            if isinstance(inner, list | dict):
                holder[key] = inner.copy()
                waiting.append(holder[key])
    return top[0]
