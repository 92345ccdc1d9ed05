"""Which samples are in quarantine: by the day, by what they are, and by how many may be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from harness.types.quarantines import QUARANTINE_SHARE, QuarantineEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineRuling:
    """The quarantined samples of one model, each with the day on which that ends.

    `ended` says in words which entries hold no longer or not yet, `beyond` which come after the
    limit and gate therefore.
    """

    limit: int
    in_force: Mapping[str, date]
    ended: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def quarantine_limit(samples: int) -> int:
    """Return how many of so many samples may be quarantined: a tenth."""
    return int(samples * QUARANTINE_SHARE + 1e-9)


def rule_quarantine(
    entries: Iterable[QuarantineEntry],
    model: str,
    keys: Mapping[str, str],
    today: date,
    *,
    samples: int | None = None,
) -> QuarantineRuling:
    """Say which entries are in force on a day, for one model whose samples have these keys.

    `samples` is how many the suite has, where `keys` are not those of all. An entry has ended on
    its day `ends`, and where its sample has another key or is gone. Of more entries than may be,
    the first ones in the file hold.
    """
    limit = quarantine_limit(len(keys) if samples is None else samples)
    in_force, ended, beyond = dict[str, date](), list[str](), list[str]()
    for entry in entries:
        if entry.model not in {None, model}:
            continue
        if why := _why_ended(entry, keys, today):
            ended.append(f"{entry.sample} ({why})")
        elif len(in_force) >= limit and entry.sample not in in_force:
            beyond.append(entry.sample)
        else:
            in_force[entry.sample] = entry.ends
    return QuarantineRuling(
        limit=limit, in_force=in_force, ended=tuple(ended), beyond=tuple(beyond)
    )


def _why_ended(entry: QuarantineEntry, keys: Mapping[str, str], today: date) -> str:
    if entry.ends <= today:
        return f"ended on {entry.ends}"
    if entry.since > today:
        return f"begins on {entry.since}"
    if entry.sample not in keys:
        return "no such sample any more"
    if entry.key is not None and keys[entry.sample] != entry.key:
        return "the sample or its graders have changed"
    return ""
