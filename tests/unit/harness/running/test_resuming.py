"""Going on with a run: what is kept, what is made again, and what is said of it."""

import asyncio
import json
from dataclasses import replace

import msgspec
import pytest
from fakes.agents import FakeTarget
from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite

from harness.loading.selections import Selection
from harness.running.resuming import Resume
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.stored_summaries import summary_of
from harness.running.workers import Stop
from harness.storing.counted_trials import counted_trials
from harness.storing.manifests import read_manifest, write_manifest
from harness.storing.trial_log import encode_line, read_trials
from harness.types.errors import InputError, StoreError, TargetError
from harness.types.samples import Sample
from harness.types.suites import Limits, Retries

ONCE = Retries(attempts=1)


class Runs:
    """Runs and resumes suites in one folder, and keeps what is said."""

    def __init__(self, folder):
        self.folder = folder
        self.said = []

    async def run(self, suite, **options):
        return await execute(suite, RunOptions(out=self.folder, **options))

    async def resume(self, suite, result, *, retry_errors=False, salvage=False, **options):
        how = Resume(
            folder=result.folder, retry_errors=retry_errors, salvage=salvage, say=self.said.append
        )
        return await execute(suite, RunOptions(out=self.folder, **options), resume=how)


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def counted(result):
    return sorted(map(facts, counted_trials(result.folder)))


def facts(trial):
    """Give what of a trial is the same in every run: all but times."""
    score = -1.0 if trial.score is None else trial.score
    texts = [event.text for event in trial.trajectory.events()]
    return (trial.sample_id, trial.model, trial.epoch, trial.status, score, *texts)


def keep_lines(result, count):
    """Cut the log back to its first lines, as a kill leaves it."""
    path = result.folder / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:count]))
    (result.folder / "summary.json").unlink()
    return lines


def numbers(summary):
    """Give a summary without seconds."""
    plain = msgspec.to_builtins(summary)
    for model in plain["models"].values():
        del model["seconds"], model["per_trial"]["seconds"]
    return plain


@pytest.mark.parametrize("kept", [0, 1, 5, 11])
async def test_a_killed_run_is_completed_as_if_it_had_never_been_killed(runs, kept):
    target = FakeTarget(lambda context, text: "ok" if context.epoch else "no")
    suite = fake_suite(target, models=("a", "b"), epochs=2)
    whole = await runs.run(suite)
    expected = counted(whole)
    keep_lines(whole, kept)
    target.opened.clear()
    again = await runs.resume(suite, whole)
    assert again.folder == whole.folder
    assert counted(again) == expected
    assert len(target.opened) == 12 - kept
    assert numbers(again.summary) == numbers(whole.summary)
    assert numbers(summary_of(again.folder)) == numbers(whole.summary)


@pytest.mark.parametrize("python", [None, "3.0.1"])
async def test_a_complete_run_is_left_as_it_is(runs, python):
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target)
    whole = await runs.run(suite)
    if python:  # made elsewhere
        manifest = msgspec.structs.replace(read_manifest(whole.folder), python=python)
        write_manifest(whole.folder, manifest)
    before = state_of(whole.folder)
    again = await runs.resume(suite, whole, salvage=True)
    assert (state_of(whole.folder), again.summary) == (before, whole.summary)
    assert (len(target.opened), target.connected) == (3, 1)
    assert "3 trials are kept, 0 are graded again, 0 are driven" in runs.said
    assert "nothing of the log is damaged" in runs.said


def state_of(folder):
    """Give the content of all files, and when they and the folder were last written."""
    files = [(one.name, one.read_bytes(), one.stat().st_mtime_ns) for one in folder.iterdir()]
    return sorted(files), folder.stat().st_mtime_ns


