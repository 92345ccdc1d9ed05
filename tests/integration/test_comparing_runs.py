"""Two stored runs compared: paired, graded again where graders differ, judged, and shown."""

import dataclasses
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest
from fakes.ran_commands import regrade
from fakes.stub_graders import ExpensiveGrader, Says, StubGrader, grader_spec
from fakes.suites import fake_suite

import harness
from harness.reports.comparison_markdown import comparisons_markdown
from harness.reports.comparison_words import pairing_lines
from harness.running.compared_metrics import MetricChoice
from harness.running.run_addresses import RunAddress
from harness.running.run_comparisons import ComparisonChoices, compare_runs, read_margins
from harness.system.loops import run_to_end
from harness.types.comparisons import Comparison
from harness.types.errors import GraderError, InputError, StoreError, SuiteError, TargetError
from harness.types.grades import Grade
from harness.types.samples import Sample
from harness.types.suites import ComparisonRule, Limits, Retries, Suite

QUICKSTART = Path(__file__).parents[2] / "suites" / "quickstart"
REGRADE = Path(sys.executable).parent / "regrade"


def samples(*numbers, **changed):
    """Make samples `s0`, `s1`, ...; `changed` are inputs of some."""
    names = [f"s{number}" for number in numbers]
    return tuple(Sample(id=name, input=changed.get(name, f"question {name}")) for name in names)


def suite_of(failing=(), broken=(), *, given=None, graders=None, **more):
    """Make a suite whose agent says `ok`, but `no` for some samples, or breaks on others."""

    def act(context, _text):
        if context.sample.id in broken:
            raise TargetError("connection reset", code="connection_lost")
        return "no" if context.sample.id in failing else "ok"

    given = samples(*range(20)) if given is None else given
    more = {"retries": Retries(attempts=1), "limits": Limits(max_error_rate=0.5), **more}
    return fake_suite(act, samples=given, graders=graders, **more)


def failing(*numbers):
    return {f"s{number}" for number in numbers}


@pytest.fixture
def run_of(tmp_path):
    """Run suites, each into a directory of its own."""

    def run(*given, **options):
        suite = given[0] if given and dataclasses.is_dataclass(given[0]) else suite_of(*given)
        return harness.run(suite, out=tmp_path / "runs", **options).folder

    return run


def compared(baseline, candidate, *, margins=("0.05",), model=None, **choices):
    """Compare two run directories."""
    metrics = read_margins(margins, MetricChoice(gating=choices.pop("gating", ())))
    address = RunAddress(str(baseline), choices.pop("baseline_model", None))
    chosen = ComparisonChoices(
        baseline=address, out=Path(candidate).parent, metrics=metrics, **choices
    )
    return run_to_end(compare_runs((Path(candidate), model), chosen))


def only(found) -> Comparison:
    (one,) = found.comparisons
    return one


def ids(pairs):
    return [pair.sample_id for pair in pairs]


