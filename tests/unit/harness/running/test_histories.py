import json
import random
from datetime import date, timedelta

import msgspec
import pytest
from fakes.stored_nights import FIRST, Truth, a_manifest, an_outcome, store_night, store_nights

from harness.loading.quarantine_files import write_quarantine
from harness.measuring.suite_verdicts import judge_runs
from harness.reports.history_text import history_text
from harness.running import compared_sides
from harness.running.compared_metrics import MetricChoice, chosen_metrics, metric_pairs
from harness.running.compared_sides import ComparedSide
from harness.running.histories import HistoryOptions, read_history
from harness.storing.baseline_files import Pin, export_baseline, pin_baseline
from harness.storing.manifests import write_manifest
from harness.storing.night_outcomes import whole_outcomes
from harness.types.errors import InputError
from harness.types.nights import History
from harness.types.quarantines import QuarantineEntry
from harness.types.trajectories import Usage


@pytest.fixture
def history(tmp_path):
    """Give a function that reads the history of tmp_path/nights, ten days after the last night."""
    nights, workspace = tmp_path / "nights", tmp_path / "workspace"
    workspace.mkdir()

    def read(**options):
        now = FIRST + timedelta(days=100)
        return read_history(nights, HistoryOptions(now=now, workspace=workspace, **options))

    return read


def night(folder, number, failing=(), *, samples=20, epochs=3, **fields):
    """Store a night on which only the failing samples fail."""
    names = [f"s{n}" for n in range(samples)]
    outcomes = [an_outcome(name, name not in failing, k) for k in range(epochs) for name in names]
    return store_night(folder / "nights", number, outcomes, **fields)


def pin(folder, run):
    pin_baseline(folder / "nights", "nightly", Pin(run=run.name, set_at=FIRST))


def states(model, state):
    return {one.standing.sample_id for one in model.samples if one.standing.state == state}


def test_ninety_nights_show_what_was_planted_and_nothing_else(tmp_path, history):
    truth = Truth()
    store_nights(tmp_path / "nights", truth)
    (model,) = history().models
    assert [(turn.night, turn.fell) for turn in model.turns] == [(truth.regressed_on, True)]
    assert {one.sample_id for one in model.turns[0].samples} == truth.regressed
    assert states(model, "regressed") == truth.regressed
    assert states(model, "flaky") == truth.flaky
    assert {one.since for one in model.samples if one.standing.state == "regressed"} == {60}
    assert states(model, "fixed") == states(model, "new") == set()
    assert model.whole is None
    assert model.alarms


@pytest.mark.parametrize("seed", range(2, 6))
def test_steady_and_flaky_samples_alone_show_no_change(tmp_path, history, seed):
    flaky = frozenset({"task-7", "task-80"})
    truth = Truth(nights=40, samples=100, steady=(1.0, 0.0), regressed=frozenset(), flaky=flaky)
    store_nights(tmp_path / "nights", truth, seed)
    (model,) = history().models
    assert model.turns == ()
    assert states(model, "flaky") == truth.flaky
    assert states(model, "regressed") == states(model, "fixed") == set()
    assert not model.alarms


def test_nights_have_rates_with_intervals_and_what_changed(tmp_path, history):
    night(tmp_path, 1)
    night(tmp_path, 2, {"s1"}, drive_key="sha256:other", git_commit="0123456789abcdef")
    first, second = history().models[0].nights
    assert (first.rate.value, first.passed, first.trials, first.changes) == (1.0, 60, 60, ())
    assert second.rate.value == pytest.approx(0.95)
    assert second.rate.low < 0.95 < second.rate.high
    assert second.changes == ("target", "commit none to 0123456789")
    assert (second.number, second.complete, second.verdict) == (2, True, None)


def test_an_outage_regresses_no_sample(tmp_path, history):
    for number in range(1, 9):
        night(tmp_path, number)
    names = [f"s{n}" for n in range(20)]
    store_night(
        tmp_path / "nights", 9, [an_outcome(one, None, k) for k in range(3) for one in names]
    )
    (model,) = history().models
    assert model.nights[-1].errors == 60
    assert model.nights[-1].rate.value is None
    assert model.counts == {"stable_pass": 20}
    assert model.turns == ()


