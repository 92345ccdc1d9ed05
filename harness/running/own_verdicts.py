"""The verdict that a run got as it ended, against the baseline that it was given then."""

from pathlib import Path

import msgspec

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
