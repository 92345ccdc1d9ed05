"""A folder to write a suite into, and its faults as the lines a user reads."""

import pytest

from harness.loading.validation import find_faults


class Folder:
    """Writes files into a temporary folder, and reads the suite that stands there."""

    def __init__(self, path):
        self.path = path

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def suite(self, text="", *, graders=True, samples=True):
        """Write a suite with a name, one grader and one sample, as far as they are wanted."""
        lines = ["name: s"]
        lines += ["samples: [{input: hello}]"] if samples else []
        lines += ["graders: {g: {kind: tool, function: contains}}"] if graders else []
        return self.write("suite.yaml", "\n".join([*lines, text]) + "\n")

    def faults(self, path=None):
        """Give the faults as lines, without the folder's own path."""
        found = find_faults(path or self.path / "suite.yaml")
        return [str(fault).replace(f"{self.path.as_posix()}/", "") for fault in found]


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