def test_tonight_is_judged_against_the_pinned_baseline(tmp_path, history):
    runs = [night(tmp_path, 1), night(tmp_path, 2), night(tmp_path, 3, {"s1", "s2", "s3"})]
    pin(tmp_path, runs[1])
    (model,) = history().models
    assert [one.verdict for one in model.nights] == [None, None, "regressed"]
    assert [one.is_baseline for one in model.nights] == [False, True, False]
    assert model.verdict.stage == "suspected"
    assert model.baseline == runs[1].name
    assert model.baseline_days == 98
    assert model.alarms


def test_a_baseline_may_lie_elsewhere_or_in_a_file(tmp_path, history):
    other = night(tmp_path / "other", 1)
    for number in (2, 3):
        night(tmp_path, number, {"s1", "s2", "s3"} if number == 3 else ())
    export_baseline(other, tmp_path / "base.zip")
    for given in (other, tmp_path / "base.zip"):
        (model,) = history(baseline=str(given), margin=0.05).models
        assert [one.verdict for one in model.nights] == ["no_worse", "regressed"]


def test_graders_that_differ_from_the_baselines_make_it_invalid(tmp_path, history):
    pin(tmp_path, night(tmp_path, 1))
    names = [f"s{n}" for n in range(20)]
    keys = {"right": "f" * 16}
    store_night(tmp_path / "nights", 2, [an_outcome(one, True, grade_keys=keys) for one in names])
    (model,) = history().models
    assert model.verdict.verdict == "invalid"
    assert "regrade compare" in model.verdict.reason
    assert states(model, "new") == set(names)


def test_a_change_that_the_baseline_has_is_no_news(tmp_path, history):
    runs = [night(tmp_path, n, {"s1"} if n > 10 else ()) for n in range(1, 21)]
    assert states(history().models[0], "regressed") == {"s1"}
    pin(tmp_path, runs[14])
    (model,) = history().models
    assert states(model, "regressed") == set()
    assert not model.alarms
    assert model.counts["stable_fail"] == 1


def test_quarantined_samples_do_not_decide_the_verdict_and_still_alarm(tmp_path, history):
    failing = {f"s{n}" for n in range(5)}
    for number in range(1, 9):
        run = night(tmp_path, number, samples=50)
        if number == 1:
            pin(tmp_path, run)
    night(tmp_path, 9, failing, samples=50, epochs=1)
    path = tmp_path / "quarantine.yaml"
    end = (FIRST + timedelta(days=110)).date()
    entries = [QuarantineEntry(sample=one, since=date(2031, 1, 1), ends=end) for one in failing]
    write_quarantine(path, [*entries, QuarantineEntry(sample="s9", since=end, ends=end)])
    assert history().models[0].verdict.verdict == "regressed"
    found = history(quarantine=path)
    (model,) = found.models
    assert model.verdict.verdict == "inconclusive"
    assert {
        one.quarantined_until for one in model.samples if one.standing.sample_id in failing
    } == {end}
    assert set(found.quarantines[0].in_force) == failing
    assert found.quarantines[0].limit == 5
    assert len(found.quarantines[0].ended) == 1


def test_runs_that_are_no_nights_are_named(tmp_path, history):
    night(tmp_path, 1)
    again = night(tmp_path, 2)
    write_manifest(again, a_manifest(again.name, 2, graded_from="the first one"))
    broken = night(tmp_path, 3)
    (broken / "manifest.json").write_text("{", encoding="utf-8")
    empty = night(tmp_path, 4)
    (empty / "outcomes.jsonl").write_bytes(b"")
    (empty / "trials.jsonl").write_bytes(b"")
    found = history()
    assert len(found.models[0].nights) == 1
    assert [one.run for one in found.left_out] == [again.name, broken.name, empty.name]
    assert "graded the first one again" in found.left_out[0].reason
    assert "holds no trial" in found.left_out[2].reason


def test_suites_and_models_have_histories_of_their_own(tmp_path, history):
    night(tmp_path, 1)
    both = [an_outcome("a", True, model=model) for model in ("m", "other")]
    store_night(tmp_path / "nights", 2, both, suite="second")
    models = history().models
    assert [(one.suite, one.model) for one in models] == [
        ("nightly", "m"), ("second", "m"), ("second", "other"),
    ]  # fmt: skip
    assert [one.model for one in history(suite="second", model="other").models] == ["other"]


