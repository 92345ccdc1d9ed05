"""The verdict that a run got as it ended, against the baseline that it was given then."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness.storing.night_outcomes import NightRecord
from harness.storing.run_folders import COMPARISON
from harness.types.errors import StoreError
from harness.types.verdicts import SUITE_ORDER, Verdict


class _Verdict(msgspec.Struct):
    verdict: Verdict


class _Side(msgspec.Struct):
    model: str


class _Compared(msgspec.Struct):
    candidate: _Side
    verdict: _Verdict


class _AllCompared(msgspec.Struct):
    """What of `comparison.json` says how a run did; the rest, such as its samples, is not read."""

    comparisons: tuple[_Compared, ...] = ()


_decoder = msgspec.json.Decoder(_AllCompared)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnVerdicts:
    """The verdicts that runs got as they ended, by run id, and why some cannot be read."""

    verdicts: Mapping[str, Verdict]
    warnings: tuple[str, ...] = ()


def own_verdicts(nights: Iterable[NightRecord], model: str) -> OwnVerdicts:
    """Return the verdicts on a model of those nights that were compared."""
    verdicts, warnings = dict[str, Verdict](), list[str]()
    for night in nights:
        try:
            verdict = own_verdict(night.folder, model)
        except StoreError as error:
            warnings.append(error.line)
        else:
            verdicts |= {night.manifest.run_id: verdict} if verdict else {}
    return OwnVerdicts(verdicts=verdicts, warnings=tuple(warnings))


def own_verdict(folder: Path, model: str) -> Verdict | None:
    """Return the gravest verdict on a model of a run; None where it was not compared.

    Raises:
        StoreError: its comparison cannot be read.
    """
    path = folder / COMPARISON
    try:
        found = _decoder.decode(path.read_bytes()).comparisons
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"no comparison of Regrade: {error}", place=str(path)) from error
    own = [one.verdict.verdict for one in found if one.candidate.model == model]
    return next((verdict for verdict in SUITE_ORDER if verdict in own), None)
