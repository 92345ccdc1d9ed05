"""Keys of grades: a stored grade holds as long as its key is that of the grader and the sample."""

import hashlib
from functools import lru_cache
from typing import Any

import msgspec

from harness.grading.plugin_versions import release_of
from harness.system.json_values import scrub_json
from harness.types.code import CustomExtractor, CustomGrader
from harness.types.samples import Sample
from harness.types.suites import GraderSpec

_FIELDS = frozenset(Sample.__struct_fields__) - {"graders"}
_KEYED = ("ground_truth", "rubric_vars")
_NO_PLUGINS = (CustomGrader, CustomExtractor, type(None))
_encode = msgspec.json.Encoder(order="sorted", enc_hook=repr).encode


def grade_key(spec: GraderSpec, sample: Sample) -> str:
    """Hash what a grade comes from, the trajectory aside: the grader and what it sees of a sample.

    A grader sees the whole sample, unless its `uses` names the fields that it uses beside the
    ground truth and the rubric variables; and the prompts, where they are graded turn by turn.
    """
    kinds = _kinds(spec)
    if spec.parts:
        kinds += tuple(kind for part in spec.with_parts[1:] for kind in _kinds(part))
    prepared, seen = _prepared(spec.fingerprint, spec.turn, spec.threshold, kinds)
    digest = prepared.copy()
    fields = [getattr(sample, name) for name in seen]
    digest.update(_json([fields, sample.input] if type(sample.ground_truth) is tuple else fields))
    return f"sha256:{digest.hexdigest()}"


def _kinds(spec: GraderSpec) -> tuple[type, ...]:
    return type(spec.grader), type(spec.extractor)


@lru_cache(maxsize=1024)
def _prepared(
    fingerprint: str, turn: int | None, threshold: float, kinds: tuple[type, ...]
) -> tuple[Any, tuple[str, ...]]:
    """Return the hash of all but the sample, and the names of the fields that count."""
    # The code of a function of the suite is in the fingerprint; that of a plug-in has a version.
    releases = [release_of(kind) for kind in kinds if kind not in _NO_PLUGINS]
    uses = getattr(kinds[0], "uses", None)
    narrow = isinstance(uses, tuple) and _FIELDS.issuperset(uses)
    seen = tuple(sorted({*_KEYED, *(uses or ())} if narrow else _FIELDS))
    return hashlib.sha256(_json([fingerprint, turn, threshold, releases, seen])), seen


def _json(values: list[Any]) -> bytes:
    try:
        return _encode(values)
    except UnicodeEncodeError:
        return _encode(scrub_json(values))
