"""Keys of grades: a stored grade holds as long as its key is that of the grader and the sample."""

import hashlib
from functools import lru_cache
from typing import Any

import msgspec

from harness.system.json_values import scrub_json
from harness.types.code import CustomGrader
from harness.types.samples import Sample
from harness.types.suites import GraderSpec

_encode = msgspec.json.Encoder(order="sorted").encode


def grade_key(spec: GraderSpec, sample: Sample) -> str:
    """Hash what a grade comes from, the trajectory aside: the grader and what it sees of a sample.

    A built-in grader sees the ground truth and the rubric variables, and the prompts where they
    are graded turn by turn. A custom function sees the whole sample.
    """
    digest = _prepared(spec.fingerprint, spec.turn, spec.threshold).copy()
    if isinstance(spec.grader, CustomGrader):
        seen = _whole(sample)
    elif isinstance(sample.ground_truth, tuple):
        seen = [sample.ground_truth, sample.rubric_vars, sample.input]
    else:
        seen = [sample.ground_truth, sample.rubric_vars]
    digest.update(_json(seen))
    return f"sha256:{digest.hexdigest()}"


@lru_cache(maxsize=1024)
def _prepared(fingerprint: str, turn: int | None, threshold: float) -> Any:
    return hashlib.sha256(_json([fingerprint, turn, threshold]))


def _whole(sample: Sample) -> list[Any]:
    fields = [name for name in Sample.__struct_fields__ if name != "graders"]
    return [getattr(sample, name) for name in fields]


def _json(values: list[Any]) -> bytes:
    try:
        return _encode(values)
    except UnicodeEncodeError:
        return _encode(scrub_json(values))
