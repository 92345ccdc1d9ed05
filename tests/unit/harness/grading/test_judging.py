import asyncio
import threading
from dataclasses import dataclass, field

import pytest
from fakes.factories import make_custom, make_extractor, make_grader, make_sample, make_trajectory
from fakes.stub_graders import ExpensiveGrader, StubGrader, grader_spec

from harness.grading.judging import EVIDENCE_CHARACTERS, grade_trajectory
from harness.types.errors import GraderError
from harness.types.events import AssistantMessage, UserMessage
from harness.types.grades import Grade, Ref
from harness.types.protocols import Submission
from harness.types.suites import GraderSpec, Limits

ASKED = UserMessage(text="q")


@dataclass(frozen=True)
class Counted:
    """An extractor that counts its calls; equal to others of the same text."""

    text: str
    calls: list = field(compare=False, default_factory=list)

    def extract(self, trajectory):
        self.calls.append(trajectory)
        return Submission(self.text, (Ref(turn=0, event=0),))


def stub(act, kind=StubGrader, name="stub", **fields):
    return grader_spec(kind(act), name, **fields)


async def grade(specs, sample=None, trajectory=None, snapshots=None, seconds=30.0):
    return await grade_trajectory(
        specs,
        sample or make_sample(ground_truth="K41"),
        trajectory or make_trajectory(),
        snapshots=snapshots or {},
        limits=Limits(grader_seconds=seconds),
    )


async def grade_one(spec, *args, **kwargs):
    return (await grade([spec], *args, **kwargs))[spec.name]


def raising(error):
    def act(subject):
        raise error

    return act


async def test_what_a_grader_leaves_out_is_filled_in():
    made = await grade_one(make_grader("contains"))
    assert (made.passed, made.submission) == (True, "It is K41.")
    assert made.key.startswith("sha256:")


@pytest.mark.parametrize(("threshold", "passed"), [(0.5, True), (0.6, False)])
async def test_the_threshold_says_what_passes(threshold, passed):
    spec = stub(lambda _: Grade(score=0.5), threshold=threshold)
    assert (await grade_one(spec)).passed is passed


async def test_a_grader_that_says_whether_it_passed_is_believed():
    assert (await grade_one(stub(lambda _: Grade(score=0.1, passed=True)))).passed is True


@pytest.mark.parametrize(
    ("act", "evidence"),
    [
        (raising(GraderError("no judge")), "grader_broke: no judge"),
        (raising(KeyError("x")), "grader_broke: KeyError: 'x'"),
        (raising(RecursionError("deep")), "grader_broke: RecursionError: deep"),
        (raising(SystemExit(3)), "grader_broke: SystemExit: 3"),
        (lambda _: None, "grader_broke: the grader returned None; it has to return a Grade"),
        (lambda _: Grade(score=float("nan")), "grader_broke: returned the score nan (float)"),
        (lambda _: Grade(score=1.5), "grader_broke: returned the score 1.5 (float)"),
        (lambda _: Grade(), "grader_broke: returned a Grade of status graded without a score"),
        (
            lambda _: Grade(score=1.0, details={"x": object()}),
            "grader_broke: returned a Grade that cannot be kept",
        ),
    ],
)
async def test_a_grader_that_breaks_is_an_error_and_hides_no_other(act, evidence):
    grades = await grade([stub(act), make_grader("contains")])
    assert grades["stub"].status == "error"
    assert grades["stub"].score is None
    assert grades["stub"].passed is None
    assert grades["stub"].evidence.startswith(evidence)
    assert grades["stub"].details["code"] == "grader_broke"
    assert grades["contains"].passed is True


async def test_grades_keep_the_order_of_the_suite_though_the_cheap_run_first():
    ran = []
    specs = [
        stub(lambda _: ran.append("dear") or Grade(score=1.0), ExpensiveGrader, name="dear"),
        stub(lambda _: ran.append("free") or Grade(score=1.0), name="free"),
    ]
    assert list(await grade(specs)) == ["dear", "free"]
    assert ran == ["free", "dear"]


async def test_equal_extractors_run_once():
    counted = Counted("It is K41.")
    other = Counted("It is K41.", counted.calls)
    specs = [
        make_grader("contains", name="a", extractor="last_assistant"),
        make_grader("contains", name="b"),
    ]
    given = [counted, other]
    specs = [
        GraderSpec(name=s.name, kind="x", grader=s.grader, extractor=e, fingerprint="x")
        for s, e in zip(specs, given, strict=True)
    ]
    assert all(made.passed for made in (await grade(specs)).values())
    assert len(counted.calls) == 1


@pytest.mark.parametrize("name", ["exact_match", "contains", "regex_match"])
async def test_nothing_at_all_and_nothing_extracted_are_failures_that_say_so(name):
    spec = make_grader(name)
    made = await grade_one(spec, trajectory=make_trajectory([]))
    assert (made.score, made.passed, made.submission) == (0.0, False, "")
    assert made.evidence == "Empty trajectory - agent produced no messages"
    made = await grade_one(spec, trajectory=make_trajectory([ASKED]))
    assert (made.status, made.passed, made.submission) == ("graded", False, "")
    assert made.evidence == "Empty submission - extractor found no content"