def test_the_quickstart_regresses_at_the_skipped_tool_and_the_invented_id(tmp_path):
    run = harness.run(QUICKSTART, out=tmp_path)
    files = ["--json", "c.json", "--markdown", "c.md", "--out", str(tmp_path)]
    names = [f"{run.folder.name}::scripted/{name}" for name in ("careful", "hasty")]
    done = subprocess.run(
        [REGRADE, "compare", *names, *files],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    (one,) = json.loads((tmp_path / "c.json").read_bytes())["comparisons"]
    failed = {t.sample_id for t in run.trials() if t.model == "scripted/hasty" and not t.passed}
    assert {pair["sample_id"] for pair in one["regressed"]} == failed
    assert (one["verdict"]["verdict"], one["improved"]) == ("regressed", [])
    data = (QUICKSTART / "samples.jsonl").read_text("utf-8").splitlines()
    for pair in one["regressed"]:
        file, _, line = pair["place"].rpartition(":")
        assert file.endswith("suites/quickstart/samples.jsonl")
        assert json.loads(data[int(line) - 1])["id"] == pair["sample_id"]
    groups = {(group["kind"], group["tool"]) for group in one["divergences"]}
    assert ("no_call", "lookup_release_train") in groups
    invented = [
        pair["divergence"]
        for pair in one["regressed"]
        if "identifier that no tool" in pair["divergence"]["words"]
    ]
    assert invented
    assert all("rt_" in found["candidate"]["text"] for found in invented)
    for text in (done.stdout, (tmp_path / "c.md").read_text("utf-8")):
        assert "REGRESSED" in text
        assert "candidate skips `lookup_release_train`" in text
        assert all(sample_id in text for sample_id in failed)


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("margins", [(), ("0.2",)])
def test_a_run_beside_itself_is_neither_better_nor_worse(run_of, epochs, margins):
    run = run_of(suite_of(failing(1, 2, 3, 4, 5, 6), failing(7), epochs=epochs))
    one = only(compared(run, run, margins=margins))
    assert one.verdict.verdict not in {"regressed", "improved", "invalid"}
    assert (one.regressed, one.improved, one.changes) == ((), (), ())


def test_swapped_runs_swap_the_verdict_and_the_samples(run_of):
    good, bad = run_of(), run_of(failing(*range(8)))
    there, back = compared(good, bad), compared(bad, good)
    assert (only(there).verdict.verdict, there.exit_code) == ("regressed", 1)
    assert (only(back).verdict.verdict, back.exit_code) == ("improved", 0)
    assert ids(only(there).regressed) == ids(only(back).improved)[::-1] or sorted(
        ids(only(there).regressed)
    ) == sorted(ids(only(back).improved))
    assert only(there).verdict.stage == "suspected"


def without_age(comparison):
    baseline = msgspec.structs.replace(comparison.baseline, age_days=None)
    return msgspec.structs.replace(comparison, baseline=baseline)


def test_the_order_of_lines_changes_nothing(run_of):
    good = run_of(suite_of(failing(9), epochs=2))
    bad = run_of(suite_of(failing(*range(8)), epochs=2))
    before = without_age(only(compared(good, bad)))
    for folder in (good, bad):
        order = list(range(40))
        random.Random(7).shuffle(order)
        for name in ("trials.jsonl", "outcomes.jsonl"):
            lines = (folder / name).read_bytes().splitlines(keepends=True)
            (folder / name).write_bytes(b"".join(lines[index] for index in order))
    after = without_age(only(compared(good, bad)))
    assert after.verdict == before.verdict
    assert after.pairing == before.pairing
    assert sorted(after.regressed, key=str) == sorted(before.regressed, key=str)
    assert after.divergences == before.divergences


@pytest.mark.parametrize("damage", ["missing", "behind", "older"])
def test_outcomes_are_made_from_the_log_where_they_do_not_do(run_of, damage):
    good, bad = run_of(), run_of(failing(*range(8)))
    before = without_age(only(compared(good, bad)))
    path = bad / "outcomes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    if damage == "missing":
        path.unlink()
    elif damage == "behind":
        path.write_bytes(b"".join(lines[:5]))
    else:
        kept = ("sample_id", "model", "epoch", "status", "passed", "score", "grades")
        rows = [{name: json.loads(line)[name] for name in kept} for line in lines]
        path.write_bytes("".join(json.dumps(row) + "\n" for row in rows).encode())
    stored = {file.name: file.read_bytes() for file in bad.iterdir()}
    assert without_age(only(compared(good, bad))) == before
    assert {file.name: file.read_bytes() for file in bad.iterdir()} == stored


def test_samples_added_removed_and_changed_are_listed_and_left_out(run_of):
    given = samples(*range(20))
    later = samples(*range(1, 19), 20, s5="another question")
    baseline = run_of(suite_of(given=given))
    candidate = run_of(suite_of(failing(*range(6, 14), 20), given=later))
    one = only(compared(baseline, candidate))
    assert one.verdict.verdict == "regressed"
    assert (one.pairing.paired, one.pairing.changed) == (17, ("s5",))
    assert (one.pairing.added, sorted(one.pairing.removed)) == (("s20",), ["s0", "s19"])
    assert sorted(ids(one.regressed)) == sorted(failing(*range(6, 14)))
    text = comparisons_markdown(compared(baseline, candidate))
    assert "left out, changed since the baseline: `s5`" in text


def test_runs_with_too_few_unchanged_samples_are_invalid(run_of):
    changed = {f"s{number}": "another question" for number in range(3)}
    baseline, candidate = run_of(), run_of(suite_of(given=samples(*range(20), **changed)))
    found = compared(baseline, candidate)
    assert (only(found).verdict.verdict, found.exit_code) == ("invalid", 3)
    assert "of 20 samples in both runs only 17 stayed unchanged" in only(found).verdict.reason


def test_a_baseline_is_graded_again_by_a_grader_that_has_changed(run_of):
    baseline = run_of(suite_of(failing(0, 1), graders=(grader_spec(Says("ok"), "words"),)))
    # The grader now wants what fewer samples say; driving again would not be needed.
    stricter = (grader_spec(Says("no"), "words"),)
    suite = suite_of(failing(*range(9)), graders=stricter)
    candidate = run_of(suite)
    before = {file.name: file.read_bytes() for file in baseline.iterdir()}
    one = only(compared(baseline, candidate, suite=suite))
    assert one.baseline.regraded == ("words",)
    assert (one.verdict.verdict, one.pairing.changed) == ("improved", ())
    assert sorted(ids(one.improved)) == sorted(failing(*range(2, 9)))
    assert {file.name: file.read_bytes() for file in baseline.iterdir()} == before


def test_a_baseline_is_judged_again_where_the_rule_has_changed(run_of):
    both = [Says("ok"), Says("never said")]
    lenient = [grader_spec(both[0], "a"), grader_spec(both[1], "b", role="observed")]
    strict = [grader_spec(both[0], "a"), grader_spec(both[1], "b")]
    baseline = run_of(suite_of(graders=tuple(lenient)))
    suite = suite_of(graders=tuple(strict))
    one = only(compared(baseline, run_of(suite), suite=suite))
    assert (one.regressed, one.verdict.metrics[0].baseline.value) == ((), 0)


def test_a_grader_that_is_new_is_run_on_the_baseline(run_of):
    first = grader_spec(Says("ok"), "a")
    baseline = run_of(suite_of(failing(1), graders=(first,)))
    suite = suite_of(failing(2), graders=(first, grader_spec(Says("no"), "b")))
    one = only(compared(baseline, run_of(suite), suite=suite, gating=("b",)))
    assert one.baseline.regraded == ("b",)
    assert (ids(one.regressed), ids(one.improved)) == (["s1"], ["s2"])


def test_another_ground_truth_is_graded_again(run_of):
    def grade(subject):
        return Grade(score=float(subject.sample.ground_truth == "right"), evidence="compared")

    truth = [Sample(id=f"s{n}", input="q", ground_truth="right") for n in range(20)]
    other = [Sample(id="s0", input="q", ground_truth="wrong"), *truth[1:]]
    graders = (grader_spec(StubGrader(grade), "truth", fingerprint="f"),)
    baseline = run_of(suite_of(given=tuple(truth), graders=graders))
    suite = suite_of(given=tuple(other), graders=graders)
    one = only(compared(baseline, run_of(suite), suite=suite))
    assert (one.baseline.regraded, one.regressed) == (("truth",), ())


def test_without_the_suite_other_graders_make_runs_invalid(run_of):
    baseline = run_of(suite_of(graders=(grader_spec(Says("ok"), "words"),)))
    candidate = run_of(suite_of(graders=(grader_spec(Says("no"), "words"),)))
    found = compared(baseline, candidate)
    assert (only(found).verdict.verdict, found.exit_code) == ("invalid", 3)
    assert "words" in only(found).verdict.reason
    assert "--suite" in only(found).verdict.reason


@pytest.mark.parametrize(("asked", "verdict"), [(False, "invalid"), (True, "inconclusive")])
def test_graders_that_ask_a_model_judge_again_only_where_that_is_wished(run_of, asked, verdict):
    def judged(fingerprint):
        act = ExpensiveGrader(lambda _: Grade(score=1.0, evidence="judged"))
        return (grader_spec(act, "judge", fingerprint=fingerprint),)

    baseline, suite = run_of(suite_of(graders=judged("one"))), suite_of(graders=judged("two"))
    found = compared(baseline, run_of(suite), suite=suite, regrades_judges=asked)
    assert only(found).verdict.verdict == verdict
    assert ("--regrade-judges" in (only(found).verdict.reason or "")) is not asked


def test_samples_that_could_not_be_graded_again_have_not_changed(run_of):
    own = (grader_spec(Says("ok"), "words"),)
    rest = samples(*range(1, 20))
    before = (msgspec.structs.replace(samples(0)[0], graders=own), *rest)
    own = (grader_spec(Says("no"), "words"),)
    after = (msgspec.structs.replace(samples(0)[0], graders=own), *rest)
    one = only(compared(run_of(suite_of(given=before)), run_of(suite_of(given=after))))
    assert (one.pairing.changed, one.pairing.unalike) == ((), ("s0",))
    assert "left out, judged by other graders: s0" in list(pairing_lines(one))


def test_an_observing_judge_that_has_changed_keeps_no_run_from_being_compared(run_of):
    def graders(fingerprint):
        judge = ExpensiveGrader(lambda _: Grade(score=1.0, evidence="judged"))
        watching = grader_spec(judge, "judge", fingerprint=fingerprint, role="observed")
        return (grader_spec(Says("ok"), "words"), watching)

    suite = suite_of(failing(*range(8)), graders=graders("two"))
    found = compared(run_of(suite_of(graders=graders("one"))), run_of(suite), suite=suite)
    assert only(found).verdict.verdict == "regressed"


def test_an_outage_is_no_regression_and_no_pass(run_of):
    baseline = run_of(suite_of(failing(8, 9), given=samples(*range(10))))
    later = suite_of(failing(8, 9), failing(0, 1, 2, 3, 4), given=samples(*range(11)))
    one = only(compared(baseline, run_of(later)))
    metric = one.verdict.metrics[0]
    assert one.verdict.verdict == "inconclusive"
    assert (metric.missing.candidate_errored, metric.missing.decided) == (5, True)
    assert "if the 5 errored trials fail" in one.verdict.reason
    assert one.pairing.added == ("s10",)
    assert (one.regressed, one.divergences) == ((), ())
    shown = {pair.sample_id: pair.candidate_shown for pair in one.errored}
    assert "connection reset" in shown["s0"].evidence
    assert len(shown) == 5
    assert (metric.regressed, metric.improved, metric.errored, metric.unchanged) == (0, 0, 5, 5)
    said = next(pairing_lines(one))
    assert "0 regressed, 0 improved, 5 with nothing but errors on one side, 5 unchanged" in said


def test_errors_that_the_suite_leaves_out_are_missing_and_no_failures(run_of):
    suite = suite_of((), failing(0, 1, 2), errors="exclude")
    found = compared(run_of(), run_of(suite))
    one = only(found)
    metric = one.verdict.metrics[0]
    assert (metric.missing.candidate_errored, metric.missing.candidate_never_ran) == (0, 3)
    assert metric.candidate.value == 1
    said = "errors are excluded: 0 trials of the baseline and 3 of the candidate ended in errors"
    assert any(said in line for line in pairing_lines(one))
    assert said in comparisons_markdown(found)


def test_samples_that_a_candidate_never_ran_are_missing(run_of):
    baseline, candidate = run_of(), run_of()
    for name in ("trials.jsonl", "outcomes.jsonl"):
        lines = (candidate / name).read_bytes().splitlines(keepends=True)
        (candidate / name).write_bytes(b"".join(lines[:17]))
    one = only(compared(baseline, candidate))
    assert one.verdict.metrics[0].missing.candidate_never_ran == 3
    assert one.pairing.removed == ()
    assert "lacks 3 of the samples that it planned" in one.warnings[0]


def test_samples_that_a_baseline_never_ran_were_not_added(run_of):
    baseline, candidate = run_of(), run_of()
    for name in ("trials.jsonl", "outcomes.jsonl"):
        lines = (baseline / name).read_bytes().splitlines(keepends=True)
        (baseline / name).write_bytes(b"".join(lines[:17]))
    one = only(compared(baseline, candidate))
    assert (one.pairing.added, len(one.pairing.not_run)) == ((), 3)
    assert any("not run in the baseline: " in line for line in pairing_lines(one))


def test_only_complete_runs_are_baselines(run_of):
    baseline, candidate = run_of(), run_of()
    lines = (baseline / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (baseline / "trials.jsonl").write_bytes(b"".join(lines[:-1]))
    found = compared(baseline, candidate)
    assert (only(found).verdict.verdict, found.exit_code) == ("invalid", 3)
    assert "1 of 20 planned trials did not end" in only(found).verdict.reason


@pytest.mark.parametrize(("required", "code"), [(False, 0), (True, 3)])
@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("latest", "besides the candidate there is no complete run of the whole suite"),
        ("pinned", "no run is pinned"),
        ("nowhere/night.zip", "no file nowhere/night.zip"),
    ],
)
def test_without_a_baseline_it_is_the_first_night(run_of, name, missing, required, code):
    found = compared(name, run_of(), requires_baseline=required)
    assert (found.first_night, found.exit_code, found.comparisons) == (True, code, ())
    assert missing in found.missing
    assert missing in comparisons_markdown(found)


