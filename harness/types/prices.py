"""What a model costs, and who knows it."""

from dataclasses import dataclass, field
from typing import Protocol

from harness.types.trajectories import Usage

_MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What tokens of a model cost, in US dollars a million.

    `cached_input_per_million_usd` is the price of input that the provider had in its cache; without
    it such input costs as any other.
    """

    input_per_million_usd: float = field(metadata={"ge": 0, "le": _MOST})
    output_per_million_usd: float = field(metadata={"ge": 0, "le": _MOST})
    cached_input_per_million_usd: float | None = field(
        default=None, metadata={"ge": 0, "le": _MOST}
    )


class PriceList(Protocol):
    """Knows what models cost."""

    def priced(self, model: str, usage: Usage, url: str | None, /) -> Usage:
        """Return the usage with its cost, as far as that is known.

        `url` is the address that was asked, None for where the model's name points.
        """
        ...


class NoPrices:
    """Knows no prices."""

    def priced(self, _model: str, usage: Usage, _url: str | None, /) -> Usage:
        """Return the usage as it is."""
        return usage
