"""A sample as functions of letta-evals see it."""

from copy import deepcopy
from typing import Any

from harness.shims.eval_models import Sample as LettaSample
from harness.types.samples import Sample


def letta_sample(sample: Sample) -> LettaSample:
    """Return the sample as a record of its own, whose changes reach nobody.

    Its `id` is a number where it reads as one (`7`, not `07`), as the row numbers and numeric ids
    of letta-evals are; empty mappings are None, as fields that a row leaves out are there.
    """
    # Constructed without checks: the values come from a sample that was read already.
    return LettaSample.model_construct(
        id=_id(sample.id),
        input=_texts(sample.input),
        ground_truth=_texts(sample.ground_truth),
        agent_args=_copy(sample.agent_args),
        rubric_vars=_copy(sample.rubric_vars),
        extra_vars=_copy(sample.extra_vars),
        rubric=sample.rubric,
        rubric_path=None,
    )


_MOST_DIGITS = 18


def _id(text: str) -> int | str:
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_number and str(int(text)) == text else text


def _texts(value: str | tuple[str, ...] | None) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _copy(values: dict[str, Any]) -> dict[str, Any] | None:
    return deepcopy(values) if values else None
