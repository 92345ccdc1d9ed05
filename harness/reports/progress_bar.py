"""Progress on standard error: a bar in a terminal, a line now and then elsewhere."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Never

from tqdm import tqdm

from harness.system.clock import monotonic
from harness.system.texts import one_line
from harness.types.progress import Observer, Progress, SilentObserver

_LINE_SECONDS = 15.0


class Bar:
    """A bar in a terminal: trials done, passed, failed, errors, rate, time left."""

    def __init__(self) -> None:
        self._bar: tqdm[Never] | None = None
        # What the suite's code prints meanwhile goes elsewhere.
        self._stream = sys.stderr
        self._shown = 0.0

    def began(self, _folder: Path, progress: Progress, /) -> None:
        """Show the empty bar."""
        self._bar = tqdm(total=progress.planned, unit=" trials", file=self._stream, leave=False)

    def moved(self, progress: Progress, /) -> None:
        """Move the bar; its text follows a few times a second."""
        if self._bar is None:
            return
        if monotonic() - self._shown > self._bar.mininterval:
            self._shown = monotonic()
            self._bar.set_postfix_str(counts(progress), refresh=False)
        self._bar.update(progress.done - self._bar.n)

    def ended(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


class Lines:
    """A line each quarter of a minute, where there is no terminal."""

    def __init__(self) -> None:
        self._started = self._said = monotonic()
        self._stream = sys.stderr

    def began(self, folder: Path, progress: Progress, /) -> None:
        """Say where the run is stored."""
        planned = "" if progress.planned is None else f", {progress.planned} trials"
        self._say(one_line(f"running{planned}; stored in {folder}"))

    def moved(self, progress: Progress, /) -> None:
        """Say how far the run is, if the last line is old."""
        now = monotonic()
        if now - self._said < _LINE_SECONDS:
            return
        self._said = now
        of = "" if progress.planned is None else f" of {progress.planned}"
        rate = progress.done / (now - self._started)
        left = ""
        if progress.planned is not None and rate:
            left = f", {(progress.planned - progress.done) / rate:.0f} s left"
        self._say(f"{progress.done}{of} trials: {counts(progress)}; {rate:.1f}/s{left}")

    def ended(self) -> None:
        """Say nothing: the summary follows."""

    def _say(self, text: str) -> None:
        # Nobody may be there to read it; the run goes on.
        with suppress(OSError, ValueError, AttributeError):
            print(text, file=self._stream, flush=True)


def counts(progress: Progress) -> str:
    """Return the counts in words."""
    words = [f"{progress.passed} passed, {progress.failed} failed, {progress.errors} errors"]
    if progress.waiting:
        words.append(f"{progress.waiting} waiting")
    words += [f"{one_line(model)} slowed to {most} at once" for model, most in progress.slowed]
    return ", ".join(words)


def progress_shown(*, quiet: bool) -> Observer:
    """Choose how progress is shown: not at all when quiet."""
    if quiet:
        return SilentObserver()
    return Bar() if sys.stderr is not None and sys.stderr.isatty() else Lines()
