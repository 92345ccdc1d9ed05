import subprocess
import sys

import pytest

from harness.shims.letta_evals_modules import offer_letta_evals, stands_in


def run(code, *, folder):
    """Run code in a Python of its own, whose imports also come from the folder."""
    text = "import sys; sys.path.insert(0, sys.argv[1])\n" + code
    command = [sys.executable, "-c", text, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_modules_are_found_once_they_are_offered_and_the_finder_stands_last(tmp_path):
    done = run(
        """
import importlib.util
assert importlib.util.find_spec("letta_evals") is None
from harness.shims.letta_evals_modules import offer_letta_evals
offer_letta_evals()
offer_letta_evals()
from letta_evals.models import Sample
import letta_evals.extractors.utils
from letta_evals import grader
names = [type(finder).__module__ for finder in sys.meta_path]
assert names.count("harness.shims.letta_evals_modules") == 1, names
assert names[-1] == "harness.shims.letta_evals_modules", names
assert "pydantic" in sys.modules
""",
        folder=tmp_path,
    )
    assert done.stderr == ""


def test_decorators_alone_import_nothing_heavy(tmp_path):
    done = run(
        """
from harness.shims.letta_evals_modules import offer_letta_evals
offer_letta_evals()
from letta_evals import grader, extractor
assert not {"pydantic", "letta_client"} & set(sys.modules)
""",
        folder=tmp_path,
    )
    assert done.stderr == ""


def test_an_installed_package_is_left_alone(tmp_path):
    package = tmp_path / "letta_evals"
    package.mkdir()
    (package / "__init__.py").write_text("REAL = True\n")
    done = run(
        """
from harness.shims.letta_evals_modules import offer_letta_evals, stands_in
offer_letta_evals()
import letta_evals
assert letta_evals.REAL and not stands_in()
try:
    import letta_evals.decorators
except ModuleNotFoundError:
    print("none of ours")
""",
        folder=tmp_path,
    )
    assert (done.stdout, done.stderr) == ("none of ours\n", "")


def test_a_star_import_gives_the_names():
    offer_letta_evals()
    names = {}
    exec("from letta_evals import *", names)
    assert {"grader", "GradeResult", "RewardOutput"} <= names.keys()
    assert stands_in()


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("from letta_evals import Nothing", "cannot import name 'Nothing' from 'letta_evals'"),
        ("import letta_evals.nothing", "No module named 'letta_evals.nothing'"),
    ],
)
def test_what_there_is_not_is_an_import_error(statement, error):
    offer_letta_evals()
    with pytest.raises(ImportError, match=error):
        exec(statement, {})
