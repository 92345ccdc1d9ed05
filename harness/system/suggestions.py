"""What the author may have meant: names that are close to a name that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.65
_MOST_LISTED = 30


def find_close(name: str, names: Iterable[str], *, cutoff: float = _CLOSE) -> str | None:
    """Return the known name that is closest to `name`, case aside; None where none is close.

    `cutoff` is how close it must be, in 0..1, as `difflib` measures it.
    """
    by_lower = {_plain(known): known for known in names}
    close = get_close_matches(_plain(name), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def suggest(name: str, names: Iterable[str]) -> str:
    """Say what is allowed in place of `name`: the close name, else the list of all."""
    known = sorted(set(names))
    if close := find_close(name, known):
        return f'did you mean "{close}"?'
    return list_names(known)


def list_names(names: Iterable[str]) -> str:
    """List the names that are allowed."""
    known = list(names)
    if not known:
        return "there are none"
    more = f", and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    return f"allowed: {', '.join(known[:_MOST_LISTED])}{more}"
