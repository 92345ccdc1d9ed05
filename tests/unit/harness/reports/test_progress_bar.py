"""What is said of a run while it goes on."""

import pytest

from harness.reports.progress_bar import counts
from harness.types.progress import Progress


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(9, 3, 1, 1, 1), "1 passed, 1 failed, 1 errors"),
        (Progress(9, waiting=2), "0 passed, 0 failed, 0 errors, 2 waiting"),
        (
            Progress(9, slowed=(("m", 5), ("n", 1))),
            "0 passed, 0 failed, 0 errors, m slowed to 5 at once, n slowed to 1 at once",
        ),
    ],
)
def test_what_holds_a_run_up_is_said_beside_its_counts(progress, text):
    assert counts(progress) == text


def test_the_name_of_a_model_moves_no_cursor():
    text = counts(Progress(9, slowed=(("m\x1b[2J\n", 1),)))
    assert text.isprintable()