async def test_refs_into_a_turn_that_was_cut_out_point_into_the_whole_conversation():
    trajectory = make_trajectory([ASKED, "a"], [ASKED, "b"], [ASKED, "K41"])
    for turn in (2, -1):
        made = await grade_one(make_grader("contains", turn=turn), trajectory=trajectory)
        assert made.refs == (Ref(turn=2, event=1, start=0, end=3),)


@pytest.mark.parametrize("turn", [1, 7, -2])
@pytest.mark.parametrize("kind", ["contains", "stub"])
async def test_a_turn_that_was_never_reached_is_a_failure_that_says_so(turn, kind):
    spec = (
        make_grader("contains", turn=turn)
        if kind == "contains"
        else stub(lambda _: Grade(score=1.0), turn=turn)
    )
    made = await grade_one(spec)
    assert (made.status, made.score, made.passed) == ("graded", 0.0, False)
    assert made.evidence == f"turn {turn} was never reached: the conversation has 1 turn(s)"


async def test_the_turn_of_a_sample_with_a_ground_truth_a_turn_has_its_own():
    sample = make_sample(input=("a?", "b?"), ground_truth=("a", "b"))
    trajectory = make_trajectory([ASKED, "a"], [ASKED, "b"])
    made = await grade_one(make_grader("exact_match", turn=1), sample, trajectory)
    assert made.passed is True


async def test_long_evidence_is_cut_and_says_so():
    made = await grade_one(stub(lambda _: Grade(score=1.0, evidence="x" * 5000)))
    assert made.evidence == f"{'x' * EVIDENCE_CHARACTERS}… (cut: 5,000 characters in all)"


async def test_lone_surrogates_are_replaced_in_all_that_is_stored():
    act = Grade(
        score=1.0, evidence="a\ud800", submission="b\udfff", details={"k\ud800": ["\ud800"]}
    )
    made = await grade_one(stub(lambda _: act))
    assert (made.evidence, made.submission) == ("a\ufffd", "b\ufffd")
    assert made.details == {"k\ufffd": ["\ufffd"]}


async def test_a_skipped_grade_stays_skipped_without_a_score():
    made = await grade_one(stub(lambda _: Grade(status="skipped", score=1.0, evidence="no judge")))
    assert (made.status, made.score, made.passed) == ("skipped", None, None)


async def test_a_pattern_that_overruns_is_an_error_while_the_rest_goes_on():
    hostile = make_sample(ground_truth="(?:x|xx)+y")
    said = make_trajectory([ASKED, "x" * 5000])
    went_on = asyncio.Event()

    def note(sample, submission):
        asyncio.run_coroutine_threadsafe(_set(went_on), loop)
        return True

    loop = asyncio.get_running_loop()
    grading = asyncio.ensure_future(
        grade([make_grader("regex_match"), make_custom(note)], hostile, said)
    )
    await asyncio.wait_for(went_on.wait(), timeout=10)
    other = await grade_one(make_grader("contains"))
    assert not grading.done()
    assert other.passed is True
    grades = await grading
    assert grades["note"].passed is True
    assert grades["regex_match"].status == "error"
    evidence = grades["regex_match"].evidence
    assert evidence.startswith(
        "pattern_timeout: the grade as a whole took longer than its 1 s; it "
    )
    assert grades["regex_match"].details["code"] == "pattern_timeout"


async def _set(event):
    event.set()


async def test_a_slow_extraction_is_made_once_for_all_its_graders():
    spec = {"extractor": "pattern", "config": {"pattern": "(?:x|xx)+y"}}
    specs = [make_grader("contains", name=f"g{n}", **spec) for n in range(5)]
    said = make_trajectory([ASKED, "x" * 5000])
    before = threading.active_count()
    grades = await grade(specs, trajectory=said)
    assert {made.evidence.partition(":")[0] for made in grades.values()} == {"pattern_timeout"}
    assert threading.active_count() <= before + 1


async def test_an_extractor_whose_pattern_is_none_is_a_failing_grade():
    spec = make_grader("contains", extractor="pattern", config={"pattern": "("})
    made = await grade_one(spec)
    assert (made.status, made.passed) == ("graded", False)
    assert made.evidence.startswith("invalid pattern: ")


async def test_an_extractor_that_breaks_is_an_error_of_its_graders_alone():
    @dataclass(frozen=True)
    class Broken:
        def extract(self, trajectory):
            return "text"

    spec = make_grader("contains")
    broken = GraderSpec(
        name="broken", kind="x", grader=spec.grader, extractor=Broken(), fingerprint="x"
    )
    grades = await grade([broken, spec])
    assert grades["broken"].evidence.startswith("grader_broke: the extractor returned 'text' (str)")
    assert grades["contains"].passed is True


