"""Suites for tests, made without YAML."""

from fakes.agents import FakeTarget
from fakes.stub_graders import Says, grader_spec

from harness.types.samples import Sample
from harness.types.suites import Suite, TargetSpec


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