@pytest.mark.parametrize("name", ["nope", "runs/nope", "nope.json", "lastest", "latest.zip/x"])
def test_a_baseline_that_is_not_there_is_no_first_night(run_of, name):
    with pytest.raises(InputError, match=f"{name}: no run"):
        compared(name, run_of())


def test_the_latest_baseline_is_the_newest_complete_run_of_the_suite_besides_the_candidate(run_of):
    run_of()
    second, candidate = run_of(failing(3)), run_of()
    other = dataclasses.replace(suite_of(), name="other")
    run_of(other)
    assert only(compared("latest", candidate)).baseline.run_id == second.name


def test_the_latest_baseline_is_no_run_that_regressed_or_missed_its_gates(run_of):
    good, regressed, missed, odd, candidate = (run_of() for _ in range(5))
    found = compared(good, run_of(failing(*range(8))))
    assert found.exit_code == 1
    (regressed / "comparison.json").write_bytes(msgspec.json.encode(found))
    summary = json.loads((missed / "summary.json").read_bytes())
    (missed / "summary.json").write_text(json.dumps({**summary, "passed": False}), "utf-8")
    (odd / "comparison.json").write_text("{", "utf-8")
    assert only(compared("latest", candidate)).baseline.run_id != regressed.name
    shutil.rmtree(max(candidate.parent.glob("*/"), key=lambda one: one.name))
    assert only(compared("latest", candidate)).baseline.run_id == good.name