async def test_a_trial_that_is_given_up_gives_up_its_graders():
    started, ended = asyncio.Event(), asyncio.Event()

    async def waits(sample, submission):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    grading = asyncio.ensure_future(grade([make_custom(waits)]))
    await started.wait()
    grading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await grading
    await asyncio.wait_for(ended.wait(), timeout=10)


async def test_grading_turn_by_turn_averages_over_all_turns():
    sample = make_sample(input=("a?", "b?", "c?"), ground_truth=("a", "b", "c"))
    trajectory = make_trajectory([ASKED, "a"], [ASKED, "x"])
    made = await grade_one(make_grader("exact_match", threshold=0.3), sample, trajectory)
    assert made.score == pytest.approx(1 / 3)
    assert made.passed is True
    assert made.evidence == "1/3 passed: ✓ ✗ ✗"
    assert made.submission == "[Turn 0] a | [Turn 1] x | [Turn 2] "
    turns = made.details["turns"]
    assert [turn["score"] for turn in turns] == [1.0, 0.0, 0.0]
    assert turns[2]["evidence"] == "turn 2 was never reached: the conversation has 2 turn(s)"
    assert made.refs == (Ref(turn=0, event=1), Ref(turn=1, event=1))


async def test_a_turn_whose_grader_broke_breaks_the_grade_of_all_turns():
    sample = make_sample(input=("a?", "b?"), ground_truth=("a", "b"))
    trajectory = make_trajectory([ASKED, "a"], [ASKED, "b"])

    def picky(sample, submission):
        return 1.0 if sample.ground_truth == "a" else None

    made = await grade_one(make_custom(picky), sample, trajectory)
    assert (made.status, made.score) == ("error", None)
    assert made.evidence.startswith("grader_broke: turn 1: picky returned None")
    assert made.details["turns"][0]["score"] == 1.0


async def test_graders_of_the_trajectory_see_all_turns_of_a_sample_with_a_ground_truth_a_turn():
    sample = make_sample(input=("a?", "b?"), ground_truth=("a", "b"))
    trajectory = make_trajectory([ASKED, "a"], [ASKED, "b"])
    seen = []
    spec = stub(lambda subject: seen.append(subject.trajectory) or Grade(score=1.0))
    await grade_one(spec, sample, trajectory)
    assert seen == [trajectory]


async def test_a_custom_extractor_runs_once_for_all_its_graders():
    calls = []

    def shout(trajectory, config):
        calls.append(config)
        return "K41"

    extractor = make_extractor(shout, {"loud": True})
    spec = make_grader("contains")
    specs = [
        GraderSpec(name=n, kind="x", grader=spec.grader, extractor=extractor, fingerprint="x")
        for n in "abc"
    ]
    grades = await grade(specs)
    assert [made.submission for made in grades.values()] == ["K41"] * 3
    assert calls == [{"loud": True}]


async def test_without_graders_there_are_no_grades():
    assert await grade([]) == {}


async def test_a_sync_function_that_never_comes_back_does_not_keep_the_rest():
    release = threading.Event()

    def hangs(sample, submission):
        release.wait(30)
        return True

    grades = await grade([make_custom(hangs), make_grader("contains")], seconds=0.1)
    release.set()
    assert grades["hangs"].evidence == "grader_timeout: took longer than 0.1 s"
    assert grades["contains"].passed is True


async def test_slow_patterns_of_others_use_up_nobodys_time():
    slow, hostile = "(?=.*(?=.*(?=.*b)))|c", "a" * 5000 + "c"
    spec = make_grader("regex_match")
    sample = make_sample(ground_truth=slow)

    async def graded(text):
        trajectory = make_trajectory([UserMessage(text="q"), AssistantMessage(text=text)])
        grades = await grade_trajectory(
            [spec],
            sample,
            trajectory,
            snapshots={},
            limits=Limits(),
        )
        return grades[spec.name].status

    statuses = await asyncio.gather(*(graded(hostile) for _ in range(3)), graded("a" * 100 + "c"))
    assert statuses == ["error"] * 3 + ["graded"]


@pytest.mark.parametrize(
    ("op", "score", "passed"),
    [
        ("gte", 0.5, True),
        ("gt", 0.5, False),
        ("lte", 0.5, True),
        ("lt", 0.5, False),
        ("lt", 0.2, True),
        ("eq", 0.5, True),
    ],
)
async def test_a_score_passes_as_the_operator_says(op, score, passed):
    spec = stub(lambda s: Grade(score=score), threshold=0.5, op=op)
    assert (await grade([spec]))["stub"].passed is passed


async def test_turns_pass_as_the_operator_says_too():
    sample = make_sample(input=("one", "two"), ground_truth=("a", "b"))
    turn = (ASKED, AssistantMessage(text="a"))
    spec = make_grader("contains", threshold=0.5, op="lte")
    made = (await grade([spec], sample, make_trajectory(turn, turn)))["contains"]
    assert [shown["passed"] for shown in made.details["turns"]] == [False, True]
    assert (made.score, made.passed) == (0.5, True)
