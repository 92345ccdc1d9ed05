"""The commands that show a trial again."""

import shlex
from pathlib import Path

import pytest
from fakes.explained_runs import make_manifest

from harness.cli import group
from harness.running.reproducing import commands_of


def test_a_trial_is_shown_and_its_sample_driven_again():
    manifest = make_manifest(
        suite_file=str(Path("suites/s.yaml").resolve()),
        target_file=str(Path("t.yaml").resolve()),
        parameters=("A=1",),
    )
    assert commands_of(Path("runs/r"), manifest, "s 1", "m") == (
        "regrade show runs/r --model=m 's 1'",
        (
            "regrade run suites/s.yaml --target=t.yaml --param=A=1 --model=m '--sample=s 1' "
            "--out=tries"
        ),
    )


@pytest.mark.parametrize(
    "manifest",
    [None, make_manifest(), make_manifest(suite_file="s.yaml", graded_from="another")],
)
def test_what_was_not_driven_by_a_suite_file_is_only_shown(manifest):
    assert len(commands_of(Path("r"), manifest, "s", "m")) == 1


def test_a_target_without_models_takes_none():
    manifest = make_manifest(suite_file="s.yaml", models=("default",))
    again = commands_of(Path("r"), manifest, "s", "default")[1]
    assert again == "regrade run s.yaml --sample=s --out=tries"


@pytest.mark.parametrize("sample_id", ["-x", "--help", "a b", "$(rm)", "it's", "a\nb", "--"])
def test_any_id_comes_through_the_shell_and_the_command_as_it_is(sample_id):
    manifest = make_manifest(suite_file="s.yaml", models=("-m",))
    for command in commands_of(Path("r"), manifest, sample_id, "-m"):
        _, name, *words = shlex.split(command)
        found = group.get_command(None, name)
        with found.make_context(name, words) as context:
            given = context.params
        assert given.get("sample", sample_id) == sample_id
        assert given.get("ids", (sample_id,)) == (sample_id,)
        assert given.get("model", "-m") == "-m"
