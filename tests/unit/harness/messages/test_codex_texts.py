import pytest

from harness.messages.codex_texts import framework_kind, unwrap_output


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<environment_context>\n</environment_context>", "environment_context"),
        ("# AGENTS.md instructions for /srv", "user_instructions"),
        ("<permissions instructions>a", "permissions_instructions"),
        ("<b>bold</b>", None),
        ("Fix it <skill>", None),
        ("", None),
    ],
)
def test_what_codex_writes_for_the_user_is_told_by_its_beginning(text, kind):
    assert framework_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "output", "code"),
    [
        ("Exit code: 3\nWall time: 1 seconds\nOutput:\na\nOutput:\nb", "a\nOutput:\nb", 3),
        ("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n", "", None),
        ("Chunk ID: a\nProcess exited with code -1\nOutput:\nx", "x", -1),
        ("Exit code: 0\nWall time: 1 s\nTotal output lines: 9\nOutput:\n\nx", "\nx", 0),
        ('{"output": "x", "metadata": {"exit_code": 0}}', "x", 0),
        ('{"output": "x", "metadata": {"exit_code": "no"}}', "x", None),
    ],
)
def test_an_output_is_what_follows_the_preamble(text, output, code):
    found = unwrap_output(text)
    assert (found.text, found.exit_code) == (output, code)


@pytest.mark.parametrize(
    "text",
    [
        *("Output:\nx", "Exit code: 3", "x\nExit code: 0\nOutput:\n", '{"output": "x"}'),
        *('{"output": 1, "metadata": {}}', '{"output": "x", "metadata": 1}', '{"metadata"', ""),
    ],
)
def test_an_output_that_is_not_wrapped_stays(text):
    assert unwrap_output(text) is None
