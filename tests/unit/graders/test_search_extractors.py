import pytest
from fakes.factories import make_trajectory

from graders.search_extractors import AfterMarker, Pattern
from harness.system.patterns import PatternError
from harness.types.errors import GraderError
from harness.types.events import UserMessage
from harness.types.grades import Ref

SAID = make_trajectory([UserMessage(text="q"), "a=1 b=2"])


def test_what_was_found_is_pointed_at():
    assert Pattern(pattern=r"=(\d)", group=1, search_all=True).extract(SAID).refs == (
        Ref(turn=0, event=1, start=2, end=3),
        Ref(turn=0, event=1, start=6, end=7),
    )
    assert AfterMarker(marker="1").extract(SAID).refs == (Ref(turn=0, event=1, start=4, end=7),)


@pytest.mark.parametrize(
    "options",
    [
        {"group": 2},
        {"group": -1},
        {"group": "who"},
        {"group": 2, "search_all": True, "pattern": r"(\w)=(\d)"},
    ],
)
def test_a_group_the_pattern_does_not_have_is_refused_and_found_beforehand(options):
    extractor = Pattern(**{"pattern": r"(\w)=\d", **options})
    assert [option for option, _ in extractor.lint()] == ["group"]
    with pytest.raises(GraderError, match="no group"):
        extractor.extract(SAID)


def test_a_pattern_that_is_none_is_found_beforehand():
    extractor = Pattern(pattern="(")
    assert [option for option, _ in extractor.lint()] == ["pattern"]
    with pytest.raises(PatternError):
        extractor.extract(SAID)


def test_an_empty_marker_is_found_beforehand():
    assert [option for option, _ in AfterMarker(marker="").lint()] == ["marker"]
    assert list(AfterMarker(marker="x").lint()) == []
