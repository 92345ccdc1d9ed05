"""What models cost: by the suite's `prices`, else what the provider says, else by genai-prices.

The package genai-prices is an extra (`prices`); its version, which is that of its price list,
stands in the manifest. A model is looked up by the address that is asked, or, where there is none,
by its name: `openai/gpt-4.1` names provider and model. What is not found has no price.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from harness.loading.target_entry import DEFAULT_MODEL
from harness.types.errors import Fault
from harness.types.prices import Price
from harness.types.suites import SCRIPTED, Suite
from harness.types.trajectories import Usage

_MILLION = 1_000_000
_Cost = Callable[[Usage], float | None]


class Prices:
    """The prices of a suite, and of the price list where that is installed."""

    def __init__(self, of_suite: Mapping[str, Price]) -> None:
        self._of_suite = of_suite
        self._listed: dict[tuple[str, str | None], _Cost | None] = {}
        self._known: dict[str, list[int]] = {}

    def knows(self, model: str, url: str | None) -> bool:
        """Say whether a model has a price."""
        return model in self._of_suite or self._listed_cost(model, url) is not None

    def priced(self, model: str, usage: Usage, url: str | None, /) -> Usage:
        """Return a usage with its cost, where the tokens and the price are known."""
        cost = self._cost(model, usage, url)
        counts = self._known.setdefault(model, [0, 0])
        counts[cost is None] += 1
        same = cost is None or cost == usage.cost_usd
        return usage if same else msgspec.structs.replace(usage, cost_usd=cost)

    def estimated(self, model: str, usage: Usage, url: str | None) -> Usage:
        """Return a usage of before, with its cost where that was not known and now is."""
        if usage.cost_usd is not None:
            return usage
        return msgspec.structs.replace(usage, cost_usd=self._cost(model, usage, url))

    def _cost(self, model: str, usage: Usage, url: str | None) -> float | None:
        price = self._of_suite.get(model)
        if price is not None:
            return cost_of(price, usage)
        if usage.cost_usd is not None:
            return usage.cost_usd
        listed = self._listed_cost(model, url)
        return None if listed is None else listed(usage)

    def _listed_cost(self, model: str, url: str | None) -> _Cost | None:
        if (model, url) not in self._listed:
            self._listed[model, url] = _find_listed(model, url)
        return self._listed[model, url]

    def remarks(self) -> Iterator[str]:
        """Return for each model whose costs are known in part only that they are more."""
        for model, (known, unknown) in self._known.items():
            if known and unknown:
                yield (
                    f"{model}: {unknown} of {known + unknown} replies do not say what they used; "
                    "the cost of the run is that of the others, and in truth higher"
                )


def cost_of(price: Price, usage: Usage) -> float | None:
    """Return what a usage costs in US dollars; None where its tokens are not known."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = usage.cached_input_tokens
    of_cache = price.cached_input_per_million_usd
    known_cached = min(cached, usage.input_tokens) if isinstance(cached, int) else 0
    kept = known_cached if of_cache is not None else 0
    total = (
        (usage.input_tokens - kept) * price.input_per_million_usd
        + kept * (of_cache or 0.0)
        + usage.output_tokens * price.output_per_million_usd
    )
    return total / _MILLION


def price_faults(suite: Suite, models: tuple[str, ...]) -> Iterator[Fault]:
    """Return a fault for each model, judges included, without the price that a limit needs."""
    if suite.limits.max_cost_usd is None:
        return
    prices = Prices(suite.prices)
    url = getattr(suite.target.target, "url", None) if suite.target else None
    agents = [(model, url) for model in models]
    specs = (inner for whole in suite.graders for inner in whole.with_parts)
    judges: list[Any] = [getattr(spec.grader, "judge_model", None) for spec in specs]
    for model, address in dict.fromkeys([*agents, *filter(None, judges)]):
        if not prices.knows(model, address):
            yield _unpriced(suite, model)


def _unpriced(suite: Suite, model: str) -> Fault:
    wanted = f'`prices: {{"{model}": {{input_per_million_usd: …, output_per_million_usd: …}}}}`'
    listed = "" if model.startswith(SCRIPTED) else ", or a model that the extra `prices` knows"
    line, column = suite.cost_limit_at
    return Fault(
        file=str(suite.source or suite.name),
        line=line,
        column=column,
        path="limits.max_cost_usd",
        problem=f'it cannot be kept, for the price of "{model}" is not known',
        allowed=f"{wanted} in the suite{listed}",
    )


def _find_listed(model: str, url: str | None) -> _Cost | None:
    if model.startswith(SCRIPTED) or model == DEFAULT_MODEL:
        return None
    try:
        # An extra; and its list takes a good part of a second to load.
        from genai_prices import data_snapshot  # noqa: PLC0415
    except ImportError:
        return None
    provider, _, name = model.rpartition("/")
    place = (model, None, None, url) if url else (name, None, provider or None, None)
    try:
        found = data_snapshot.get_snapshot().find_provider_model(*place)
    except LookupError:
        return None
    return partial(_listed_cost, *found)


def _listed_cost(provider: Any, model: Any, usage: Usage) -> float | None:
    from genai_prices import Usage as Tokens  # noqa: PLC0415  (an extra)

    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = usage.cached_input_tokens
    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(cached, usage.input_tokens) if isinstance(cached, int) else None,
    )
    return float(model.calc_price(tokens, provider).total_price)
