"""Comparisons: two runs side by side, and the samples and events at which they part.

`Comparisons` are what `regrade compare --json` writes.
"""

from datetime import datetime
from typing import Any, Literal

import msgspec

from harness.types.verdicts import SuiteVerdict

DivergenceKind = Literal[
    "other_tool",
    "other_arguments",
    "other_order",
    "no_call",
    "further_call",
    "other_result",
    "other_text",
    "other_ending",
]
"""How two trajectories part.

Seen from the candidate: another tool is called; the same one with other arguments; the same calls
come in another order; a call of the baseline is skipped; a call is made that the baseline does not
make; the same call gives another result; only the words differ; only how the trial ended differs.
"""


class EventAt(msgspec.Struct, frozen=True, kw_only=True):
    """An event of one trajectory: its place (turn and event, from 0) and what it holds, shortened.

    `name` is the tool's, None for messages. `arguments` are those of a call.
    """

    turn: int
    event: int
    type: str
    text: str
    name: str | None = None
    arguments: Any = None


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """The first event at which the trajectories of a sample part.

    `baseline` or `candidate` is None where that side has no event there. `tool` is the one that
    the difference is about. `words` say it in a sentence part that is alike for like differences,
    such as "candidate skips `lookup_release_train`", so that samples are grouped by it;
    `differing` are the names of the arguments that differ.
    """

    kind: DivergenceKind
    words: str
    tool: str | None = None
    differing: tuple[str, ...] = ()
    baseline: EventAt | None = None
    candidate: EventAt | None = None


class DivergenceGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Like first divergences: what they are, and the samples that have them.

    `of` is how many samples were looked at: the group is `len(samples)` of these.
    """

    kind: DivergenceKind
    words: str
    tool: str | None
    samples: tuple[str, ...]
    of: int


class TrialEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of a pair as shown: how it ended, and the grader or error that says why.

    `grader` is None where an error or the agent's failure says it; `evidence` is its one line.
    """

    epoch: int
    status: str
    passed: bool | None
    grader: str | None
    evidence: str


class SamplePair(msgspec.Struct, frozen=True, kw_only=True):
    """One sample in both runs, where they differ.

    `*_passes` of `*_trials` epochs passed (errors fail, trials that never ran are not counted).
    `*_value` are the means of a metric that is no plain pass, in its `unit`; None for passes.
    `baseline_shown` and `candidate_shown` are the trials whose evidence is shown: of a regressed
    sample a pass and a failure. `place` is the line of the dataset, `file:line`, where known.
    """

    sample_id: str
    baseline_passes: int
    baseline_trials: int
    candidate_passes: int
    candidate_trials: int
    metric: str = "trial"
    unit: str = "points"
    baseline_value: float | None = None
    candidate_value: float | None = None
    baseline_shown: TrialEvidence | None = None
    candidate_shown: TrialEvidence | None = None
    divergence: Divergence | None = None
    place: str | None = None


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison: which run and model, and how old.

    `age_days` and `stale` (older than 14 days) are those of a baseline. `regraded` are the graders
    that were run again on its stored trajectories, because the other side's differ.
    `errors_left_out` are trials that ended in errors and are in no number, as the candidate's suite
    has it (`errors: exclude`).
    """

    run_id: str
    model: str
    started_at: datetime | None = None
    trials: int = 0
    age_days: float | None = None
    stale: bool = False
    regraded: tuple[str, ...] = ()
    errors_left_out: int = 0


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples were compared, and which were left out and why.

    `paired` have one hash in both runs. `changed` are in both with different hashes; `unalike` were
    graded otherwise, and could not be graded again; `added` only the candidate planned, `removed`
    only the baseline. `not_run` the candidate has, and a baseline lacks that did not run to its end
    or took other samples of the suite; `not_taken` the baseline has, and a candidate lacks that
    took others. `quarantined` are among none of these.
    """

    paired: int
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    not_taken: tuple[str, ...] = ()
    unalike: tuple[str, ...] = ()


SUITE_LINE = "line of the suite"
"""What has changed where a line was taken out of the suite's text, or put into it."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not as it was in the baseline: what it is, and its two values, if known."""

    what: str
    before: str | None = None
    after: str | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs side by side.

    `regressed` and `improved` are the samples that moved, worst first; `errored` those that would
    have, but have nothing but errors on one side, which say nothing of the agent. `divergences`
    group the first divergences of the regressed ones, largest group first. `changes` say what else
    differs between the runs (model, prompt, target, commit, versions).
    """

    suite: str
    baseline: ComparedRun
    candidate: ComparedRun
    pairing: Pairing
    verdict: SuiteVerdict
    regressed: tuple[SamplePair, ...] = ()
    improved: tuple[SamplePair, ...] = ()
    errored: tuple[SamplePair, ...] = ()
    divergences: tuple[DivergenceGroup, ...] = ()
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()


class Comparisons(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates side by side with their baselines.

    `exit_code` is that of `regrade compare`. `first_night` says that there was no baseline yet,
    so that nothing was compared; `missing` then says what is not there. `problems` say why a run
    could not be compared as it ended: a line each.
    """

    comparisons: tuple[Comparison, ...] = ()
    exit_code: int = 0
    first_night: bool = False
    missing: str | None = None
    problems: tuple[str, ...] = ()