def test_the_latest_baseline_is_no_run_of_a_part_unless_the_candidate_took_the_same(run_of):
    whole, part = run_of(), run_of(suite_of(), samples=["s3"])
    assert only(compared("latest", run_of(suite_of(), samples="s3"))).baseline.run_id == part.name
    one = only(compared("latest", run_of(failing(*range(8)))))
    assert (one.baseline.run_id, one.verdict.verdict) == (whole.name, "regressed")
    assert one.pairing.added == ()


def test_the_latest_baseline_lacks_no_model_of_the_candidate_where_its_models_were_chosen(run_of):
    suite = suite_of(models=("a", "b"))
    both, _ = run_of(suite), run_of(suite, models="a")
    found = compared("latest", run_of(suite))
    assert {one.baseline.run_id for one in found.comparisons} == {both.name}


def test_the_latest_baseline_of_a_chosen_model_is_on_it_if_there_is_one(run_of):
    suite = suite_of(models=("a", "b"))
    first, second = run_of(suite, models="a"), run_of(suite, models="b")
    assert only(compared("latest", second)).baseline.run_id == first.name
    assert only(compared("latest", run_of(suite, models="a"))).baseline.run_id == first.name


@pytest.mark.parametrize("chosen", [{"samples": ["s3", "s4"]}, {"limit": 2}])
def test_samples_that_one_run_left_out_are_neither_new_nor_gone(run_of, chosen):
    whole, part = run_of(), run_of(suite_of(), **chosen)
    later, earlier = only(compared(part, whole)), only(compared(whole, part))
    assert (later.pairing.added, len(later.pairing.not_run)) == ((), 18)
    assert (earlier.pairing.removed, len(earlier.pairing.not_taken)) == ((), 18)
    assert any("not run in the candidate: " in line for line in pairing_lines(earlier))


