"""What says on the last night that several samples regressed, whichever of them it was."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.measuring.sample_changes import Change
from harness.running.histories import accepted_night, judged_against
from harness.running.night_baselines import NightBaseline
from harness.running.night_series import Series, whole_change
from harness.running.night_verdicts import night_verdicts
from harness.running.own_verdicts import own_verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonFalls:
    """The nights (from 0) on which samples began to fail together, and in words what stands."""

    nights: frozenset[int]
    words: str


def common_falls(
    series: Series, baseline: NightBaseline, found: Sequence[Change]
) -> CommonFalls | None:
    """Return what speaks for a regression that no single sample need show; None for nothing.

    That is a night since which the samples together pass less often, one on which single samples
    began to fail, both later than the baseline, or that tonight is REGRESSED, nothing quarantined.
    """
    accepted, words = accepted_night(series, baseline.night), list[str]()
    nights = {one.night for one in found if one.fell and one.night > accepted}
    whole = whole_change(series)
    if whole is not None and whole.fell and whole.night - 1 > accepted:
        nights.add(whole.night - 1)
        words.append(f"the samples together pass less often since night {whole.night}")
    elif nights:
        words.append(f"samples have regressed on night {max(nights) + 1}")
    if _is_regressed(series, baseline):
        words.append("the last night is REGRESSED")
    return CommonFalls(nights=frozenset(nights), words=" and ".join(words)) if words else None


def _is_regressed(series: Series, baseline: NightBaseline) -> bool:
    against = judged_against(series, baseline)
    if against is None:
        return own_verdict(series.nights[-1].folder, series.model) == "regressed"
    # The last night is the only one that is asked for.
    last = night_verdicts(series.nights[-1:], against, ())
    return any(one is not None and one.verdict == "regressed" for one in last)