async def test_a_trial_that_was_cut_off_is_stored_is_in_no_number_and_is_driven_again(runs):
    stop = Stop()

    async def act(context, text):
        if context.sample.id == "s1":
            stop.ask("enough")
            await asyncio.sleep(30)
        return "ok"

    suite = fake_suite(act, limits=Limits(concurrency=1))
    cut = await execute(suite, RunOptions(out=runs.folder), None, stop)
    stored = {trial.sample_id: trial for trial in read_trials(cut.folder)}
    assert stored["s1"].status == "interrupted"
    assert stored["s1"].error.code == "interrupted"
    assert [event.text for event in stored["s1"].trajectory.events()] == ["question 1"]
    assert (stored["s1"].passed, stored["s1"].score, stored["s1"].grades) == (None, None, {})
    assert (cut.summary.models["m"].trials, cut.summary.planned) == (1, 3)
    assert [trial.sample_id for trial in counted_trials(cut.folder)] == ["s0"]
    target = FakeTarget(lambda context, text: "ok")
    again = await runs.resume(fake_suite(target), cut)
    assert sorted(context.sample.id for context in target.opened) == ["s1", "s2"]
    assert again.summary.complete


async def test_which_line_of_a_trial_counts_does_not_depend_on_where_it_stands(runs):
    says = ["no", "no", "ok"]
    suites = [fake_suite(lambda context, text, says=one: says, samples=2) for one in says]
    drives = ["f", "g", "h"]
    suites = [
        replace(suite, target=replace(suite.target, fingerprint=drive))
        for suite, drive in zip(suites, drives, strict=True)
    ]
    whole = await runs.run(suites[0])
    for suite in suites[1:]:
        again = await runs.resume(suite, whole)
    lines = (whole.folder / "trials.jsonl").read_bytes().splitlines(keepends=True)
    revisions = [json.loads(line).get("revision") for line in lines]
    assert revisions == [None, None, 1, 1, 2, 2]
    (whole.folder / "trials.jsonl").write_bytes(b"".join(reversed(lines)))
    assert [trial.passed for trial in counted_trials(whole.folder)] == [True, True]
    kept = await runs.resume(suites[2], whole)
    assert "2 trials are kept" in runs.said[-1]
    assert numbers(kept.summary) == numbers(again.summary)


async def test_the_attempts_and_the_usage_of_what_was_cut_off_are_stored(runs):
    stop = Stop()

    async def act(context, text):
        if context.attempt == 0:
            raise TargetError("gone", code="connection_lost")
        stop.ask("enough")
        await asyncio.sleep(30)

    suite = fake_suite(act, samples=1)
    cut = await execute(suite, RunOptions(out=runs.folder), None, stop)
    (trial,) = read_trials(cut.folder)
    assert [attempt.error.code for attempt in trial.attempts] == ["connection_lost", "interrupted"]


async def test_a_trial_whose_graders_were_cut_off_is_graded_and_not_driven_again(runs):
    stop = Stop()
    suite = fake_suite(lambda context, text: "ok", samples=1)
    whole = await runs.run(suite)
    (trial,) = read_trials(whole.folder)
    failure = {"code": "grading_interrupted", "message": "the run ended"}
    plain = msgspec.to_builtins(trial)
    plain |= {"status": "interrupted", "error": failure, "grades": {}, "passed": None}
    (whole.folder / "trials.jsonl").write_text(json.dumps(plain) + "\n", encoding="utf-8")
    (whole.folder / "summary.json").unlink()
    target = FakeTarget(lambda context, text: "no")
    again = await runs.resume(fake_suite(target, samples=1), whole)
    assert (target.opened, again.summary.passed, stop.reason) == ([], True, "")


async def test_a_changed_grader_grades_again_without_an_agent(runs):
    whole = await runs.run(fake_suite(lambda context, text: "ok"))
    target = FakeTarget(lambda context, text: "ok")
    graders = (replace(grader_spec(Says("no")), fingerprint="new"),)
    again = await runs.resume(fake_suite(target, graders=graders), whole)
    assert (target.opened, target.connected) == ([], 0)
    assert again.summary.models["m"].passed == 0
    assert any("graders changed" in line for line in runs.said)
    assert "0 trials are kept, 3 are graded again, 0 are driven" in runs.said


