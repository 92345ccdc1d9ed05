import pytest
from fakes.factories import make_trajectory

from graders.catalogue import EXTRACTORS
from harness.types.events import UserMessage
from harness.types.grades import Ref

ASKED = UserMessage(text="q")
TWO_TURNS = make_trajectory([ASKED, "a", "b"], [ASKED, "c", "d"])


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("last_assistant", "d", [(1, 2)]),
        ("first_assistant", "a", [(0, 1)]),
        ("all_assistant", "a\nb\nc\nd", [(0, 1), (0, 2), (1, 1), (1, 2)]),
        ("last_turn", "c\nd", [(1, 1), (1, 2)]),
    ],
)
def test_messages_are_taken_with_their_places(name, text, places):
    submission = EXTRACTORS[name]().extract(TWO_TURNS)
    assert submission.text == text
    assert submission.refs == tuple(Ref(turn=t, event=e) for t, e in places)