def test_a_model_without_a_baseline_is_named_and_the_others_are_compared(run_of):
    baseline = run_of(suite_of(models=("a", "b")))
    found = compared(baseline, run_of(suite_of(failing(*range(8)), models=("a", "c"))))
    one = only(found)
    assert (one.baseline.model, one.candidate.model, found.exit_code) == ("a", "a", 1)
    assert [line.rpartition(": ")[2] for line in one.warnings] == ["c", "b"]
    with pytest.raises(InputError, match="none is 'c'"):
        compared(baseline, run_of(suite_of(models=("a", "c"))), model="c")


def test_runs_without_a_common_model_are_invalid(run_of):
    baseline = run_of(suite_of(models=("a", "b")))
    found = compared(baseline, run_of(suite_of(models=("c", "d"))))
    assert [one.candidate.model for one in found.comparisons] == ["c", "d"]
    assert {one.verdict.verdict for one in found.comparisons} == {"invalid"}
    assert "no model is in both runs" in found.comparisons[0].verdict.reason
    assert found.exit_code == 3


def test_a_baseline_full_of_errors_is_advised_to_be_made_again_where_it_lies(run_of):
    baseline = run_of(suite_of((), failing(*range(15))))
    reason = only(compared(baseline, run_of())).verdict.reason
    assert f"regrade run --resume {baseline} --retry-errors" in reason


