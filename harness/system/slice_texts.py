"""Values by which samples are sliced, as texts."""

from typing import Any

from harness.system.json_values import compact_json
from harness.system.texts import cut

_LONGEST = 200


def slice_text(value: Any) -> str:
    """Return a value as the name of a slice: a text as it is, all else as JSON; cut to 200."""
    return cut(value if isinstance(value, str) else compact_json(value), _LONGEST)