@pytest.mark.parametrize(
    ("change", "driven", "said"),
    [
        ({"fingerprint": "other"}, 3, "the target has changed"),
        ({"question": 1}, 1, "the dataset has changed"),
        ({"tags": 1}, 0, "the dataset has changed"),
        ({"text": "name: other"}, 0, "the text of the suite has changed"),
    ],
)
async def test_what_has_changed_is_said_and_what_still_counts_is_kept(runs, change, driven, said):
    whole = await runs.run(fake_suite(lambda context, text: "ok"))
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target)
    samples = list(suite.samples)
    if "question" in change:
        samples[1] = Sample(id="s1", input="another question")
    if "tags" in change:
        samples[1] = replace_sample(samples[1], tags=("new",))
    fingerprint = change.get("fingerprint", "f")
    suite = replace(
        suite,
        samples=tuple(samples),
        target=replace(suite.target, fingerprint=fingerprint),
        text=change.get("text", ""),
    )
    again = await runs.resume(suite, whole)
    assert len(target.opened) == driven
    assert any(said in line for line in runs.said)
    assert (again.summary.complete, len(counted(again))) == (True, 3)
    assert read_manifest(again.folder).resumed[-1].driven == driven


def replace_sample(sample, **fields):
    return msgspec.structs.replace(sample, **fields)


@pytest.mark.parametrize(("retry_errors", "driven"), [(False, 0), (True, 1)])
async def test_errored_trials_are_driven_again_only_when_asked(runs, retry_errors, driven):
    def fail(context, text):
        if context.sample.id == "s1":
            raise TargetError("down", code="bad_request")
        return "ok"

    whole = await runs.run(fake_suite(fail, retries=ONCE))
    assert not whole.summary.complete
    target = FakeTarget(lambda context, text: "ok")
    again = await runs.resume(fake_suite(target, retries=ONCE), whole, retry_errors=retry_errors)
    assert len(target.opened) == driven
    assert again.summary.complete is retry_errors
    assert again.summary.models["m"].errors == 1 - driven


async def test_broken_grades_are_made_again_when_asked_and_no_agent_is_driven(runs):
    whole = await runs.run(
        fake_suite(lambda c, t: "ok", graders=(grader_spec(Breaks(), name="g"),))
    )
    assert whole.summary.models["m"].errors == 3
    target = FakeTarget(lambda context, text: "ok")
    mended = replace(
        grader_spec(Says("ok"), name="g"),
        fingerprint=grader_spec(Breaks(), name="g").fingerprint,
    )
    again = await runs.resume(fake_suite(target, graders=(mended,)), whole, retry_errors=True)
    assert (target.opened, again.summary.models["m"].errors) == ([], 0)


async def test_models_epochs_and_samples_are_those_of_the_run_unless_others_are_given(runs):
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target, samples=4)
    whole = await runs.run(suite, models=("a",), epochs=2, selection=Selection(ids=("s1", "s2")))
    assert len(target.opened) == 4
    again = await runs.resume(suite, whole)
    assert (len(target.opened), again.summary.planned) == (4, 4)
    wider = await runs.resume(suite, whole, models=("a", "b"))
    assert (len(target.opened), wider.summary.planned) == (8, 8)
    longer = await runs.resume(suite, whole, epochs=3)
    assert (len(target.opened), longer.summary.planned) == (12, 12)
    assert longer.summary.complete


async def test_trials_that_are_not_planned_any_more_are_named_and_do_not_count(runs):
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target, samples=4)
    whole = await runs.run(suite, epochs=2)
    narrow = await runs.resume(suite, whole, epochs=1, selection=Selection(ids=("s0", "s1")))
    assert any("6 stored trials are not planned any more" in w for w in narrow.summary.warnings)
    assert (narrow.summary.models["m"].trials, narrow.summary.complete) == (2, True)
    assert [t.sample_id for t in counted_trials(narrow.folder)] == ["s0", "s1"]
    wide = await runs.resume(suite, whole, epochs=2, selection=Selection(limit=4))
    assert (wide.summary.models["m"].trials, len(target.opened)) == (8, 8)


@pytest.mark.parametrize("end", [b'{"v":1,"sample_id":"s', b'{"v":1,"sam\n', b"\0\0\0\n\n \n"])
async def test_a_torn_end_is_said_and_the_log_is_whole_afterwards(runs, end):
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target)
    whole = await runs.run(suite)
    keep_lines(whole, 2)
    with (whole.folder / "trials.jsonl").open("ab") as log:
        log.write(end)
    await runs.resume(suite, whole)
    assert "torn" in runs.said[0]
    assert len(target.opened) == 4
    notes = []
    assert len(list(read_trials(whole.folder, notes.append))) == 3
    assert notes == []