def test_a_grader_that_breaks_on_the_baseline_is_named(run_of):
    def grade(_subject):
        raise GraderError("no such table", code="broke")

    baseline = run_of(suite_of(graders=(grader_spec(Says("ok"), "words"),)))
    suite = suite_of(graders=(grader_spec(StubGrader(grade), "words", fingerprint="f"),))
    reason = only(compared(baseline, run_of(suite), suite=suite)).verdict.reason
    assert "when the baseline was graded again, it broke on every trial" in reason
    assert "grader `words`" in reason
    assert "no such table" in reason


def test_a_cost_that_nobody_knows_is_said_to_be_unknown(run_of):
    run = run_of()
    found = compared(run, run, gating=("cost_usd",), margins=())
    assert "cost_usd is not known of any sample" in only(found).verdict.reason
    assert found.exit_code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "zzz"], "--metric: no metric 'zzz'"),
        (["--margin", "nope=0.1"], "--margin: no metric 'nope'"),
        (["--baseline", "nope"], "nope: no run"),
        (["--baseline", "latest::zzz", "--model", "scripted/careful"], "no model 'zzz'"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_driven(tmp_path, words, said):
    harness.run(QUICKSTART, out=tmp_path / "runs", limit=1, models=["scripted/careful"])
    before = sorted((tmp_path / "runs").glob("[!.]*"))
    done = subprocess.run(
        [REGRADE, "run", QUICKSTART, "--limit", "1", "--baseline", "latest", *words],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert sorted((tmp_path / "runs").glob("[!.]*")) == before


def cut(run):
    """Take the last trial of a run, as a kill does."""
    lines = (run / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (run / "trials.jsonl").write_bytes(b"".join(lines[:-1]))
    return run


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda run: cut(run(QUICKSTART, models=["scripted/careful"])), "1 of 24 planned trials"),
        (
            lambda run: run(suite_of()),
            "no sample is in both runs: the baseline is one of the suite",
        ),
        (lambda run: run(suite_of(models=("a", "b"))), "the baseline has a, b"),
    ],
    ids=["interrupted", "other suite", "other models"],
)
def test_runs_that_cannot_be_compared_are_known_before_anything_is_driven(tmp_path, make, said):
    def run(suite, **options):
        return harness.run(suite, out=tmp_path / "runs", **options).folder

    baseline = make(run)
    before = sorted((tmp_path / "runs").glob("[!.]*"))
    code, _, wrong = regrade(tmp_path, "run", QUICKSTART, "--baseline", baseline)
    assert (code, wrong.count("\n"), said in wrong) == (3, 1, True), wrong
    assert "nothing was driven" in wrong
    assert sorted((tmp_path / "runs").glob("[!.]*")) == before


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_a_comparison_is_written_to_standard_output_alone(run_of, tmp_path, form):
    run = run_of()
    done = subprocess.run(
        [REGRADE, "compare", str(run), str(run), f"--{form}", "-"],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert not (tmp_path / "-").exists()
    assert done.stdout.startswith("### ") if form == "markdown" else json.loads(done.stdout)


def test_a_suite_that_is_not_there_is_refused_where_nothing_is_graded_again(run_of, tmp_path):
    run = run_of()
    done = subprocess.run(
        [REGRADE, "compare", str(run), str(run), "--suite", "nope.yaml"],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, "nope.yaml: no such file" in done.stderr) == (2, True)


def test_an_undecided_comparison_is_told_apart_where_that_is_wished(run_of):
    run = run_of()
    assert compared(run, run, margins=(), is_strict=True).exit_code == 4
    assert compared(run, run, margins=("0.5",), is_strict=True).exit_code == 0


def test_several_models_are_compared_with_those_of_their_name_or_with_the_one_that_is_named(run_of):
    run = run_of(suite_of(models=("a", "b", "c")))
    named = [(one.baseline.model, one.candidate.model) for one in compared(run, run).comparisons]
    assert named == [("a", "a"), ("b", "b"), ("c", "c")]
    against = compared(run, run, baseline_model="a").comparisons
    assert [one.candidate.model for one in against] == ["b", "c"]
    assert against[0].verdict.metrics[0].p.adjusted_over == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [({"model": "x"}, "no model 'x'"), ({"gating": ("wrods",)}, "no metric 'wrods'")],
)
def test_names_that_are_not_there_are_refused(run_of, options, said):
    run = run_of()
    with pytest.raises(InputError, match=said):
        compared(run, run, **options)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "5", "x", "trial=", "trial=inf"])
