import pytest
from fakes.factories import make_call, make_sample, make_trajectory

from graders.tool_output_echo import AssistantContainsToolOutput
from harness.system.patterns import SlowPattern, inline_limit, time_limit
from harness.types.events import UserMessage
from harness.types.grades import Ref
from harness.types.protocols import Subject

ASKED = UserMessage(text="Find them.")


def judged(trajectory, **options):
    grader = AssistantContainsToolOutput(
        **{"tools": ("lookup",), "pattern": r"id=(\w+)", **options}
    )
    return grader.grade(Subject(make_sample(), trajectory))


def two_values(*said):
    return make_trajectory([ASKED, *make_call(output="id=K41 id=M02"), *said])


def test_a_pass_points_at_the_value_in_the_output_and_in_the_answer():
    made = judged(make_trajectory())
    assert made.refs == (
        Ref(turn=0, event=2, start=3, end=6),
        Ref(turn=0, event=3, start=6, end=9),
    )
    assert made.details == {"captured": ["K41"], "echoed": ["K41"]}


def test_a_value_that_is_not_echoed_is_pointed_at():
    made = judged(two_values("none"))
    assert made.refs == (Ref(turn=0, event=2, start=3, end=6),)
    assert made.details == {"captured": ["K41"], "echoed": []}


def test_results_without_a_match_are_pointed_at():
    made = judged(make_trajectory([ASKED, *make_call(output="nothing"), "K41"]))
    assert made.refs == (Ref(turn=0, event=2),)


@pytest.mark.parametrize(
    ("options", "said", "passed", "evidence"),
    [
        ({}, "M02", False, "assistant did not echo 1 captured value(s)"),
        ({"all_matches": True}, "M02", True, 'assistant echoed captured value "M02"'),
        ({"all_matches": True}, "x", False, "assistant did not echo 2 captured value(s)"),
        ({"require": "all"}, "K41", True, "assistant echoed all of 1 captured value(s)"),
        (
            {"require": "all", "all_matches": True},
            "K41",
            False,
            "assistant did not echo 1 of 2 captured value(s)",
        ),
        (
            {"require": "all", "all_matches": True},
            "M02 K41",
            True,
            "assistant echoed all of 2 captured value(s)",
        ),
    ],
)
def test_further_matches_and_all_values_count_only_on_request(options, said, passed, evidence):
    made = judged(two_values(said), **options)
    assert (made.score, made.evidence) == (float(passed), evidence)


def test_all_values_may_be_echoed_in_different_messages():
    made = judged(two_values("K41", "and M02"), require="all", all_matches=True)
    assert made.score == 1.0
    assert [ref.event for ref in made.refs] == [2, 3, 2, 4]


def test_long_and_many_values_are_listed_within_bounds():
    output = " ".join(f"id=V{n:04}{'x' * 3000}" for n in range(150))
    trajectory = make_trajectory([ASKED, *make_call(output=output), "none"])
    details = judged(trajectory, all_matches=True).details
    assert len(details["captured"]) == 100
    assert details["captured_count"] == 150
    assert details["captured"][0].endswith("… (3,005 characters)")


def test_comparing_many_values_with_many_messages_keeps_to_the_time_limit():
    output = " ".join(f"id=v{n}" for n in range(3000))
    said = ["none" * 50] * 3000
    trajectory = make_trajectory([ASKED, *make_call(output=output), *said])
    with pytest.raises(SlowPattern) as slow, inline_limit():
        judged(trajectory, all_matches=True)
    assert slow.value.limited is False
    with pytest.raises(SlowPattern) as slow, time_limit(0.05):
        judged(trajectory, all_matches=True)
    assert slow.value.limited is True


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, []),
        ({"tools": ()}, ["tools"]),
        ({"pattern": "("}, ["pattern"]),
        ({"tools": (), "pattern": "["}, ["tools", "pattern"]),
        ({"pattern": "a" * 100_001}, ["pattern"]),
    ],
)
def test_options_that_cannot_work_are_found_beforehand(options, found):
    grader = AssistantContainsToolOutput(**{"tools": ("lookup",), "pattern": "x", **options})
    assert [option for option, _ in grader.lint()] == found


@pytest.mark.parametrize(
    "note",
    [
        "[... 4096 characters truncated ...]",
        "... 12 lines omitted",
        "[…1,204 tokens truncated…]",
    ],
)
def test_the_first_match_outside_a_note_that_output_was_cut_is_captured(note):
    trajectory = make_trajectory([ASKED, *make_call(output=f"{note}\n77"), "It is 77."])
    assert judged(trajectory, pattern=r"\d+").evidence == 'assistant echoed captured value "77"'


@pytest.mark.parametrize(
    ("output", "all_matches", "evidence"),
    [
        ("[... 4096 characters truncated ...] " * 20_000, False, "no "),
        ("[... 4096 characters truncated ...] " * 20_000, True, "no "),
        ("truncated " + "1 " * 200_000, True, "assistant did not echo 1 captured"),
    ],
)
def test_an_output_full_of_notes_or_values_is_judged_in_time_proportional_to_its_length(
    output, all_matches, evidence
):
    trajectory = make_trajectory([ASKED, *make_call(output=output), "none"])
    with time_limit(20):
        made = judged(trajectory, pattern=r"(\d+)", all_matches=all_matches)
    assert made.evidence.startswith(evidence)


def test_judging_many_values_of_one_output_keeps_the_time_limit():
    trajectory = make_trajectory([ASKED, *make_call(output="1 " * 2_000_000), "none"])
    with time_limit(0.2), pytest.raises(SlowPattern):
        judged(trajectory, pattern=r"(\d+)", all_matches=True)