def test_only_the_last_nights_are_looked_at_where_so_many_are_asked_for(tmp_path, history):
    for number in range(1, 6):
        night(tmp_path, number)
    assert [one.started_at.day for one in history(nights=2).models[0].nights] == [7, 8]


def test_samples_that_are_gone_are_not_shown_and_a_selected_run_hides_none(tmp_path, history):
    night(tmp_path, 1, samples=20)
    night(tmp_path, 2, samples=18)
    outcomes = [an_outcome("s1", True, k) for k in range(3)]
    store_night(tmp_path / "nights", 3, outcomes, selection={"ids": ["s1"], "tags": []})
    (model,) = history().models
    assert sum(model.counts.values()) == 18


def test_runs_of_a_part_of_the_samples_are_no_nights_beside_whole_ones(tmp_path, history):
    night(tmp_path, 1)
    for number in (2, 3):
        store_night(tmp_path / "nights", number, [an_outcome("s1", True)], narrowed={"ids": ["s1"]})
    found = history()
    assert [len(one.nights) for one in found.models] == [1]
    assert {one.reason for one in found.left_out} == {"it took a part of the samples: --sample s1"}


def test_a_baseline_that_took_a_part_of_the_samples_is_said_to_have(tmp_path, history):
    for number in (1, 3):
        night(tmp_path, number)
    part = store_night(tmp_path / "nights", 2, [an_outcome("s1", True)], narrowed={"ids": ["s1"]})
    (model,) = history(baseline=str(part)).models
    assert model.warnings[0] == "the baseline took a part of the samples: --sample s1"


def test_runs_that_all_took_the_same_part_are_nights(tmp_path, history):
    for number, tag in enumerate(("smoke", "smoke", "other")):
        store_night(tmp_path / "nights", number, [an_outcome("s1", True)], narrowed={"tags": [tag]})
    found = history()
    assert [len(one.nights) for one in found.models] == [2]
    assert [one.reason.rpartition(": ")[2] for one in found.left_out] == ["--tag other"]


def test_all_samples_together_falling_a_little_is_said(tmp_path, history):
    def outcomes(share):
        names = [f"s{n}" for n in range(300)]
        return [
            an_outcome(name, (n * 7 + k * 3) % 20 >= share, k)
            for n, name in enumerate(names)
            for k in range(2)
        ]

    for number in range(1, 11):
        store_night(tmp_path / "nights", number, outcomes(2 if number < 7 else 5))
    (model,) = history().models
    whole = model.whole or model.turns[0]
    assert (whole.night, whole.fell) == (7, True)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_folder_without_nights_is_a_fault(tmp_path, history, make):
    make(tmp_path / "nights")
    with pytest.raises(InputError):
        history()


def test_a_history_is_read_back_from_its_json(tmp_path, history):
    for number in range(1, 12):
        run = night(tmp_path, number, {"s1"} if number > 6 else ())
        if number == 1:
            pin(tmp_path, run)
    found = history()
    assert msgspec.json.decode(msgspec.json.encode(found), type=History) == found


def test_another_model_may_be_the_baseline(tmp_path, history):
    names = [f"s{n}" for n in range(20)]
    both = [
        an_outcome(name, model == "m" or n > 5, model=model)
        for n, name in enumerate(names)
        for model in ("m", "other")
    ]
    runs = [store_night(tmp_path / "nights", number, both) for number in (1, 2)]
    for named, verdicts in (("", ["inconclusive"] * 2), ("::m", ["inconclusive", "regressed"])):
        found = history(baseline=f"{runs[0]}{named}").models
        assert [one.verdict.verdict for one in found] == verdicts


def test_a_pinned_run_that_was_deleted_is_warned_of_and_a_named_one_is_a_fault(tmp_path, history):
    night(tmp_path, 1)
    pin_baseline(tmp_path / "nights", "nightly", Pin(run="deleted", set_at=FIRST))
    (model,) = history().models
    assert model.baseline is None
    assert "the pinned baseline is not there any more" in model.warnings[0]
    with pytest.raises(InputError, match="deleted"):
        history(baseline="deleted")


