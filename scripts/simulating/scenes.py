"""The scenes that are played: nothing changed, something broke, something only moved about."""

from simulating.made_up_runs import Scene

STEADY = (0.95,) * 100
FLAKY = (0.98,) * 80 + (0.5,) * 20
NINETY = (0.9,) * 100
UNIFORM = tuple((n + 0.5) / 100 for n in range(100))
QUESTIONS = ("fixed_suite", "population")


def unchanged() -> list[Scene]:
    """Return the scenes in which nothing changed: REGRESSED is a false alarm."""
    suites = {"all at 95 %": STEADY, "80 at 98 %, 20 flaky at 50 %": FLAKY}
    return [
        Scene(name, rates, rates, epochs, question)
        for name, rates in suites.items()
        for question in QUESTIONS
        for epochs in range(1, 6)
    ]


def several_metrics() -> list[Scene]:
    """Return scenes with several gating metrics and nothing changed."""
    return [Scene(f"{n} gating metrics", FLAKY, FLAKY, 3, metrics=n) for n in (1, 3, 10)]


def broken(question: str) -> list[Scene]:
    """Return the scenes in which ten samples fall from 90 % to 0, over three epochs."""
    others = {
        "the others at 90 %": NINETY[10:],
        "the others at 98 % and 50 %": FLAKY[10:],
        "the others anywhere from 0 to 100 %": UNIFORM[::10] * 9,
    }
    return [
        Scene(name, (0.9,) * 10 + rates, (0.0,) * 10 + rates, 3, question)
        for name, rates in others.items()
    ]


def slipping() -> list[Scene]:
    """Return the scenes in which every sample falls a little."""
    return [
        Scene(f"all from 95 % to {after:.0%}", STEADY, (after,) * 100, 3, question)
        for after in (0.93, 0.90, 0.85)
        for question in QUESTIONS
    ]


def moved_about() -> list[Scene]:
    """Return the scenes in which samples move, as many up as down."""
    before = (0.9,) * 40 + (0.95,) * 60
    after = (0.3,) * 40 + (0.95,) * 60
    return [
        Scene("40 of 100 move, each up or down", before, after, 3, question, shuffled=True)
        for question in QUESTIONS
    ]


def outages() -> list[Scene]:
    """Return the scenes in which trials of the candidate end in errors, and nothing else."""
    return [
        Scene(f"{share:.0%} of the candidate's trials errored", STEADY, STEADY, 3, outage=share)
        for share in (0.02, 0.1, 0.3)
    ]
