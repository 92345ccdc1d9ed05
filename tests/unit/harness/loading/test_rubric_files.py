"""Rubric files that rows name: below the suite's folder, and nowhere else."""

import pytest

from harness.loading.datasets import open_dataset
from harness.loading.rubric_files import MOST_BYTES
from harness.loading.suite_files import load_suite


@pytest.fixture
def read(folder):
    """Give the rubric of a row with a `rubric_path`, or the faults of it."""

    def read(path, dataset="d.jsonl"):
        folder.write(dataset, '{"input": "x", "rubric_path": "%s"}\n' % path)  # noqa: UP031
        folder.suite(f"dataset: {dataset}", samples=False)
        if faults := folder.faults():
            return faults
        (sample,) = open_dataset(load_suite(folder.path / "suite.yaml")).samples()
        return sample.rubric

    return read


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("r.txt", "r.txt"),
        ("a/r.txt", "a/r.txt"),
        ("a/r.txt", "./a/r.txt"),
        ("a/r.txt", "a\\\\r.txt"),
    ],
)
def test_a_rubric_is_read_from_below_the_suite(folder, read, name, path):
    folder.write(name, "Is {submission} good?\n")
    assert read(path) == "Is {submission} good?\n"


def test_the_folder_of_the_dataset_is_looked_at_second(folder, read):
    folder.write("data/r.txt", "beside the dataset")
    assert read("r.txt", "data/d.jsonl") == "beside the dataset"
    folder.write("r.txt", "beside the suite")
    assert read("r.txt", "data/d.jsonl") == "beside the suite"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("missing.txt", 'there is no rubric file "missing.txt"'),
        ("", '"" is no relative path'),
        ("/etc/hostname", "is no relative path"),
        ("\\\\\\\\server\\\\share", "is no relative path"),
        ("C:/r.txt", "is no relative path"),
        ("a\\nb.txt", "is no relative path"),
        ("../secret.txt", "leads to a hidden file, or out of the folder"),
        ("a/../../secret.txt", "leads to a hidden file, or out of the folder"),
        (".env", "leads to a hidden file, or out of the folder"),
        ("a/.git/config", "leads to a hidden file, or out of the folder"),
        ("outside", "is a link that leads out of the folder"),
        ("linked/secret.txt", "is a link that leads out of the folder"),
        ("latin.txt", "the byte 0xE9"),
        ("long.txt", "is too long for a rubric; at most 1,000,000 bytes"),
        ("a", 'there is no rubric file "a"'),
        ("x" * 300, "cannot be read: File name too long"),
    ],
)
def test_a_row_cannot_name_another_file(folder, read, tmp_path_factory, path, problem):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.txt").write_text("a secret", encoding="utf-8")
    (folder.path / "outside").symlink_to(elsewhere / "secret.txt")
    (folder.path / "linked").symlink_to(elsewhere, target_is_directory=True)
    folder.write(".env", "KEY=1")
    folder.write("a/.git/config", "KEY=1")
    folder.write("latin.txt", "caf\xe9".encode("latin-1"))
    folder.write("long.txt", "x" * (MOST_BYTES + 1))
    (fault,) = read(path)
    assert fault.startswith("d.jsonl:1: rubric_path: ")
    assert problem in fault


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ('{"input": "x", "rubric": "a", "rubric_path": "r.txt"}', "rubric_path: is given beside"),
        ('{"input": "x", "rubric": 5}', "rubric: found 5; a text"),
        ('{"input": "x", "rubric_path": ["r.txt"]}', "rubric_path: found a list; a text"),
    ],
)
def test_a_rubric_is_one_text(folder, row, fault):
    folder.write("r.txt", "a rubric")
    folder.write("d.jsonl", f"{row}\n")
    folder.suite("dataset: d.jsonl", samples=False)
    (found,) = folder.faults()
    assert found.startswith("d.jsonl:1:")
    assert fault in found


def test_rubrics_stand_in_csv_and_in_the_suite_itself_too(folder):
    folder.write("r.txt", "a rubric")
    folder.write("d.csv", "input,rubric,rubric_path\nx,own,\nx,,r.txt\n")
    folder.suite("dataset: d.csv", samples=False)
    samples = open_dataset(load_suite(folder.path / "suite.yaml")).samples()
    assert [sample.rubric for sample in samples] == ["own", "a rubric"]
    folder.suite(
        "samples: [{input: x, rubric: 3.10}, {input: x, rubric_path: r.txt}]", samples=False
    )
    inline = load_suite(folder.path / "suite.yaml").samples
    assert inline is not None
    assert [sample.rubric for sample in inline] == ["3.10", "a rubric"]


def test_a_missing_rubric_of_a_sample_in_the_suite_is_shown_at_its_place(folder):
    folder.suite("samples: [{input: x, rubric_path: ../r.txt}]", samples=False)
    (fault,) = folder.faults()
    assert fault.startswith("suite.yaml:3:35: samples[0].rubric_path: ")
