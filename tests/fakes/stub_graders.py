"""Graders of our own protocol for tests of what calls them."""

from dataclasses import dataclass
from typing import ClassVar

from harness.types.events import AssistantMessage
from harness.types.grades import Grade
from harness.types.protocols import Reads
from harness.types.suites import GraderSpec
from harness.types.taxonomy import Taxonomy


@dataclass(frozen=True)
class StubGrader:
    """Grades as `act(subject)` says."""

    act: object = None
    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"

    def grade(self, subject):
        return self.act(subject)


@dataclass(frozen=True)
class ExpensiveGrader(StubGrader):
    """The same at a price."""

    taxonomy: ClassVar[Taxonomy] = Taxonomy(
        reference="reference-free", scope="trajectory-level", cost="high", determinism="llm"
    )


@dataclass(frozen=True)
class Says(StubGrader):
    """Passes where some assistant message holds the text `act`."""

    def grade(self, subject):
        said = [e.text for e in subject.trajectory.events() if isinstance(e, AssistantMessage)]
        found = any(self.act in text for text in said)
        return Grade(score=float(found), evidence=f"said {said}")


@dataclass(frozen=True)
class Breaks(StubGrader):
    """Always raises."""

    def grade(self, subject):
        raise RuntimeError("broken on purpose")


def grader_spec(grader, name="g", **more):
    """Make the spec of a grader."""
    return GraderSpec(name=name, kind=name, grader=grader, **{"fingerprint": f"{grader!r}", **more})
