"""Run directories."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from harness.storing.run_folders import find_run, make_run_folder, new_run_id
from harness.types.errors import StoreError

AT = datetime(2031, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("suite", "slug"),
    [
        ("Release train", "release-train"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本", "suite"),
        ("x" * 300, "x" * 40),
        ("a\n\x1b[31m", "a-31m"),
    ],
)
def test_a_run_is_named_by_time_suite_and_six_digits(tmp_path, suite, slug):
    folder = make_run_folder(tmp_path / "runs", new_run_id(suite, AT), nothing)
    assert folder.parent == tmp_path / "runs"
    assert re.fullmatch(rf"20310203T040506789Z-{slug}-[0-9a-f]{{6}}", folder.name)


def test_two_runs_in_one_second_do_not_meet(tmp_path):
    assert len({make_run_folder(tmp_path, new_run_id("s", AT), nothing) for _ in range(20)}) == 20


def test_a_place_that_cannot_be_written_is_one_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot make") as caught:
        make_run_folder(tmp_path / "file", new_run_id("s", AT), nothing)
    assert "--out" in caught.value.hint


def test_a_run_is_found_by_path_by_name_and_as_the_latest(tmp_path):
    for name in ("20310101T000000999Z-s-aaaaaa", "20310102T000000000Z-s-000000"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trials.jsonl").touch()
    newest = tmp_path / "20310102T000000000Z-s-000000"
    assert find_run("latest", tmp_path) == newest
    assert find_run(newest.name, tmp_path) == newest
    assert find_run(newest, tmp_path / "elsewhere") == newest


@pytest.mark.parametrize("name", ["latest", "nothing"])
def test_a_run_that_is_not_there_is_an_error_that_says_what_to_name(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as caught:
        find_run(name, tmp_path)
    assert caught.value.hint


def nothing(folder):
    """Fill a run folder with nothing."""


def test_the_latest_run_is_the_one_made_last_whatever_the_clock_said(tmp_path):
    day = timedelta(days=1)
    made = [
        make_run_folder(tmp_path, new_run_id("s", AT - day * back), filled) for back in (0, 2, 1)
    ]
    assert find_run("latest", tmp_path) == made[-1]
    # Of an older Regrade, or copied there: by its name, as well as that can be told.
    for name, newest in (("20310202T000000000Z-s-aaaaaa", made[2]), ("2032-s", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trials.jsonl").touch()
        assert find_run("latest", tmp_path) == (newest or tmp_path / name)


def test_a_newest_run_without_its_trials_is_named(tmp_path):
    folder = make_run_folder(tmp_path, new_run_id("s", AT), filled)
    (folder / "trials.jsonl").unlink()
    with pytest.raises(StoreError, match="holds no trials") as caught:
        find_run("latest", tmp_path)
    assert caught.value.place == str(folder)


def filled(folder):
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
