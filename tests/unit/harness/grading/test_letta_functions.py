"""Functions of letta-evals as graders, extractors and composers of one trial."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fakes.factories import make_custom, make_extractor, make_grader, make_sample, make_trajectory
from letta_client.types.agents import AssistantMessage, ToolCallMessage

from harness.grading.judging import grade_trajectory
from harness.shims.eval_models import GradeResult, PerTurnGrade, RewardOutput, Sample
from harness.shims.function_marks import extractor, grader, reward_composer
from harness.shims.message_lists import get_assistant_messages
from harness.types.events import UserMessage
from harness.types.grades import Grade
from harness.types.suites import Limits
from harness.types.trajectories import Usage
from harness.types.trials import TrialFacts

STATE = {"agent_state": {"id": "agent-1", "blocks": [{"label": "human", "value": "Ada"}]}}


async def judge(*specs, sample=None, trajectory=None, snapshots=None, facts=None):
    return await grade_trajectory(
        specs,
        sample or make_sample(),
        trajectory or make_trajectory(),
        snapshots=snapshots or {},
        limits=Limits(),
        facts=facts or TrialFacts(),
    )


async def judged(spec, **given):
    return (await judge(spec, **given))[spec.name]


async def test_a_grader_is_given_a_sample_of_letta_evals_and_the_text():
    @grader
    def check(sample, submission) -> GradeResult:
        assert isinstance(sample, Sample)
        assert (sample.id, sample.input, sample.extra_vars) == (7, "Find it.", {"a": 1})
        return GradeResult(score=0.5, rationale="half", metadata={"said": submission})

    made = await judged(make_custom(check), sample=make_sample(id="7", extra_vars={"a": 1}))
    assert (made.score, made.passed, made.evidence) == (0.5, False, "half")
    assert (made.details, made.submission) == ({"said": "It is K41."}, "It is K41.")


async def test_an_async_grader_may_return_a_bare_number():
    @grader
    async def check(sample, submission):
        return 1.0

    assert (await judged(make_custom(check))).passed is True


async def test_an_extractor_is_given_lists_of_the_clients_messages():
    @extractor
    def calls(trajectory, config) -> str:
        assert isinstance(trajectory, list)
        assert isinstance(trajectory[0], list)
        found = [m for turn in trajectory for m in turn if isinstance(m, ToolCallMessage)]
        return f"{config['prefix']}{found[0].tool_call.name}"

    taken = make_extractor(calls, {"prefix": "called "})
    spec = make_custom(lambda submission: submission == "called lookup", name="g")
    made = await judged(replace(spec, extractor=taken))
    assert (made.passed, made.submission) == (True, "called lookup")


async def test_extractors_of_one_trial_share_the_messages_but_no_list():
    seen = []

    def taking(name):
        def take(trajectory, config):
            messages = get_assistant_messages(trajectory)
            seen.append(messages[0])
            trajectory.clear()
            return name

        take.__name__ = name
        return extractor(take)

    one, two = taking("one"), taking("two")

    def check(submission):
        return submission in {"one", "two"}

    made = await judge(
        make_custom(check, name="a", extractor=one), make_custom(check, name="b", extractor=two)
    )
    assert all(grade.passed for grade in made.values())
    assert isinstance(seen[0], AssistantMessage)
    assert seen[0] is seen[1]


async def test_each_turn_is_graded_by_itself_where_there_is_a_ground_truth_a_turn():
    @extractor
    def all_text(trajectory, config):
        return " ".join(m.content for m in get_assistant_messages(trajectory))

    @grader
    def same(sample, submission):
        return GradeResult(score=float(sample.ground_truth == submission))

    trajectory = make_trajectory([UserMessage(text="a"), "x"], [UserMessage(text="b"), "y"])
    sample = make_sample(input=("a", "b"), ground_truth=("x", "z"))
    made = await judged(make_custom(same, extractor=all_text), sample=sample, trajectory=trajectory)
    assert (made.score, made.submission) == (0.5, "[Turn 0] x | [Turn 1] y")


async def test_an_extractor_with_three_parameters_is_given_the_agents_end_state():
    @extractor
    def human(trajectory, config, agent_state):
        return next(block.value for block in agent_state.blocks if block.label == "human")

    @grader
    def is_ada(sample, submission):
        return GradeResult(score=float(submission == "Ada"))

    spec = make_custom(is_ada, extractor=human)
    assert (await judged(spec, snapshots=STATE)).score == 1.0
    missing = await judged(spec)
    assert missing.status == "error"
    assert "human asks for agent_state, and no end state of the agent is stored" in missing.evidence


async def test_regrades_own_functions_may_ask_for_the_end_state_too():
    def takes(trajectory, agent_state):
        return agent_state["blocks"][0]["value"]

    def takes_maybe(trajectory, config, agent_state=None):
        return "none" if agent_state is None else "some"

    def check(submission, agent_state=None):
        return {"score": 1, "seen": [submission, agent_state is not None]}

    known = await judged(make_custom(check, extractor=takes), snapshots=STATE)
    assert known.details["seen"] == ["Ada", True]
    unknown = await judged(make_custom(check, extractor=takes_maybe))
    assert unknown.details["seen"] == ["none", False]
    missing = await judged(make_custom(check, extractor=takes))
    assert "takes asks for 'agent_state', and no end state of that name" in missing.evidence


@pytest.mark.parametrize(
    ("score", "problem"),
    [(1.5, "less than or equal to 1"), (-0.1, "greater"), (float("nan"), "finite number")],
)
async def test_a_result_out_of_range_is_an_error_with_the_users_line(score, problem):
    @grader
    def check(sample, submission):
        return GradeResult(score=score)

    made = await judged(make_custom(check))
    assert made.status == "error"
    assert problem in made.evidence
    assert "(test_letta_functions.py:" in made.evidence


@pytest.mark.parametrize("value", [None, "good", ["a"]])
async def test_what_is_no_judgement_is_an_error(value):
    @grader
    def check(sample, submission):
        return value

    assert (await judged(make_custom(check))).status == "error"


async def test_metadata_is_kept_as_pydantic_writes_it():
    @grader
    def check(sample, submission):
        turns = [PerTurnGrade(turn=0, score=1, submission="x")]
        metadata = {"at": datetime(2026, 1, 2, tzinfo=UTC), "set": {1}, "loss": float("nan")}
        metadata["other"] = object
        return GradeResult(score=1, metadata=metadata, per_turn_grades=turns)

    details = (await judged(make_custom(check))).details
    assert (details["at"], details["set"], details["loss"]) == ("2026-01-02T00:00:00Z", [1], "NaN")
    assert "object" in details["other"]
    turn = {"turn": 0, "score": 1.0, "rationale": None, "submission": "x"}
    assert details["per_turn_grades"] == [turn]


async def test_large_metadata_is_cut_and_says_so():
    @grader
    def check(sample, submission):
        return GradeResult(score=1, metadata={"log": "x" * 300_000, "n": 1})

    details = (await judged(make_custom(check))).details
    assert details["n"] == 1
    assert len(details["log"]) < 60_000
    assert details["log"].endswith("… (cut: 300,002 characters in all)")


async def test_a_composer_runs_after_the_others_and_sees_their_grades():
    @reward_composer
    def reward(ctx) -> RewardOutput:
        score = 0.25 * ctx.grades["check"].score + 0.75 * ctx.grades["contains"].score
        return RewardOutput(score=score, metadata={"said": ctx.submissions["contains"]})

    @grader
    async def check(sample, submission):
        return GradeResult(score=1)

    specs = [make_custom(reward), make_grader("contains"), make_custom(check)]
    made = await judge(*specs, sample=make_sample(ground_truth="nothing"))
    assert list(made) == ["reward", "contains", "check"]
    assert made["reward"].score == 0.25
    assert made["reward"].details == {"said": "It is K41."}
    assert made["reward"].submission is None


async def test_a_composer_is_told_of_the_trial():
    @reward_composer
    async def reward(ctx):
        seen = [ctx.model_handle, ctx.usage.prompt_tokens, ctx.timing.target, ctx.agent_id]
        seen += [ctx.agent_state.blocks[0].value, ctx.trajectory[0][-1].content, ctx.sample.id]
        return {"score": True, "metadata": {"seen": seen}}

    facts = TrialFacts(model="m", usage=Usage(input_tokens=5), seconds=1.5)
    made = await judged(make_custom(reward), facts=facts, snapshots=STATE)
    assert made.details["seen"] == ["m", 5, 1.5, "agent-1", "Ada", "It is K41.", "s1"]


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (RewardOutput(score=0.5), 0.5),
        (0.75, 0.75),
        (1, 1.0),
        (True, 1.0),
        (False, 0.0),
        ({"score": 0, "metadata": {"why": "x"}}, 0.0),
        ("bad", None),
        (None, None),
        (2.0, None),
        (-0.5, None),
        (float("nan"), None),
    ],
)
async def test_what_a_composer_may_return(value, score):
    @reward_composer
    def reward(ctx):
        return value

    made = await judged(make_custom(reward))
    assert (made.status, made.score) == ("error" if score is None else "graded", score)


async def test_a_composer_has_nothing_to_compose_where_a_grader_broke():
    called = []

    @reward_composer
    def reward(ctx):
        called.append(ctx)
        return 1.0

    @grader
    def breaks(sample, submission):
        raise KeyError("price")

    made = await judge(make_custom(reward), make_custom(breaks), make_grader("contains"))
    assert made["reward"].status == "error"
    assert "reward has no grade of breaks to compose: grader_broke: KeyError: 'price'" in (
        made["reward"].evidence
    )
    assert called == []


async def test_a_composer_that_misses_a_grade_is_an_error_that_names_it():
    @reward_composer
    def reward(ctx):
        return ctx.grades["quality"].score

    made = await judged(make_custom(reward))
    assert made.status == "error"
    assert "KeyError: 'quality'" in made.evidence


async def test_regrades_own_graders_see_the_grades_before_them_errors_and_all():
    def breaks(submission):
        raise KeyError("price")

    def first(grades):
        return {"score": 1, "seen": {name: grade.status for name, grade in grades.items()}}

    def second(sample, submission, grades=None):
        grades["first"].details.clear()
        return {"score": 1, "seen": list(grades)}

    specs = [make_custom(first), make_custom(second), make_custom(breaks), make_grader("contains")]
    made = await judge(*specs)
    assert made["first"].details == {"seen": {"contains": "graded", "breaks": "error"}}
    assert made["second"].details == {"seen": ["breaks", "contains", "first"]}


async def test_grades_that_are_there_already_are_seen_too():
    @reward_composer
    def reward(ctx):
        return ctx.grades["kept"].score

    facts = TrialFacts(grades={"kept": Grade(score=0.5, passed=True)})
    assert (await judged(make_custom(reward), facts=facts)).score == 0.5


async def test_a_composer_is_called_where_nothing_was_said():
    @reward_composer
    def reward(ctx):
        return ctx.grades["contains"].score

    made = await judge(make_custom(reward), make_grader("contains"), trajectory=make_trajectory([]))
    assert made["reward"].score == 0.0
