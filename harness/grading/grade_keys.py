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
    kinds = (type(spec.grader), type(spec.extractor))
    digest = _prepared(spec.fingerprint, spec.turn, spec.threshold, kinds).copy()
    seen = _seen(kinds, isinstance(sample.ground_truth, tuple))
    digest.update(_json([getattr(sample, name) for name in seen]))
    return f"sha256:{digest.hexdigest()}"


@lru_cache(maxsize=1024)
def _prepared(fingerprint: str, turn: int | None, threshold: float, kinds: tuple[type, ...]) -> Any:
    # The code of a function of the suite is in the fingerprint; that of a plug-in has a version.
    releases = [release_of(kind) for kind in kinds if kind not in _NO_PLUGINS]
    return hashlib.sha256(_json([fingerprint, turn, threshold, releases]))


@lru_cache(maxsize=256)
def _seen(kinds: tuple[type[Any], ...], by_turn: bool) -> tuple[str, ...]:  # noqa: FBT001  (a key of the cache)
    uses = getattr(kinds[0], "uses", None)
    if not isinstance(uses, tuple) or not _FIELDS.issuperset(uses):
        return tuple(sorted(_FIELDS))
    return tuple(sorted({*_KEYED, *uses, *(("input",) if by_turn else ())}))


def _json(values: list[Any]) -> bytes:
    try:
        return _encode(values)
    except UnicodeEncodeError:
        return _encode(scrub_json(values))