def test_a_model_that_never_ran_is_a_fault(tmp_path, history):
    night(tmp_path, 1)
    with pytest.raises(InputError, match="no night on the model 'n'"):
        history(model="n")


def test_the_margin_is_that_of_the_suite_where_none_is_named(tmp_path, history):
    rule = {"metrics": ["trial"], "margins": {"trial": 0.1}, "population": False}
    pin(tmp_path, night(tmp_path, 1))
    night(tmp_path, 2, comparison=rule)
    assert history().models[0].verdict.verdict == "no_worse"
    assert history(margin=0.001).models[0].verdict.verdict == "inconclusive"


RULE = {"metrics": ["trial", "tone", "tokens"], "margins": {"trial": 0.2}, "population": False}


def measured(folder, number, *, tone=0.8, tokens=100, errors=(), **fields):
    """Store a night on which every trial passes, with scores of `tone` and tokens used."""
    outcomes = [
        an_outcome(
            f"s{n}",
            None if f"s{n}" in errors else True,
            epoch,
            grades={
                "right": (1.0, True, "graded"),
                "tone": (tone - 0.01 * (n % 3), False, "graded"),
            },
            grade_keys={"right": "r1", "tone": fields.get("drive_key", "t1")},
            usage=Usage(input_tokens=tokens + n % 5, output_tokens=10),
        )
        for epoch in range(2)
        for n in range(20)
    ]
    keys = {"right": "sha256:3", "tone": "sha256:4"}
    judging = {"graders": {"tone": {"role": "observed"}}}
    made = {"grader_keys": keys, "judging": judging, "comparison": RULE, **fields}
    return store_night(folder / "nights", number, outcomes, **made)


def verdicts(model):
    return {one.metric: one.verdict for one in model.verdict.metrics if one.gating}


def test_every_metric_that_decides_in_the_suite_is_judged_and_the_gravest_shown(tmp_path, history):
    pin(tmp_path, measured(tmp_path, 1))
    measured(tmp_path, 2)
    measured(tmp_path, 3, tone=0.6)
    (model,) = history().models
    assert [one.verdict for one in model.nights] == [None, "inconclusive", "regressed"]
    assert model.nights[2].decided_by == ("tone",)
    found = {"trial": "no_worse", "tone": "regressed", "tokens": "inconclusive"}
    assert verdicts(model) == found
    assert model.alarms
    text = history_text(history(), date(2031, 5, 14))
    assert "REGRESSED (suspected) by tone against the baseline" in text
    assert "    tone: REGRESSED: tone went from" in text
    assert "    tokens: INCONCLUSIVE: tokens stayed at 112 tokens" in text


def test_a_night_that_costs_more_has_regressed(tmp_path, history):
    pin(tmp_path, measured(tmp_path, 1))
    measured(tmp_path, 2, tokens=150)
    (model,) = history().models
    assert verdicts(model)["tokens"] == "regressed"
    (tokens,) = [one for one in model.verdict.metrics if one.metric == "tokens"]
    assert (tokens.unit, round(tokens.candidate.value)) == ("tokens", 162)


def test_of_many_nights_the_last_thirty_are_judged_by_several_metrics(tmp_path, history):
    pin(tmp_path, measured(tmp_path, 1))
    for number in range(2, 40):
        measured(tmp_path, number)
    (model,) = history().models
    judged = [one.number for one in model.nights if one.verdict]
    assert judged == list(range(10, 40))


def test_the_metrics_are_those_of_the_last_night(tmp_path, history):
    pin(tmp_path, measured(tmp_path, 1))
    measured(tmp_path, 2, tone=0.5)
    rule = {"metrics": ["trial"], "margins": {}, "population": False}
    measured(tmp_path, 3, tone=0.5, comparison=rule)
    (model,) = history().models
    assert verdicts(model) == {"trial": "inconclusive"}
    assert [one.decided_by for one in model.nights] == [(), ("trial",), ("trial",)]


def test_a_grader_that_decides_and_has_changed_makes_a_night_invalid(tmp_path, history):
    pin(tmp_path, measured(tmp_path, 1))
    measured(tmp_path, 2, drive_key="t2")
    (model,) = history().models
    assert model.verdict.verdict == "invalid"
    assert "the graders differ" in model.verdict.reason


