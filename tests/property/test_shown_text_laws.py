"""Laws of what is shown: nothing of a trial controls a terminal, and no secret comes through."""

import json
import re
import unicodedata
from datetime import UTC, datetime
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from property.strategies import trajectories

from harness.messages.hidden_texts import trajectory_without
from harness.reports.trial_text import trial_text
from harness.system.secret_values import Secrets
from harness.system.texts import harmless, one_line
from harness.types.grades import Grade
from harness.types.trajectories import Usage
from harness.types.trials import Attempt, Failure, Keys, Timing, Trial

HOSTILE = "\x1b\x07\x00\x9b\r\b\u202e\u2066\u200f\u061c\u2028\u200b\ufeff\U000e0041\ud800"
hostile = st.lists(st.sampled_from([*HOSTILE, "a", "[red]", "<b>", "\n", "\t"])).map("".join)
AT = datetime(2031, 2, 3, tzinfo=UTC)


def _is_harmless(text):
    """Say whether a text holds only line feeds, and what is seen in its place."""
    return not [
        sign
        for sign in text
        if (sign not in "\n\t" and unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"})
        or sign in HOSTILE
    ]


@given(st.text() | hostile)
def test_a_shown_text_is_harmless_and_one_line_is_one(text):
    assert _is_harmless(harmless(text))
    assert not re.search(r"[\n\t]", one_line(text))
    assert harmless(harmless(text)) == harmless(text)


@given(trajectories, hostile, hostile)
def test_nothing_of_a_trial_controls_a_terminal(trajectory, name, text):
    failure = Failure(code=name, message=text)
    turns = [{"turn": 0, "evidence": text, "passed": False}]
    details = {"turns": turns, name: text}
    trial = Trial(
        sample_id=name,
        model=name,
        epoch=0,
        status="completed",
        passed=False,
        score=0.0,
        grades={name: Grade(evidence=text, submission=text, details=details)},
        trajectory=trajectory,
        attempts=(Attempt(started_at=AT, seconds=1.0, error=failure),) * 2,
        usage=Usage(),
        timing=Timing(started_at=AT),
        error=failure,
        keys=Keys(drive="", sample=""),
        snapshots={name: {text: text}},
    )
    assert _is_harmless(trial_text(trial))


keys = st.text('abK9-_/+="é\\\n', min_size=6, max_size=12)


@given(keys, st.text(), st.text())
def test_no_secret_is_left_in_a_text_however_it_is_spelt_there(key, before, after):
    secrets = Secrets([key])
    text = f"{before}{key}{after}"
    for spelt in (text, json.dumps(text), quote(text.encode(errors="replace"))):
        hidden = secrets.hide(spelt)
        assert not secrets.spans(hidden)
        assert (hidden == spelt) is not bool(secrets)


@given(trajectories, keys)
def test_hiding_twice_is_hiding_once(trajectory, key):
    hidden = trajectory_without(Secrets([key]), trajectory)
    assert trajectory_without(Secrets([key]), hidden) == hidden
