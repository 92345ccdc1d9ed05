"""Laws of nights: what cannot matter does not, and what is said of samples holds together."""

import random
import tempfile
from datetime import timedelta
from pathlib import Path

from fakes.stored_nights import FIRST, an_outcome, store_night
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.measuring.flip_forecasts import chance_of_worse
from harness.measuring.foresight import sight
from harness.measuring.night_standings import night_standings
from harness.measuring.sample_changes import sample_changes
from harness.running.histories import HistoryOptions, read_history

NIGHT = st.one_of(
    st.just((0, 0)), st.integers(1, 4).flatmap(lambda k: st.tuples(st.integers(0, k), st.just(k)))
).map(lambda counts: (counts[0], counts[1] - counts[0]))


@st.composite
def series(draw):
    """Make samples over as many nights each."""
    count = draw(st.integers(1, 25))
    nights = st.lists(NIGHT, min_size=count, max_size=count)
    return {f"s{n}": draw(nights) for n in range(draw(st.integers(1, 6)))}


@given(series())
def test_changes_have_trials_on_both_sides_and_truly_go_their_way(samples):
    for change in sample_changes(samples):
        nights = samples[change.sample_id]
        before, after = nights[change.start : change.night], nights[change.night : change.end]
        passes = [sum(night[0] for night in part) for part in (before, after)]
        trials = [sum(map(sum, part)) for part in (before, after)]
        assert min(trials) > 0
        assert (passes[0] / trials[0] > passes[1] / trials[1]) == change.fell


@given(series())
def test_turning_passes_into_failures_turns_falls_into_rises(samples):
    turned = {name: [(f, p) for p, f in nights] for name, nights in samples.items()}
    found = {(one.sample_id, one.night): one.fell for one in sample_changes(samples)}
    other = {(one.sample_id, one.night): one.fell for one in sample_changes(turned)}
    assert {place: not fell for place, fell in other.items()} == found


@given(series(), st.randoms(use_true_random=False))
def test_the_order_of_the_samples_changes_nothing(samples, chance):
    order = list(samples)
    chance.shuffle(order)
    shuffled = {name: samples[name] for name in order}
    assert sample_changes(shuffled) == sample_changes(samples)
    one = {s.standing.sample_id: s for s in night_standings(samples, sample_changes(samples))}
    other = {s.standing.sample_id: s for s in night_standings(shuffled, sample_changes(shuffled))}
    assert other == one


@given(st.floats(0, 1), st.integers(1, 6), st.integers(1, 6))
def test_worse_better_and_equal_are_all_that_can_be(rate, before, tonight):
    worse, better = (chance_of_worse(p, before, tonight) for p in (rate, 1 - rate))
    assert -1e-12 <= worse <= 1
    assert worse + better <= 1 + 1e-9


@settings(max_examples=30)
@given(st.integers(1, 150), st.integers(1, 5), st.floats(0, 0.5), st.floats(0.01, 0.5))
@example(samples=118, epochs=1, churn=0.0, detect=0.34375)
def test_a_plan_is_within_its_bounds(samples, epochs, churn, detect):
    found = sight(samples, epochs, churn=churn, detect=detect)
    assert 0 <= found.chance <= 1
    assert found.detectable is None or 0 < found.detectable <= 1
    assert found.samples_needed >= 1
    assert found.epochs_needed >= 1
    for of in found.verdicts:
        total = of.regressed + of.improved + of.no_worse + of.inconclusive
        assert abs(total - 1) < 1e-6


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_order_of_lines_in_outcomes_changes_nothing(seed):
    chance = random.Random(seed)
    rates = [chance.choice([1.0, 0.5, 0.0]) for _ in range(12)]
    nights = [
        [
            an_outcome(f"s{n}", chance.random() < rate, epoch)
            for n, rate in enumerate(rates)
            for epoch in range(2)
        ]
        for _ in range(6)
    ]
    found = []
    for mix in (lambda _: None, chance.shuffle):
        with tempfile.TemporaryDirectory() as folder:
            for number, outcomes in enumerate(nights):
                mix(outcomes)
                store_night(Path(folder) / "nights", number, outcomes)
            options = HistoryOptions(now=FIRST + timedelta(days=9), workspace=Path(folder))
            (model,) = read_history(Path(folder) / "nights", options).models
            samples = sorted(model.samples, key=lambda one: one.standing.sample_id)
            found.append((model.nights, model.counts, model.turns, model.flips, samples))
    assert found[0] == found[1]