async def test_a_whole_trial_whose_line_lacks_its_end_is_kept(runs):
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target)
    whole = await runs.run(suite)
    path = whole.folder / "trials.jsonl"
    lines = keep_lines(whole, 2)
    path.write_bytes(b"".join(lines[:2])[:-1])
    await runs.resume(suite, whole)
    assert (len(target.opened), len(list(read_trials(whole.folder)))) == (4, 3)


@pytest.mark.parametrize("last", [b"", b"\n"])
async def test_damage_is_an_error_that_names_its_line_and_salvage_keeps_the_rest(runs, last):
    target = FakeTarget(lambda context, text: "ok")
    suite = fake_suite(target, samples=4)
    whole = await runs.run(suite)
    one, two, three, four = keep_lines(whole, 4)
    log = whole.folder / "trials.jsonl"
    # The second line is torn, the third glued to it, the fourth to that or on a line of its own.
    log.write_bytes(one + two[:40] + three.strip() + last + four)
    with pytest.raises(StoreError) as caught:
        await runs.resume(suite, whole)
    assert caught.value.place.endswith("trials.jsonl:2")
    assert "--salvage" in caught.value.hint
    again = await runs.resume(suite, whole, salvage=True)
    assert len(target.opened) == 5
    assert (whole.folder / "damaged.jsonl").read_bytes() == two[:40] + b"\n"
    assert again.summary.complete
    assert "1 damaged pieces" in runs.said[0]


async def test_outcomes_that_are_behind_or_damaged_are_made_anew(runs):
    suite = fake_suite(lambda context, text: "ok", samples=4)
    whole = await runs.run(suite)
    path = whole.folder / "outcomes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for text in (b"".join(lines[:1]), b"", b"".join(lines)[:-5], b"no json\n" * 4):
        keep_lines(whole, 4)
        path.write_bytes(text)
        again = await runs.resume(suite, whole)
        assert path.read_bytes().splitlines(keepends=True) == lines
        assert numbers(again.summary) == numbers(whole.summary)


