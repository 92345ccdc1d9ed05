"""The verdicts that a run got as it ended, read from its `comparison.json` without its samples."""

from pathlib import Path

import msgspec

from harness.storing.run_folders import COMPARISON
from harness.types.errors import StoreError
from harness.types.verdicts import Verdict


class _Verdict(msgspec.Struct):
    verdict: Verdict


class _Side(msgspec.Struct):
    model: str = ""


class StoredVerdict(msgspec.Struct):
    """The verdict on one model of a run."""

    verdict: _Verdict
    candidate: _Side = msgspec.field(default_factory=_Side)


class StoredVerdicts(msgspec.Struct):
    """What came of comparing a run as it ended; `problems` say why it could not be compared."""

    comparisons: tuple[StoredVerdict, ...] = ()
    problems: tuple[str, ...] = ()


_decoder = msgspec.json.Decoder(StoredVerdicts)


def stored_verdicts(folder: Path) -> StoredVerdicts | None:
    """Return the verdicts that a run got; None where it was not compared.

    Raises:
        StoreError: its comparison cannot be read.
    """
    path = folder / COMPARISON
    try:
        return _decoder.decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"no comparison of Regrade: {error}", place=str(path)) from error