def test_a_metric_that_the_nights_do_not_have_is_said(tmp_path, history):
    rule = {"metrics": ["trial", "gone"], "margins": {}, "population": False}
    pin(tmp_path, measured(tmp_path, 1, comparison=rule))
    measured(tmp_path, 2, comparison=rule)
    (model,) = history().models
    assert (model.verdict.verdict, model.verdict.decided_by) == ("invalid", ("gone",))


def test_a_metric_that_has_regressed_alarms_beside_one_that_cannot_be_judged(tmp_path, history):
    rule = {"metrics": ["trial", "tone", "cost_usd"], "margins": {}, "population": False}
    pin(tmp_path, measured(tmp_path, 1, comparison=rule))
    measured(tmp_path, 2, tone=0.5, comparison=rule)
    (model,) = history().models
    assert verdicts(model) == {"trial": "inconclusive", "tone": "regressed", "cost_usd": "invalid"}
    assert model.verdict.verdict == "invalid"
    assert model.verdict.reason == "cost_usd is not known of any sample in both runs"
    assert model.alarms


class OutcomesAlone(list):
    """The outcomes of a run with their numbers."""

    def __init__(self, folder):
        super().__init__(enumerate(whole_outcomes(folder)))


def test_a_history_judges_every_metric_as_a_comparison_does(tmp_path, history, monkeypatch):
    first = measured(tmp_path, 1)
    pin(tmp_path, first)
    second = measured(tmp_path, 2, tone=0.75, tokens=104, errors={"s3"})
    (model,) = history(margin=0.1).models
    choice = chosen_metrics(RULE, MetricChoice(margin=0.1))
    # The logs of these nights cannot be read, and a comparison would want to.
    monkeypatch.setattr(compared_sides, "CountedOutcomes", OutcomesAlone)
    sides = [ComparedSide(run, "m") for run in (first, second)]
    pairs = metric_pairs(sides[0], sides[1], [f"s{n}" for n in range(20)], choice)
    compared = {one.metric: one for one in judge_runs([pairs])[0].metrics if one.gating}
    found = {one.metric: one for one in model.verdict.metrics if one.gating}
    assert found == compared


@pytest.mark.parametrize("absent", [range(1, 9), range(82, 90)])
def test_hard_samples_that_a_suite_lacks_on_some_nights_change_nothing(tmp_path, history, absent):
    chance = random.Random(7)
    for number in range(1, 91):
        hard = [] if number in absent else [(f"hard-{n}", 0.2) for n in range(10)]
        rates = [*((f"easy-{n}", 0.99) for n in range(60)), *hard]
        outcomes = [
            an_outcome(name, chance.random() < rate, epoch)
            for epoch in range(3)
            for name, rate in rates
        ]
        store_night(tmp_path / "nights", number, outcomes)
    (model,) = history().models
    assert model.whole is None


def compared(run, *found):
    """Store what a run was compared with as it ended: the models, each with its verdict."""
    sides = [
        {"candidate": {"model": m, "run_id": "r"}, "verdict": {"verdict": v}} for m, v in found
    ]
    text = json.dumps({"comparisons": sides, "exit_code": 1})
    (run / "comparison.json").write_text(text, encoding="utf-8")


def test_without_a_baseline_nights_show_the_verdicts_that_they_got_themselves(tmp_path, history):
    runs = [night(tmp_path, number) for number in (1, 2, 3)]
    compared(runs[1], ("m", "no_worse"), ("other", "regressed"))
    assert not history().models[0].alarms
    compared(runs[2], ("m", "regressed"))
    told = history()
    (model,) = told.models
    assert [one.own_verdict for one in model.nights] == [None, "no_worse", "regressed"]
    assert "[REGRESSED against its own baseline]" in history_text(told, date(2031, 5, 4))
    assert model.alarms
    pin(tmp_path, runs[0])
    (model,) = history().models
    assert {one.own_verdict for one in model.nights} == {None}
    assert not model.alarms


@pytest.mark.parametrize("content", [b"", b"{}{", b'{"comparisons": [1]}', b"\xff"])
def test_a_comparison_that_cannot_be_read_is_warned_of(tmp_path, history, content):
    (night(tmp_path, 1) / "comparison.json").write_bytes(content)
    (model,) = history().models
    assert "comparison.json" in model.warnings[-1]
    assert len(model.warnings) == 1
