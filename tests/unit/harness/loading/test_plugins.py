import pytest

from harness.loading.plugins import find_all_plugins, find_plugins

GOOD = """
from dataclasses import dataclass
from typing import ClassVar
from harness.types.taxonomy import Taxonomy

@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    size: int = 3
    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="point-in-time")
    reads: ClassVar[str] = "submission"
    def grade(self, subject, /): ...
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install distributions that offer graders, for as long as the test runs."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(dist, module, text):
        (tmp_path / f"{module}.py").write_text(text)
        info = tmp_path / f"{dist}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[regrade.graders]\nx = {module}:GRADERS\n")

    return install


def test_the_built_in_ones_come_in_by_the_same_door():
    assert {"contains", "assistant-contains-tool-output"} <= set(find_plugins("regrade.graders"))
    assert "last_assistant" in find_plugins("regrade.extractors")
    assert find_plugins("regrade.targets")
    assert find_all_plugins().faults == ()


def test_a_strangers_grader_is_usable_in_a_suite(install, folder):
    install("stranger", "stranger_good", GOOD + "GRADERS = {'good': Good}\n")
    folder.suite("graders: {g: {type: good, config: {size: 5}}}", graders=False)
    assert folder.faults() == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("GRADERS = [", "cannot be loaded: SyntaxError"),
        ("raise ValueError('no')", "cannot be loaded: ValueError: no"),
        ("import no_such_module_here", "cannot be loaded: ModuleNotFoundError"),
        ("OTHER = {}", "cannot be loaded: AttributeError"),
        ("GRADERS = []", "is no mapping from names to dataclasses"),
        ("class G: ...\nGRADERS = {'g': G}", "offers 'g', which is no dataclass"),
        (GOOD + "GRADERS = {'g': Good()}", "offers 'g', which is no dataclass"),
        (GOOD + "GRADERS = {3: Good}", "offers 3, which has no usable name"),
        (GOOD + "GRADERS = {'a.py:b': Good}", "which has no usable name"),
        (
            GOOD.replace("frozen=True, ", "") + "GRADERS = {'g': Good}",
            "is a dataclass that is not frozen",
        ),
        (GOOD.replace("def grade", "def judge") + "GRADERS = {'g': Good}", "has no method grade"),
        (GOOD.replace("taxonomy:", "other:") + "GRADERS = {'g': Good}", "declares no taxonomy"),
        (GOOD.replace('= "submission"', '= "all"') + "GRADERS = {'g': Good}", "that it reads"),
        (
            GOOD.replace("size: int", "size: 'Unknown'") + "GRADERS = {'g': Good}",
            "has an option whose type is unknown",
        ),
    ],
)
def test_a_broken_package_is_one_fault_that_names_it_and_breaks_nothing_else(
    install, folder, request, text, problem
):
    install("stranger", f"stranger_{abs(hash(request.node.name))}", text)
    found = find_all_plugins()
    assert "contains" in found.graders
    [fault] = found.faults
    assert str(fault).startswith("stranger: regrade.graders: the plug-in")
    assert problem in str(fault)
    folder.suite()
    assert folder.faults() == [str(fault)]


def test_a_name_that_two_packages_give_is_a_fault_and_usable_in_neither(install):
    install("one", "stranger_one", GOOD + "GRADERS = {'good': Good}\n")
    install("two", "stranger_two", GOOD + "GRADERS = {'good': Good}\n")
    found = find_all_plugins()
    assert "good" not in found.graders
    assert [str(fault) for fault in found.faults] == [
        (
            'two: regrade.graders: the packages one and two both offer "good"; '
            "neither can be used; uninstall one of them"
        )
    ]


def test_a_built_in_name_cannot_be_taken(install):
    own = find_plugins("regrade.graders")["contains"]
    install("one", "stranger_taker", GOOD + "GRADERS = {'contains': Good}\n")
    found = find_all_plugins()
    assert found.graders["contains"] is own
    assert len(found.faults) == 1
