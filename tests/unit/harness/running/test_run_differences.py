"""What else differs between two runs."""

from fakes.explained_runs import make_manifest

from harness.running.run_differences import differences
from harness.types.comparisons import SUITE_LINE


def lines(before, after):
    manifests = (make_manifest(suite_text=before), make_manifest(suite_text=after))
    found = differences(*manifests, models=("m", "m"))
    return [(one.before, one.after) for one in found if one.what == SUITE_LINE]


def test_changed_lines_of_the_suite_are_told_without_blank_ones_and_comments_last():
    before = "# about it\n\nname: s\nprompt: a\n"
    after = "name: s\nprompt: b\n\n# about that\n"
    assert lines(before, after) == [
        ("prompt: a", None),
        (None, "prompt: b"),
        ("# about it", None),
        (None, "# about that"),
    ]


def test_where_blank_lines_alone_differ_no_line_does():
    assert lines("a: 1\n", "a: 1\n\n") == []
