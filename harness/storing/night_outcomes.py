"""What one run says of its samples, read from its outcomes without the trajectories."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.storing.counted_outcomes import CountedOutcomes
from harness.storing.counted_trials import TrialHead, name_hash, unplanned_hashes
from harness.storing.log_pieces import UNDECODABLE
from harness.storing.manifests import Manifest, read_manifest
from harness.storing.outcome_seals import is_sealed
from harness.storing.run_folders import OUTCOMES, SUMMARY
from harness.system.hashing import sha256_of
from harness.types.errors import StoreError
from harness.types.trials import ERROR_STATUSES, INTERRUPTED, Outcome

_DIGITS = 16


@dataclass(slots=True)
class SampleNight:
    """One sample on one model in one run: how many trials passed, failed, and ended in an error.

    `given` hashes what the agent was given, `judged` by what its trials are judged, where one was
    graded to its end, else it is empty. Both have 16 hex digits.
    """

    given: str
    judged: str = ""
    passes: int = 0
    failures: int = 0
    errors: int = 0

    @property
    def key(self) -> str:
        """Return both hashes as one, of 16 hex digits."""
        return _short_hash(self.given, self.judged)

    def is_like(self, other: "SampleNight") -> bool:
        """Say whether trials of both nights are of one kind, as far as is known."""
        judges = {self.judged, other.judged} - {""}
        return self.given == other.given and len(judges) <= 1

    @property
    def trials(self) -> int:
        """Count the trials that have an outcome."""
        return self.passes + self.failures + self.errors


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRecord:
    """A run as a night: its manifest, and by model and id its samples.

    `complete` says that it can be judged, None where it was killed and nobody has said.
    """

    folder: Path
    manifest: Manifest
    models: Mapping[str, Mapping[str, SampleNight]]
    complete: bool | None = None


class _Short(TrialHead, frozen=True, kw_only=True):
    """What of an outcome a history needs; `grade_keys` stay as they are written."""

    passed: bool | None = None
    sample_key: str = ""
    grade_keys: msgspec.Raw = msgspec.Raw(b"{}")


class _ModelCount(msgspec.Struct, frozen=True):
    trials: int
    passed: int


class _Totals(msgspec.Struct, frozen=True):
    complete: bool
    models: dict[str, _ModelCount]


_shorts = msgspec.json.Decoder(_Short)
_wholes = msgspec.json.Decoder(Outcome)
_totals = msgspec.json.Decoder(_Totals)
_keys = msgspec.json.Decoder(dict[str, str])
_encode = msgspec.json.Encoder().encode
_sorted = msgspec.json.Encoder(order="sorted").encode


def read_night(folder: Path, manifest: Manifest | None = None) -> NightRecord:
    """Read a run as a night; its manifest is read too, if it is not given.

    The outcomes of a run that ended in order are read alone; where they are behind, as a kill
    leaves them, were changed, or are of an older version, they are made from its trials. The order
    of the lines changes nothing.

    Raises:
        StoreError: the run cannot be read.
    """
    manifest = manifest or read_manifest(folder)
    totals = _read_totals(folder)
    alone = _outcomes_alone(folder, totals) if totals is not None else None
    rebuilt = () if alone is not None else (one for _, one in CountedOutcomes(folder))
    outcomes = map(_shortened, rebuilt) if alone is None else alone
    return NightRecord(
        folder=folder,
        manifest=manifest,
        models=_by_model(outcomes, manifest),
        complete=None if totals is None else totals.complete,
    )


def whole_outcomes(folder: Path) -> Iterable[Outcome]:
    """Return the outcomes of a run that count, read as `read_night` reads them, in any order.

    Raises:
        StoreError: the run cannot be read.
    """
    totals = _read_totals(folder)
    alone = _outcomes_alone(folder, totals) if totals is not None else None
    if alone is None:
        return (one for _, one in CountedOutcomes(folder))
    return _wholly(folder, {(one.sample_id, one.model, one.epoch): one.revision for one in alone})


def _wholly(folder: Path, counted: dict[tuple[str, str, int], int]) -> Iterator[Outcome]:
    """Read the outcomes with these names and revisions; one at a time, for many are slow to keep.

    Of lines alike the last one counts.
    """
    for line in reversed((folder / OUTCOMES).read_bytes().splitlines()):
        one = _wholes.decode(line)
        name = (one.sample_id, one.model, one.epoch)
        if counted.get(name) == one.revision:
            del counted[name]
            yield one


def _read_totals(folder: Path) -> _Totals | None:
    """Return how many trials the summary counted; None where the run was killed before it."""
    try:
        return _totals.decode((folder / SUMMARY).read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        place = str(folder / SUMMARY)
        raise StoreError(f"cannot read: {error.strerror}", place=place) from error
    except msgspec.MsgspecError as error:
        raise StoreError(f"no summary: {error}", place=str(folder / SUMMARY)) from error


def _outcomes_alone(folder: Path, totals: _Totals) -> list[_Short] | None:
    """Return the outcomes that count; None where they are not those that the summary counted."""
    try:
        text = (folder / OUTCOMES).read_bytes()
        if not all(map(is_sealed, text.splitlines())):
            return None
        found = _shorts.decode_lines(text)
    except (OSError, *UNDECODABLE):
        return None
    unplanned = unplanned_hashes(folder)
    counted = [one for one in _newest(found) if one.status != INTERRUPTED]
    if unplanned:
        counted = [one for one in counted if name_hash(one) not in unplanned]
    return counted if _is_level(counted, totals) else None


def _newest(found: list[_Short]) -> Collection[_Short]:
    """Return the highest revision of each trial."""
    if any(one.revision for one in found):
        found.sort(key=attrgetter("revision"))
    return {(one.sample_id, one.model, one.epoch): one for one in found}.values()


def _is_level(counted: Collection[_Short], totals: _Totals) -> bool:
    """Say whether these are the trials that the summary counted."""
    models = totals.models.values()
    passed = sum(one.passed is True for one in counted)
    return (len(counted), passed) == (
        sum(model.trials for model in models),
        sum(model.passed for model in models),
    )


def _shortened(outcome: Outcome) -> _Short:
    return _Short(
        outcome.sample_id,
        outcome.model,
        outcome.epoch,
        status=outcome.status,
        passed=outcome.passed,
        sample_key=outcome.sample_key,
        grade_keys=msgspec.Raw(_encode(outcome.grade_keys)),
    )


def _by_model(outcomes: Iterable[_Short], manifest: Manifest) -> dict[str, dict[str, SampleNight]]:
    models: dict[str, dict[str, SampleNight]] = {name: {} for name in manifest.models}
    rule = _rule_of(manifest.judging)
    for one in outcomes:
        samples = models.setdefault(one.model, {})
        sample = samples.get(one.sample_id)
        if sample is None:
            sample = samples[one.sample_id] = SampleNight(one.sample_key)
        _count(sample, one)
        if not sample.judged and one.status == "completed":
            sample.judged = _judged(bytes(one.grade_keys), rule)
    return {name: dict(sorted(samples.items())) for name, samples in models.items()}


def _count(sample: SampleNight, one: _Short) -> None:
    if one.status in ERROR_STATUSES:
        sample.errors += 1
    elif one.passed is True:
        sample.passes += 1
    elif one.status != "completed" or one.passed is not None:
        sample.failures += 1


class _Rule(NamedTuple):
    """The rule by which a trial passes, as JSON, and the graders that only observe."""

    text: str
    observed: frozenset[str]


def _rule_of(judging: Mapping[str, Any] | None) -> _Rule:
    judging = judging or {}
    graders: dict[str, Any] = judging.get("graders", {})
    observed = frozenset(name for name, of in graders.items() if of.get("role") == "observed")
    deciding = {name: of for name, of in graders.items() if name not in observed}
    return _Rule(_sorted({**judging, "graders": deciding}).decode(), observed)


def outcome_key(outcome: Outcome, judging: Mapping[str, Any] | None) -> str:
    """Return what `SampleNight.key` is for an outcome that was graded to its end.

    `judging` is the rule of the run's manifest by which its trials pass.
    """
    judged = _judged(_encode(outcome.grade_keys), _rule_of(judging))
    return SampleNight(outcome.sample_key, judged).key


@lru_cache(maxsize=65_536)
def _judged(grade_keys: bytes, rule: _Rule) -> str:
    """Hash what decides whether a trial of a sample passes."""
    keys = _keys.decode(grade_keys)
    deciding = {name: key for name, key in keys.items() if name not in rule.observed}
    return _short_hash(deciding, rule.text)


def _short_hash(*values: object) -> str:
    return sha256_of(*values).removeprefix("sha256:")[:_DIGITS]
