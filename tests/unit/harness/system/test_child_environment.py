import pytest

from harness.system.child_environment import plain_environment


@pytest.mark.parametrize(
    ("name", "is_seen"),
    [
        ("PATH", True), ("HOME", True), ("LANG", True), ("LC_ALL", True), ("TZ", True),
        ("TMPDIR", True), ("SystemRoot", True), ("NAMED", True),
        ("OPENAI_API_KEY", False), ("HTTPS_PROXY", False), ("PYTHONPATH", False),
        ("LD_PRELOAD", False), ("named", False), ("REGRADE_RUN", False),
    ],
)  # fmt: skip
def test_a_child_sees_what_a_program_needs_and_what_is_named(name, is_seen):
    seen = plain_environment({name: "x"}, passed=["NAMED", "UNSET"])
    assert seen == ({name: "x"} if is_seen else {})
