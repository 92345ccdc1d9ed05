from itertools import pairwise

import pytest

from harness.messages.hidden_texts import trajectory_without
from harness.system.secret_values import SHOWN, Secrets
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step, Trajectory, Turn

KEY = "canary-9f3a-secret"
SECRETS = Secrets([KEY])


def _said(*events, steps=()):
    return Trajectory(turns=(Turn(events=events, steps=steps),))


@pytest.mark.parametrize(
    "event",
    [
        UserMessage(text=f"use {KEY}"),
        AssistantMessage(text=f"it is {KEY}."),
        Reasoning(text=KEY),
        ToolCall(
            call_id="c", name="f", arguments={"a": [KEY]}, arguments_text=f'{{"a":["{KEY}"]}}'
        ),
        ToolCall(call_id=KEY, name=KEY, arguments=KEY),
        ToolResult(call_id="c", name="f", output=f"TOK_A={KEY}\nPATH=/bin", structured={KEY: KEY}),
        SystemEvent(kind="k", text=KEY, data={"headers": {"authorization": f"Bearer {KEY}"}}),
        ErrorEvent(kind="k", message=f"401 {KEY}"),
    ],
)
def test_a_secret_is_hidden_wherever_it_stands_in_an_event(event):
    (hidden,) = trajectory_without(SECRETS, _said(event)).events()
    assert KEY not in repr(hidden)
    assert SHOWN in repr(hidden)
    assert type(hidden) is type(event)


def test_what_holds_no_secret_is_the_very_same():
    said = _said(UserMessage(text="a"), AssistantMessage(text="b"))
    assert trajectory_without(SECRETS, said) is said


@pytest.mark.parametrize("cuts", [(6,), (1, 2), (6, 12), (3, 6, 9, 12, 15)])
def test_a_secret_that_is_said_piece_by_piece_is_hidden(cuts):
    text = f"It is {KEY}, keep it."
    places = [0, *(6 + cut for cut in cuts), len(text)]
    pieces = [text[one:other] for one, other in pairwise(places)]
    said = _said(UserMessage(text="Hi"), *(AssistantMessage(text=piece) for piece in pieces))
    texts = [event.text for event in trajectory_without(SECRETS, said).events()][1:]
    assert len(texts) == len(pieces)
    assert "".join(texts) == f"It is {SHOWN}, keep it."


def test_a_secret_over_two_kinds_of_events_is_none():
    said = _said(Reasoning(text=KEY[:5]), AssistantMessage(text=KEY[5:]))
    assert trajectory_without(SECRETS, said) == said


def test_what_an_endpoint_says_of_its_model_is_looked_at():
    said = _said(AssistantMessage(text="a"), steps=(Step(model=f"m-{KEY}", stop_reason="stop"),))
    (step,) = trajectory_without(SECRETS, said).turns[0].steps
    assert (step.model, step.stop_reason) == (f"m-{SHOWN}", "stop")


def test_texts_with_lone_surrogates_are_looked_at_too():
    said = _said(AssistantMessage(text=f"\ud800 {KEY}"))
    (event,) = trajectory_without(SECRETS, said).events()
    assert event.text == f"\ud800 {SHOWN}"
