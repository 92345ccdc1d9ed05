"""Suites for tests, made without YAML."""

from dataclasses import dataclass
from typing import ClassVar

from fakes.agents import FakeTarget

from harness.types.events import AssistantMessage
from harness.types.grades import Grade
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Suite, TargetSpec
from harness.types.taxonomy import Taxonomy


@dataclass(frozen=True)
class Says:
    """Passes where some assistant message holds the text."""

    text: str
    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[str] = "trajectory"

    def grade(self, subject):
        said = [e.text for e in subject.trajectory.events() if isinstance(e, AssistantMessage)]
        found = any(self.text in text for text in said)
        return Grade(score=float(found), evidence=f"said {said}")


@dataclass(frozen=True)
class Breaks:
    """A grader that always raises."""

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[str] = "trajectory"

    def grade(self, subject):
        raise RuntimeError("broken on purpose")


def grader_spec(grader, name="g", **more):
    return GraderSpec(name=name, kind=name, grader=grader, fingerprint=f"{grader!r}", **more)


def fake_suite(act, *, samples=3, graders=None, models=("m",), **more):
    """Give a suite whose agent is the function `act(context, text)`."""
    target = act if isinstance(act, FakeTarget) else FakeTarget(act)
    if isinstance(samples, int):
        samples = tuple(Sample(id=f"s{n}", input=f"question {n}") for n in range(samples))
    return Suite(
        name="fake",
        samples=samples,
        target=TargetSpec(kind="fake", models=models, target=target, fingerprint="f"),
        graders=graders or (grader_spec(Says("ok")),),
        **more,
    )
