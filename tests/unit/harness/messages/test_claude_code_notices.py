import pytest

from harness.messages.claude_code_notices import is_clear, split_notices


@pytest.mark.parametrize(
    ("text", "kinds", "rest"),
    [
        ("Fix the bug", [], "Fix the bug"),
        ("  a < b", [], "  a < b"),
        ("<b>bold</b>", [], "<b>bold</b>"),
        ("<command-name>/x</command-name>\n<command-args>1</command-args>", ["command"], ""),
        (
            "<bash-input>ls</bash-input><bash-stdout>a</bash-stdout>",
            ["command", "command_output"],
            "",
        ),
        ("<ide_selection>a</ide_selection>\n Fix it", ["ide_context"], "Fix it"),
        ("<system-reminder>never closed", ["reminder"], ""),
        ('<teammate-message from="a">Hi</teammate-message>', ["teammate_message"], ""),
        ("[Request interrupted by user for tool use]", ["interruption"], ""),
        ("", [], ""),
    ],
)
def test_notices_stand_apart_from_what_the_user_wrote(text, kinds, rest):
    notices, written = split_notices(text)
    assert ([notice.kind for notice in notices], written) == (kinds, rest)


def test_any_number_of_notices_is_read_in_one_pass():
    notices, rest = split_notices("<bash-stdout></bash-stdout>" * 100_000 + "x")
    assert (len(notices), rest) == (1, "x")


@pytest.mark.parametrize(
    ("text", "clears"),
    [
        ("<command-name>/clear</command-name>", True),
        ("<command-message>clear</command-message>\n<command-name>/clear</command-name>", True),
        ("<command-name>/compact</command-name>", False),
        ("Type <command-name>/clear</command-name>", False),
    ],
)
def test_clear_is_told_by_its_command(text, clears):
    assert is_clear(text) == clears
