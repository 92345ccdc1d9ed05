"""Laws of grading: it is total, repeatable, blind to order, and observed grades decide nothing."""

import asyncio
from dataclasses import replace

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from property.strategies import grader_specs, graders, samples, texts, trajectories

from harness.grading.grade_keys import grade_key
from harness.grading.judging import grade_trajectory
from harness.grading.returned_values import as_grade
from harness.grading.trial_scores import judge_trial
from harness.messages.event_texts import event_text
from harness.system.patterns import SlowPattern, inline_limit
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Subject, Submission
from harness.types.suites import Limits, Scoring

several_specs = st.lists(grader_specs, max_size=4)
unhurried = settings(deadline=None)


def grades_of(specs, sample, trajectory):
    """Grade in a loop of its own."""
    return asyncio.run(grade_trajectory(specs, sample, trajectory, snapshots={}, limits=Limits()))


def stored(grades):
    return {name: msgspec.json.encode(grade) for name, grade in grades.items()}


@unhurried
@given(several_specs, samples(), trajectories)
def test_every_grader_gives_a_whole_grade_on_anything(specs, sample, trajectory):
    grades = grades_of(specs, sample, trajectory)
    assert list(grades) == [spec.name for spec in specs]
    for spec in specs:
        grade = grades[spec.name]
        assert msgspec.json.decode(msgspec.json.encode(grade), type=Grade) == grade
        assert grade.key == grade_key(spec, sample)
        assert grade.evidence
        if grade.status == "graded":
            assert 0.0 <= grade.score <= 1.0
            assert isinstance(grade.passed, bool)
        else:
            assert (grade.score, grade.passed) == (None, None)


@unhurried
@given(several_specs, samples(), trajectories)
def test_every_ref_points_at_characters_that_are_there(specs, sample, trajectory):
    for grade in grades_of(specs, sample, trajectory).values():
        for ref in grade.refs:
            event = trajectory.turns[ref.turn].events[ref.event]
            if ref.start is not None:
                assert 0 <= ref.start <= ref.end <= len(event_text(event))


@unhurried
@given(graders, samples(), trajectories, texts)
def test_a_grader_raises_nothing_but_what_it_may(grader, sample, trajectory, text):
    try:
        with inline_limit():
            made = grader.grade(Subject(sample, trajectory, Submission(text)))
    except (GraderError, SlowPattern):
        return
    assert made.score in (0.0, 1.0)


@unhurried
@given(several_specs, samples(), trajectories)
def test_grading_twice_gives_the_same_bytes(specs, sample, trajectory):
    once, twice = (grades_of(specs, sample, trajectory) for _ in range(2))
    assert stored(once) == stored(twice)


@unhurried
@given(several_specs, samples(), trajectories, st.randoms(use_true_random=False))
def test_the_order_of_graders_changes_no_grade(specs, sample, trajectory, random):
    shuffled = random.sample(specs, len(specs))
    assert stored(grades_of(specs, sample, trajectory)) == stored(
        grades_of(shuffled, sample, trajectory)
    )


scores = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.9, 1.0]))
thresholds = st.none() | scores


@st.composite
def graded(draw):
    """Draw specs with their grades."""
    specs = draw(several_specs)
    return specs, {spec.name: draw(grades()) for spec in specs}


@st.composite
def grades(draw):
    """Draw a grade of any status."""
    status = draw(st.sampled_from(["graded", "graded", "graded", "skipped", "error"]))
    if status != "graded":
        return Grade(status=status)
    return Grade(score=draw(scores), passed=draw(st.booleans()))


@given(graded(), grader_specs, grades(), thresholds)
def test_an_observed_grade_changes_no_judgement(given_specs, spec, grade, threshold):
    specs, made = given_specs
    watched = replace(spec, role="observed")
    scoring = Scoring(threshold=threshold)
    more = {**made, watched.name: grade}
    assert judge_trial([*specs, watched], more, scoring) == judge_trial(specs, made, scoring)


@given(graded(), thresholds)
def test_the_judgement_of_a_trial_does_not_depend_on_the_order_of_graders(given_specs, threshold):
    specs, made = given_specs
    scoring = Scoring(threshold=threshold)
    assert judge_trial(specs[::-1], made, scoring) == judge_trial(specs, made, scoring)


@given(graded(), thresholds)
def test_a_score_lies_between_the_lowest_and_the_highest(given_specs, threshold):
    specs, made = given_specs
    _, score = judge_trial(specs, made, Scoring(threshold=threshold))
    counted = [
        made[spec.name].score
        for spec in specs
        if spec.role != "observed" and made[spec.name].score is not None
    ]
    if score is not None:
        assert min(counted) - 1e-12 <= score <= max(counted) + 1e-12


@given(graded(), grader_specs, scores, thresholds)
def test_a_scored_grade_moves_the_mean_towards_itself(given_specs, spec, score, threshold):
    specs, made = given_specs
    scoring = Scoring(threshold=threshold)
    _, before = judge_trial(specs, made, scoring)
    scored = replace(spec, role="scored", weight=1.0)
    more = {**made, scored.name: Grade(score=score, passed=True)}
    _, after = judge_trial([*specs, scored], more, scoring)
    if before is not None:
        low, high = sorted((before, score))
        assert low - 1e-12 <= after <= high + 1e-12


anything = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.complex_numbers(),
        texts,
        st.binary(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["score", "rationale", "details", "passed"]), inner),
    ),
    max_leaves=4,
)


@given(anything)
def test_whatever_a_function_returns_is_a_score_in_bounds_or_an_error(value):
    try:
        made = as_grade(value)
    except GraderError:
        return
    assert made.status == "graded"
    assert 0.0 <= made.score <= 1.0
    assert msgspec.json.encode(msgspec.structs.replace(made, evidence=""))