async def test_a_run_that_was_graded_only_is_refused(runs):
    suite = fake_suite(lambda context, text: "ok")
    whole = await runs.run(suite)
    manifest = msgspec.structs.replace(read_manifest(whole.folder), graded_from="other")
    (whole.folder / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    with pytest.raises(InputError, match="nothing was driven"):
        await runs.resume(suite, whole)


async def test_the_last_line_of_a_trial_counts(runs):
    suite = fake_suite(lambda context, text: "ok", samples=2)
    whole = await runs.run(suite)
    first = next(read_trials(whole.folder))
    later = msgspec.structs.replace(first, status="interrupted", passed=None, grades={})
    with (whole.folder / "trials.jsonl").open("ab") as log:
        log.write(encode_line(later))
    (whole.folder / "summary.json").unlink()
    assert summary_of(whole.folder).models["m"].trials == 1
    target = FakeTarget(lambda context, text: "ok")
    await runs.resume(fake_suite(target, samples=2), whole)
    assert [context.sample.id for context in target.opened] == [first.sample_id]


async def test_what_the_target_left_on_a_server_is_deleted_first(runs):
    deleted = []

    class Leaving(FakeTarget):
        async def clean(self, run_id):
            deleted.append(run_id)
            return ["agent a-1"]

    target = Leaving(lambda context, text: "ok")
    whole = await runs.run(fake_suite(target))
    await runs.resume(fake_suite(target), whole)
    assert deleted == []
    keep_lines(whole, 1)
    await runs.resume(fake_suite(target), whole)
    assert deleted == [whole.folder.name]
    assert any("agent a-1" in line for line in runs.said)
    keep_lines(whole, 1)
    target.keep_agents = True
    await runs.resume(fake_suite(target), whole)
    assert len(deleted) == 1


async def test_changed_slices_are_those_of_every_trial_and_no_agent_is_driven(runs):
    target = FakeTarget(lambda _context, _text: "ok")
    samples = tuple(Sample(id=f"s{n}", input="q", metadata={"kind": n % 2}) for n in range(4))
    suite = fake_suite(target, samples=samples, retries=ONCE, limits=Limits(max_error_rate=1))
    whole = await runs.run(suite)
    keep_lines(whole, 3)
    again = await runs.resume(replace(suite, slices=("kind",)), whole)
    assert len(target.opened) == 5
    kinds = again.summary.models["m"].slices["kind"]
    assert {kind: part.samples for kind, part in kinds.items()} == {"0": 2, "1": 2}
    assert summary_of(whole.folder).models["m"].slices == again.summary.models["m"].slices


async def test_errored_trials_are_sliced_anew_as_well(runs):
    def act(_context, _text):
        raise TargetError("down")

    samples = tuple(Sample(id=f"s{n}", input="q", tags=(f"t{n}",)) for n in range(2))
    more = {"retries": ONCE, "limits": Limits(max_error_rate=1)}
    suite = fake_suite(FakeTarget(act), samples=samples, **more)
    whole = await runs.run(suite)
    again = await runs.resume(replace(suite, slices=("tags",)), whole)
    found = again.summary.models["m"].slices["tags"]
    assert {tag: part.errors for tag, part in found.items()} == {"t0": 1, "t1": 1}


def used(summary):
    usage = summary.models["m"].usage
    return usage.input_tokens, usage.output_tokens


async def test_what_was_cut_off_is_in_the_usage_and_in_no_other_number(runs):
    stop = Stop()

    async def act(context, text):
        if context.sample.id == "s1" and text == "two":
            stop.ask("enough")
            await asyncio.sleep(30)
        return "ok"

    samples = tuple(Sample(id=f"s{n}", input=("one", "two")) for n in range(3))
    suite = fake_suite(act, samples=samples, limits=Limits(concurrency=1))
    cut = await execute(suite, RunOptions(out=runs.folder), None, stop)
    assert (used(cut.summary), cut.summary.models["m"].trials) == ((3, 6), 1)
    (cut.folder / "summary.json").unlink()
    assert used(summary_of(cut.folder)) == (3, 6)
    again = await runs.resume(fake_suite(lambda context, text: "ok", samples=samples), cut)
    assert (used(again.summary), again.summary.models["m"].trials) == ((7, 14), 3)
    assert again.summary.models["m"].per_trial["tokens"].total == 18
    (cut.folder / "summary.json").unlink()
    assert used(summary_of(cut.folder)) == (7, 14)


async def test_what_was_driven_again_is_in_the_usage_and_what_was_graded_again_is_there_once(runs):
    def act(context, text):
        if text == "two" and context.sample.id == "s0" and failing:
            raise TargetError("gone", code="bad_request")
        return "ok"

    failing = [1]
    samples = tuple(Sample(id=f"s{n}", input=("one", "two")) for n in range(2))
    whole = await runs.run(fake_suite(act, samples=samples))
    assert used(whole.summary) == (3, 6)
    failing.clear()
    again = await runs.resume(fake_suite(act, samples=samples), whole, retry_errors=True)
    assert used(again.summary) == (5, 10)
    graders = (grader_spec(Says("ok"), fingerprint="new"),)
    for _ in range(2):
        graded = await runs.resume(fake_suite(act, samples=samples, graders=graders), whole)
        assert used(graded.summary) == (5, 10)
    (whole.folder / "summary.json").unlink()
    assert used(summary_of(whole.folder)) == (5, 10)


async def test_what_the_suite_has_come_to_ask_for_is_said_with_the_options_that_take_it(runs):
    act = FakeTarget(lambda context, text: "ok")
    whole = await runs.run(fake_suite(act, text="before"))
    new = fake_suite(act, text="now", models=("m", "m 2"), epochs=3, max_samples=2)
    await runs.resume(new, whole)
    said = " | ".join(runs.said)
    assert "names m 2 as well, which this run does not; go on with --model m --model 'm 2'" in said
    assert "asks for epochs: 3, this run for 1; go on with --epochs 3" in said
    assert "selects other samples" in said
    runs.said.clear()
    await runs.resume(new, whole, models=("m", "m 2"), epochs=3, selection=Selection(limit=2))
    assert not any("go on" in line or "goes on" in line for line in runs.said)


async def test_what_was_left_out_by_choice_is_not_said(runs):
    suite = fake_suite(lambda context, text: "ok", models=("m", "m2"), epochs=2)
    narrow = await runs.run(suite, models=("m",), epochs=1, selection=Selection(limit=1))
    await runs.resume(suite, narrow)
    assert not any("go on" in line or "goes on" in line for line in runs.said)
