"""What must not be stored, taken out of trials: secrets, and what the suite's function hides."""

import json
import queue
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.running.driving import Driven
from harness.running.hidden_trials import driven_without, told_without, trial_without
from harness.system.json_values import storable_json
from harness.system.redaction import known_secrets
from harness.types.code import CodeRef
from harness.types.errors import StoreError
from harness.types.suites import Suite
from harness.types.trials import Trial

if TYPE_CHECKING:
    from harness.types.trajectories import Trajectory

_KEPT = ("sample_id", "model", "epoch", "status", "passed", "score", "keys")
"""What a redacting function may not change: by it a trial is found again, and judged."""

_HINT = "the trial was not stored; those that were stored before are kept"


class TrialRedaction:
    """Takes out of the trials of one run what must not be stored.

    Secrets are taken out before a trial is graded, so that graders and later replays see the same
    texts; and once more out of what graders say. The suite's function sees the trial last.
    """

    def __init__(self, suite: Suite) -> None:
        self._secrets = known_secrets(suite.secrets)
        self._has_secrets = bool(self._secrets)
        self._function = suite.redact
        self._seconds = suite.limits.grader_seconds
        self._broken: StoreError | None = None
        self._looked_at: dict[int, Trajectory] = {}

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._secrets.hide(text)

    def driven(self, driven: Driven) -> Driven:
        """Return what driving gave, as graders may see it."""
        if not self._has_secrets:
            return driven
        driven = driven_without(self._secrets, driven)
        self._looked_at[id(driven.trajectory)] = driven.trajectory
        return driven

    def recorded(self, trial: Trial) -> Trial:
        """Return a trial that was recorded before, as graders may see it."""
        if self._secrets:
            trajectory, snapshots = told_without(self._secrets, trial.trajectory, trial.snapshots)
            trial = msgspec.structs.replace(trial, trajectory=trajectory, snapshots=snapshots)
        return trial

    def storable(self, trial: Trial) -> Trial:
        """Return a trial as it may be stored.

        Raises:
            StoreError: the suite's function has raised, taken too long, or returned no trial. It
                is not called again: nothing can be stored any more.
        """
        if self._has_secrets:
            # What graders saw was looked at, unless the end of the run has cut the trial off.
            seen = self._looked_at.pop(id(trial.trajectory), None) is not None
            trial = trial_without(self._secrets, trial, told=not seen)
        if self._function is None:
            return trial
        if self._broken is not None:
            raise self._broken
        try:
            return trial_without(self._secrets, _redacted(self._function, trial, self._seconds))
        except StoreError as error:
            self._broken = error
            raise


def _redacted(function: CodeRef, trial: Trial, seconds: float) -> Trial:
    # Nothing that is said of a failure may come from the trial: it could be what is to be hidden.
    given = storable_json(msgspec.to_builtins(trial, str_keys=True))
    returned = _call(function, given, seconds)
    try:
        plain = msgspec.json.decode(json.dumps(given if returned is None else returned))
        made = msgspec.convert(plain, Trial)
    except Exception:  # noqa: BLE001  (the message would tell what was returned)
        raise _failure(function, "did not return a trial as JSON") from None
    changed = [name for name in _KEPT if getattr(made, name) != getattr(trial, name)]
    if changed:
        raise _failure(function, f"changed `{changed[0]}` of a trial, by which it is known")
    return made


def _call(function: CodeRef, given: dict[str, Any], seconds: float) -> Any:
    """Call the function in a thread, and wait for it: nobody else may go on before it is done."""
    answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    work = threading.Thread(
        target=_answer, args=(function.value, given, answers), name="regrade-redact", daemon=True
    )
    try:
        work.start()
        returned, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise _failure(function, f"took longer than {seconds:g} s") from None
    except RuntimeError as refused:
        raise _failure(function, f"could not be called: {refused}") from refused
    if error is not None:
        raise _failure(
            function, f"raised {type(error).__name__}{_place(function, error)}"
        ) from None
    return returned


def _answer(
    function: Callable[[Any], Any],
    given: Any,
    answers: "queue.SimpleQueue[tuple[Any, BaseException | None]]",
) -> None:
    try:
        answers.put((function(given), None))
    except BaseException as error:  # noqa: BLE001  (in a thread all is the function's own doing)
        answers.put((None, error))


def _place(function: CodeRef, error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename) == function.file.path]
    return f" in line {own[-1].lineno}" if own else ""


def _failure(function: CodeRef, problem: str) -> StoreError:
    return StoreError(f"`redact` {problem}", place=function.text, hint=_HINT)
