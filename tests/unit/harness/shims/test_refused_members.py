import pytest

from harness.shims import refused_members
from harness.shims.refused_members import REFUSED


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_can_be_imported_and_mentioned_and_says_what_to_use_when_it_is_used(name):
    found = getattr(refused_members, name)

    def mentions(given: found) -> found:
        return given

    assert mentions.__annotations__["given"] is found
    assert not isinstance(mentions, found)
    with pytest.raises(RuntimeError) as raised:
        found("suite.yaml", 3, quiet=True)
    assert str(raised.value) == f"letta_evals.{name} is no part of Regrade: {REFUSED[name]}"


def test_an_attribute_is_refused_by_the_same_words():
    with pytest.raises(AttributeError, match=r"from_yaml: letta_evals\.SuiteSpec is no part of"):
        _ = refused_members.SuiteSpec.from_yaml


def test_a_class_of_the_user_may_stand_on_one():
    class Mine(refused_members.Grader):
        pass

    with pytest.raises(RuntimeError, match=r"letta_evals\.Grader is no part of Regrade"):
        Mine()


def test_any_other_name_is_not_there():
    assert not hasattr(refused_members, "Other")