def test_margins_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="above 0"):
        read_margins([text], MetricChoice())


def test_margins_hold_for_one_metric_or_for_all():
    choice = read_margins(["0.05", "seconds=3"], MetricChoice())
    names = ("trial", "seconds", "tokens")
    assert [choice.margin_of(name) for name in names] == [0.05, 3, None]


def test_an_exported_baseline_gives_what_the_run_gives(run_of, tmp_path):
    good, bad = run_of(failing(1)), run_of(failing(*range(8)))
    file = tmp_path / "elsewhere.zip"
    command = [REGRADE, "baseline", "export", str(good), "--out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    expected = without_age(only(compared(good, bad)))
    shutil.rmtree(good)
    assert without_age(only(compared(file, bad))) == expected


def exported(run, file):
    command = [REGRADE, "baseline", "export", str(run), "--out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return file


def damage_of(file, run):
    """Compare a run with a file; return what is said to be damaged, None where nothing is."""
    try:
        compared(file, run)
    except StoreError as error:
        return error.place
    return None


def test_an_exported_run_with_any_byte_flipped_is_named_or_means_the_same(run_of, tmp_path):
    run = run_of()
    file = exported(run, tmp_path / "night.zip")
    whole = file.read_bytes()
    places = random.Random(1)
    for place in [*range(0, 40, 3), *places.sample(range(len(whole)), 60)]:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << places.randrange(8)
        file.write_bytes(flipped)
        assert damage_of(file, run) in {None, str(file)}


@pytest.mark.parametrize("name", ["manifest.json", "trials.jsonl", "outcomes.jsonl"])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_an_exported_run_with_a_cut_file_is_named(run_of, tmp_path, name, share):
    run = run_of()
    cut = shutil.copytree(run, tmp_path / "cut" / run.name)
    text = (cut / name).read_bytes()
    (cut / name).write_bytes(text[: int(len(text) * share)])
    file = tmp_path / "night.zip"
    with ZipFile(file, "w") as archive:
        for one in cut.iterdir():
            archive.write(one, f"{run.name}/{one.name}")
    if name == "outcomes.jsonl":  # it is made again from the log
        assert only(compared(file, run)).pairing.paired == 20
        return
    with pytest.raises(StoreError) as caught:
        compared(file, run)
    assert caught.value.place == str(file)
    assert "regrade-compare" not in caught.value.line


def test_a_pinned_run_is_the_baseline_of_its_suite_until_another_is_pinned(run_of, tmp_path):
    out = ["--out", str(tmp_path / "runs")]
    candidate, *runs = run_of(), run_of(), run_of(failing(1))
    for run in runs:
        command = [REGRADE, "baseline", "set", run.name, *out]
        subprocess.run(command, check=True, capture_output=True)
        assert only(compared("pinned", candidate)).baseline.run_id == run.name


@pytest.mark.parametrize("words", [["set"], ["export", "--out", "b.zip"]])
def test_a_pinned_part_of_a_suite_is_said_to_be_one(run_of, tmp_path, words):
    part = run_of(suite_of(), samples=["s3"], models="m")
    code, _, said = regrade(tmp_path, "baseline", words[0], part, *words[1:])
    assert (code, said.count("\n"), "--sample s3" in said) == (0, 1, True), said


def test_an_incomplete_run_is_not_pinned(run_of, tmp_path):
    run = run_of(suite_of((), failing(0), limits=Limits(max_error_rate=0)))
    done = subprocess.run(
        [REGRADE, "baseline", "set", str(run), "--out", str(tmp_path / "runs")],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "only complete runs are baselines" in done.stderr
    assert not (tmp_path / "runs" / "baselines.json").exists()


def test_a_run_is_compared_as_it_ends_and_exits_with_the_gravest_code(tmp_path):
    first = harness.run(QUICKSTART, out=tmp_path / "runs", models=["scripted/careful"])
    command = [REGRADE, "run", QUICKSTART, "--quiet", "--baseline"]
    for name, code in (("latest", 0), (str(first.folder), 1), ("nowhere.zip", 0)):
        models = ["--model", "scripted/careful", *(["--model", "scripted/hasty"] if code else [])]
        done = subprocess.run(
            [*command, name, *models],
            cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (code, "")
        newest = max((tmp_path / "runs").iterdir())
        found = json.loads((newest / "comparison.json").read_bytes())
        assert (found["exit_code"], found["first_night"]) == (code, name == "nowhere.zip")


def test_hostile_names_and_words_do_no_harm_where_a_comparison_is_shown(run_of):
    bad = Sample(id="\x1b[31m<b>|`@x`", input="q")
    given = (bad, *samples(*range(20)))
    baseline = run_of(suite_of(given=given))
    found = compared(baseline, run_of(suite_of({bad.id, *failing(*range(8))}, given=given)))
    text = comparisons_markdown(found)
    assert "\x1b" not in text
    assert "<b>" not in text.replace("`` \\x1b[31m<b>|`@x` ``", "")


def test_a_suite_says_what_decides_and_which_drops_are_allowed(run_of):
    rule = ComparisonRule(metrics=("g",), margins={"g": 0.5}, population=True)
    run = run_of(suite_of(comparison=rule))
    one = only(compared(run, run, margins=()))
    assert (one.verdict.decided_by, one.verdict.verdict) == (("g",), "no_worse")
    assert one.verdict.question == "population"
    narrow = only(compared(run, run, margins=("0.01",), gating=("trial",)))
    assert (narrow.verdict.decided_by, narrow.verdict.verdict) == (("trial",), "inconclusive")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"metrics": ["wrods"]}, "no metric 'wrods'"),
        ({"margins": {"wrods": 0.1}}, "no metric 'wrods'"),
        ({"margins": {"words": 0}}, "the margin of words is 0"),
        ({"margins": {"words": 5}}, r"the margin of words is 5; .*0\.05"),
        ({"margin": 0.05}, "margin"),
        ({"metrics": []}, "metrics"),
    ],
)
def test_what_a_suite_says_of_comparing_is_checked(written, said):
    words = {"type": "exact_match"}
    document = {"name": "s", "graders": {"words": words}, "comparison": written}
    with pytest.raises(SuiteError, match=said):
        Suite.from_mapping(document)


def test_a_cost_is_compared_with_a_margin_in_its_unit(run_of):
    run = run_of()
    one = only(compared(run, run, gating=("tokens",), margins=("tokens=3",)))
    assert [(m.metric, m.margin, m.unit) for m in one.verdict.metrics if m.gating] == [
        ("tokens", 3, "tokens")
    ]
