"""What the history of 90 nights of 500 samples x 3 epochs takes, against merely reading them.

The reference decodes the outcomes of all nights and counts passes by sample. Exits with 1 where a
promise is not kept: so many times the reading, and 2 s of processor time, the baseline's verdict on
every night included.
"""

import gc
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import msgspec
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from fakes.stored_nights import FIRST, Truth, store_nights

from harness.running.histories import HistoryOptions, read_history
from harness.types.trials import Outcome

MOST_TIMES = 4.0
MOST_SECONDS = 2.0
REPEATS = 3


def read(folder: Path) -> Counter[str]:
    """Decode and count: what is held against."""
    decode = msgspec.json.Decoder(Outcome).decode_lines
    passes: Counter[str] = Counter()
    for path in sorted(folder.glob("*/outcomes.jsonl")):
        passes.update(one.sample_id for one in decode(path.read_bytes()) if one.passed)
    return passes


def history(folder: Path) -> object:
    """Read the history, judged against the first night."""
    first = min(folder.glob("[!.]*"))
    with tempfile.TemporaryDirectory() as workspace:
        now = FIRST + timedelta(days=91)
        options = HistoryOptions(now=now, workspace=Path(workspace), baseline=str(first))
        return read_history(folder, options)


def seconds(of: Callable[[], object]) -> float:
    """Return the processor time of the fastest of some calls."""
    spent = []
    for _ in range(REPEATS):
        gc.collect()
        start = time.process_time()
        of()
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    """Measure, print it, and exit with 1 where it takes longer than is promised."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "nights"
        store_nights(folder, Truth())
        reference = seconds(lambda: read(folder))
        taken = seconds(lambda: history(folder))
    ratio = taken / reference
    Console().print(
        f"90 nights of 1,500 trials: {taken:.2f} s (promised: {MOST_SECONDS:g}), {ratio:.1f} times "
        f"the reading (promised: {MOST_TIMES:g})",
        highlight=False,
    )
    sys.exit(ratio > MOST_TIMES or taken > MOST_SECONDS)


if __name__ == "__main__":
    main()
