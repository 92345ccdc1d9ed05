"""Laws of the graders of trajectories: they are total, repeatable, and point at what is there."""

import asyncio
import json
from dataclasses import replace

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from property.strategies import (
    samples,
    snapshots,
    trajectories,
    trajectory_graders,
    trajectory_specs,
)

from graders.argument_places import span_in_call
from harness.grading.judging import grade_trajectory
from harness.messages.event_texts import event_text
from harness.system.json_values import compact_json
from harness.system.patterns import PatternError, SlowPattern, time_limit
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Subject
from harness.types.suites import Limits

unhurried = settings(deadline=None)
one_spec = trajectory_specs()


def grades_of(specs, sample, trajectory, state):
    """Grade in a loop of its own."""
    given_ = {"snapshots": state, "limits": Limits()}
    return asyncio.run(grade_trajectory(specs, sample, trajectory, **given_))


@unhurried
@given(trajectory_graders, samples(), trajectories, snapshots)
def test_a_grader_raises_nothing_but_what_it_may(grader, sample, trajectory, state):
    try:
        with time_limit():
            made = grader.grade(Subject(sample, trajectory, None, state))
    except (GraderError, SlowPattern, PatternError):
        return
    assert made.evidence
    if made.status == "graded":
        assert 0.0 <= made.score <= 1.0


@unhurried
@given(trajectory_graders)
def test_what_is_wrong_with_options_is_told_without_breaking(grader):
    for option, problem in getattr(grader, "lint", tuple)():
        assert option in grader.__dataclass_fields__
        assert problem


@unhurried
@given(one_spec, samples(), trajectories, snapshots)
def test_a_grade_is_whole_storable_and_the_same_when_made_again(spec, sample, trajectory, state):
    once, twice = (grades_of([spec], sample, trajectory, state)[spec.name] for _ in range(2))
    assert msgspec.json.encode(once) == msgspec.json.encode(twice)
    assert msgspec.json.decode(msgspec.json.encode(once), type=Grade) == once
    if once.status == "graded":
        assert isinstance(once.passed, bool)
        assert once.score == 1.0 or not once.passed or once.score >= 0.0
    else:
        assert (once.score, once.passed) == (None, None)


@unhurried
@given(one_spec, samples(), trajectories, snapshots)
def test_every_ref_points_at_characters_that_are_there(spec, sample, trajectory, state):
    for ref in grades_of([spec], sample, trajectory, state)[spec.name].refs:
        event = trajectory.turns[ref.turn].events[ref.event]
        if ref.start is not None:
            assert 0 <= ref.start <= ref.end <= len(event_text(event))


@unhurried
@given(one_spec, samples(), trajectories, snapshots, st.integers(-3, 3))
def test_a_grader_of_one_turn_sees_that_turn_alone(spec, sample, trajectory, state, turn):
    spec = replace(spec, turn=turn, parts=())
    if hasattr(spec.grader, "combine"):
        return
    made = grades_of([spec], sample, trajectory, state)[spec.name]
    count = len(trajectory.turns)
    index = turn if turn >= 0 else count + turn
    if not 0 <= index < count:
        assert made.passed is False
        assert "was never reached" in made.evidence
        return
    assert {ref.turn for ref in made.refs} <= {index}
    alone = replace(spec, turn=0)
    slice_ = type(trajectory)(turns=(trajectory.turns[index],))
    same = grades_of([alone], sample, slice_, state)[spec.name]
    assert (made.status, made.score, made.passed) == (same.status, same.score, same.passed)
    assert made.evidence == same.evidence


sendable = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-9, 9), st.text()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
spellings = st.fixed_dictionaries({"indent": st.none() | st.just(1), "ensure_ascii": st.booleans()})


@unhurried
@given(
    st.data(), st.dictionaries(st.text(), st.text(min_size=1), min_size=1), spellings, st.booleans()
)
def test_the_place_of_a_match_in_a_text_reads_as_the_match(data, arguments, spelling, wrapped):
    name = data.draw(st.sampled_from(sorted(arguments)))
    value = arguments[name]
    start = data.draw(st.integers(0, len(value) - 1))
    end = data.draw(st.integers(start + 1, len(value)))
    sent = json.dumps(arguments, **spelling)
    written = json.dumps(sent, **spelling) if wrapped else sent
    first, last = span_in_call(written, arguments, (start, end), name)
    shown = written[first:last]
    for _ in range(1 + wrapped):
        shown = json.loads(f'"{shown}"')
    assert shown == value[start:end]


@unhurried
@given(st.data(), st.dictionaries(st.text(), sendable, min_size=1), spellings)
def test_the_place_of_a_match_in_any_arguments_is_there(data, arguments, spelling):
    text = compact_json(arguments)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    sent = json.dumps(arguments, **spelling)
    span = span_in_call(sent, arguments, (start, end))
    assert span is None or 0 <= span[0] <= span[1] <= len(sent)
    assert span is not None or start == end
    if text[start:end].isalpha() and sent.count(text[start:end]) == 1:
        assert sent[slice(*span)] == text[start:end]
