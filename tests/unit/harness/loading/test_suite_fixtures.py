import pytest

from harness.loading.suite_files import load_suite

HEAD = "import harness\nfrom harness.types.marks import fixture\n"
SUITE = "graders: {g: {kind: tool, function: 'g.py:grade'}}"


def check(folder, text, grade="def grade(sample, submission): return 1.0\n"):
    folder.write("g.py", HEAD + grade + text)
    folder.suite(SUITE, graders=False)
    return folder.faults()


def test_fixtures_of_a_file_and_of_its_siblings_are_found_with_what_they_ask_for(folder):
    folder.write("db.py", HEAD + "@fixture(scope='run')\ndef server():\n    yield 1\n")
    folder.write(
        "g.py",
        HEAD
        + "from db import server\n"
        + "@fixture\nasync def db(server, sample, retries=3):\n    yield 1\n"
        + "def grade(submission, db): return 1.0\n",
    )
    folder.suite(SUITE, graders=False)
    fixtures = {f.name: f for f in load_suite(folder.path / "suite.yaml").fixtures}
    assert {n: (f.scope, f.parameters) for n, f in fixtures.items()} == {
        "server": ("run", ()),
        "db": ("trial", ("server", "sample")),
    }
    assert fixtures["server"].file.endswith("db.py")
    assert folder.faults() == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "@fixture\ndef db(): return 1\n",
            (
                'g.py:4: the fixture "db" is no generator function; it yields its object once, and '
                "clears up after that"
            ),
        ),
        (
            "@fixture\ndef db(servr):\n    yield 1\n@fixture\ndef server():\n    yield 1\n",
            (
                'g.py:4: the fixture "db" asks for "servr", which is no fixture; '
                'did you mean "server"?'
            ),
        ),
        (
            "@fixture\ndef a(b):\n    yield 1\n@fixture\ndef b(a):\n    yield 1\n",
            "g.py:4: fixtures ask for one another in a circle: a -> b -> a",
        ),
        (
            "@fixture\ndef a(a):\n    yield 1\n",
            "g.py:4: fixtures ask for one another in a circle: a -> a",
        ),
        (
            "@fixture(scope='run')\ndef a(sample):\n    yield 1\n",
            (
                'g.py:4: the fixture "a" lives for the whole run and cannot ask for a sample; '
                'scope="trial"'
            ),
        ),
        (
            "@fixture(scope='run')\ndef a(b):\n    yield 1\n@fixture\ndef b():\n    yield 1\n",
            'g.py:4: the fixture "a" lives for the whole run and cannot ask for "b" of one trial',
        ),
        (
            "@fixture(scope='session')\ndef a():\n    yield 1\n",
            'g.py:4: the fixture "a" has the scope "session"; allowed: "run", "trial"',
        ),
        (
            "@fixture\ndef sample():\n    yield 1\n",
            'g.py:4: the fixture "sample" has a name that means something else; another name',
        ),
        (
            "@fixture\ndef a():\n    yield 1\n@fixture(name='a')\ndef b():\n    yield 1\n",
            'g.py:7: there is a fixture "a" in g.py already',
        ),
    ],
)
def test_a_fixture_that_cannot_work_is_a_fault_at_its_line(folder, text, fault):
    assert check(folder, text) == [fault]


@pytest.mark.parametrize(
    ("grade", "fault"),
    [
        (
            "def grade(sample, submision): ...\n",
            (
                'g.py:3: the grader grade asks for "submision", which nobody gives; '
                'did you mean "submission"?'
            ),
        ),
        (
            "def grade(submission, db): ...\n",
            (
                'g.py:3: the grader grade asks for "db", which nobody gives; '
                "allowed: agent_state, config, grades, sample, submission, trajectory"
            ),
        ),
        (
            "def grade(): ...\n",
            (
                "g.py:3: the grader grade asks for nothing to work on; "
                "(sample, submission) or (trajectory, sample)"
            ),
        ),
        (
            "def grade(sample): ...\n",
            (
                "g.py:3: the grader grade asks for nothing to work on; "
                "(sample, submission) or (trajectory, sample)"
            ),
        ),
        (
            "class grade: ...\n",
            (
                "suite.yaml:3:37: graders.g.function: g.py:grade is a type; "
                "a function that works as a grader"
            ),
        ),
        (
            "grade = 3\n",
            (
                "suite.yaml:3:37: graders.g.function: g.py:grade is an int; "
                "a function that works as a grader"
            ),
        ),
        (
            "from harness.types.marks import extractor\n@extractor\ndef grade(trajectory): ...\n",
            "suite.yaml:3:37: graders.g.function: g.py:grade is decorated as an extractor",
        ),
    ],
)
def test_a_grader_that_asks_for_the_wrong_things_is_a_fault(folder, grade, fault):
    assert check(folder, "", grade) == [fault]


@pytest.mark.parametrize(
    "grade",
    [
        "def grade(sample, submission): ...\n",
        "async def grade(trajectory, sample): ...\n",
        "def grade(sample, trajectory): ...\n",
        "def grade(submission, *, depth=3, **further): ...\n",
        "class Grade:\n    def __call__(self, submission): ...\ngrade = Grade()\n",
        (
            "from functools import partial\ndef f(sample, submission, k): ...\n"
            "grade = partial(f, k=1)\n"
        ),
    ],
)
def test_a_grader_needs_no_decorator(folder, grade):
    assert check(folder, "", grade) == []
