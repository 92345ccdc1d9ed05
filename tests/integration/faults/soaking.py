"""Runs that meet faults, are killed and gone on with, held against a straight run.

A seed makes one such run: which requests meet which fault, when its process is ended and how, and
whether the last line of its trials is torn. `scripts/soak 200` runs 200 seeds, and prints what was
lost, driven again, or came out otherwise: three zeros if all is well.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml
from integration.faults.fault_plans import Seeded
from integration.faults.fault_proxy import fault_proxy

from harness.serving.model_server import scripted_server
from harness.serving.script import read_script

QUICKSTART = Path(__file__).parents[3] / "suites" / "quickstart"
MODELS = ("careful", "hasty")
SAMPLES = 6
COMMAND = (sys.executable, "-m", "harness.cli")
PATIENCE = 120.0  # seconds; a run that takes longer hangs
POLL = 0.01

ENDINGS = (
    (signal.SIGKILL,),
    (signal.SIGKILL,),
    (signal.SIGINT,),
    (signal.SIGTERM,),
    (signal.SIGINT, signal.SIGINT),
    (signal.SIGINT, signal.SIGKILL),
)
"""The signals that end a process, one after the other."""


@dataclass(frozen=True, kw_only=True)
class Soaked:
    """What came of one seed: the trials, by sample and model, that were harmed."""

    seed: int
    lost: frozenset = frozenset()
    again: frozenset = frozenset()
    differing: frozenset = frozenset()
    ended: int = 0
    faults: int = 0

    @property
    def is_well(self):
        """Say whether nothing was harmed."""
        return not (self.lost or self.again or self.differing)


class Soak:
    """One folder with the quickstart's suite, run at an address; `proxy` sees its requests.

    `again` are trials that were driven although they were stored, `ended` counts the processes
    that were ended early.
    """

    def __init__(self, folder, url, proxy=None):
        shutil.copytree(QUICKSTART, folder)
        self.folder = folder
        self.proxy = proxy
        self.again, self.ended = set(), 0
        self._kept, self._asked = {}, 0
        self._talks = _write_suite(folder, url)

    async def start(self):
        """Begin the run, or go on with it where there is one."""
        resumed = ("--resume", "latest") if self.log is not None else ()
        return await asyncio.create_subprocess_exec(
            *COMMAND, "run", ".", "--quiet", *resumed, cwd=self.folder,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip

    @property
    def log(self):
        """The file of trials, None where no run has begun."""
        return next(iter((self.folder / "runs").glob("[!.]*/trials.jsonl")), None)

    def lines(self):
        """Return the whole lines of the log that hold a trial which was not cut off."""
        data = b"" if self.log is None else self.log.read_bytes()
        whole = [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]
        trials = list(map(json.loads, whole))
        return [trial for trial in trials if trial["status"] != "interrupted"]

    def tear(self, share):
        """Leave the beginning of a line at the end of the log, as a lost machine does."""
        if self.log is not None and (lines := self.log.read_bytes().splitlines()):
            with self.log.open("ab") as log:
                log.write(lines[-1][: int(share * len(lines[-1]))])

    def note(self):
        """Note what is stored, and which of what was stored before has been asked about since."""
        since = {passed.asked.talk for passed in self.proxy.passed[self._asked :]}
        self.again |= {key for key, talk in self._kept.items() if talk in since}
        self._asked = len(self.proxy.passed)
        self._kept = {key_of_trial(trial): self.talk_of_trial(trial) for trial in self.lines()}

    def talk_of_trial(self, trial):
        """Return what tells the requests of a trial from those of others."""
        return trial["model"], self._talks[trial["sample_id"]]


def _write_suite(folder, url):
    """Make the suite in a folder one of an endpoint; return how the talk of each sample begins."""
    document = yaml.safe_load((folder / "suite.yaml").read_text("utf-8"))
    target = document["target"] | {"base_url": url, "models": list(MODELS)}
    target.pop("script")
    limits = {"retries": {"attempts": 30}, "limits": {"concurrency": 3}}
    suite = yaml.safe_dump(document | {"target": target, "gates": []} | limits)
    (folder / "suite.yaml").write_text(suite, encoding="utf-8")
    rows = map(json.loads, (folder / "samples.jsonl").read_text("utf-8").splitlines())
    # A conversation is known by its beginning.
    by_beginning = {}
    for row in rows:
        by_beginning.setdefault(_beginning(row), row)
    distinct = list(by_beginning.values())
    chosen = [*distinct[: SAMPLES // 2], *distinct[-(SAMPLES - SAMPLES // 2) :]]
    text = "".join(json.dumps(row) + "\n" for row in chosen)
    (folder / "samples.jsonl").write_text(text, encoding="utf-8")
    return {row["id"]: _beginning(row) for row in chosen}


def _beginning(row):
    return row["input"] if isinstance(row["input"], str) else row["input"][0]


def key_of_trial(trial):
    """Return what a trial is known by."""
    return trial["sample_id"], trial["model"], trial["epoch"]


def result_of(trial):
    """Return what a straight run finds as well."""
    scores = {name: grade["score"] for name, grade in trial["grades"].items()}
    return trial["status"], trial["passed"], trial["score"], scores


async def straight_results(url, folder):
    """Run without faults; return the result of each trial."""
    soak = Soak(folder, url)
    await finish(await soak.start())
    return {key_of_trial(trial): result_of(trial) for trial in soak.lines()}


async def finish(process):
    """Wait for the end of a run that nobody ends."""
    said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    if process.returncode != 0:
        raise AssertionError(f"exit {process.returncode}:\n{said.decode(errors='replace')}")


async def soaked(seed, url, straight, folder):
    """Run one seed; say what was harmed."""
    draw = Random(f"soak {seed}")
    plan = Seeded(seed=seed, share=draw.uniform(0.05, 0.3), most=1)
    async with fault_proxy(url, plan) as proxy:
        soak = Soak(folder, proxy.url, proxy)
        for _ in range(draw.randint(1, 3)):
            await _end_early(soak, draw)
            soak.note()
            if draw.random() < 1 / 3:
                soak.tear(draw.random())
        await finish(await soak.start())
        soak.note()
    return judged(seed, soak, straight)


async def _end_early(soak, draw):
    """Start the run, and end its process at a random moment, if it has not ended by then."""
    process = await soak.start()
    reading = asyncio.create_task(process.communicate())
    wanted = len(soak.lines()) + draw.randint(0, SAMPLES)
    # A process that has only begun to start up stores nothing: time is drawn as well.
    left = draw.uniform(0.2, 4.0)
    while len(soak.lines()) < wanted and left > 0 and process.returncode is None:
        await asyncio.sleep(POLL)
        left -= POLL
    soak.ended += process.returncode is None
    for number in draw.choice(ENDINGS):
        if process.returncode is None:
            # It may have been reaped in the very moment, before its return code is known here.
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)
            await asyncio.sleep(draw.uniform(0, 0.1))
    await asyncio.wait_for(reading, PATIENCE)


def judged(seed, soak, straight):
    """Hold the trials of a folder against those of a straight run."""
    last, twice = {}, set()
    for trial in soak.lines():
        key = key_of_trial(trial)
        twice |= {key} & last.keys()
        last[key] = result_of(trial)
    return Soaked(
        seed=seed,
        lost=frozenset(straight.keys() - last.keys()),
        again=frozenset(soak.again | twice),
        differing=frozenset(key for key in last if last[key] != straight.get(key)),
        ended=soak.ended,
        faults=soak.proxy.faults.total() - soak.proxy.faults[None],
    )


async def soak_all(seeds, folder, *, at_once, tell=lambda _: None):
    """Run all seeds, some at once; return what came of each, in their order."""
    gate = asyncio.Semaphore(at_once)
    async with scripted_server(read_script(QUICKSTART / "models.yaml")) as url:
        straight = await straight_results(url, folder / "straight")

        async def one(seed):
            async with gate:
                found = await soaked(seed, url, straight, folder / f"seed-{seed}")
            tell(found)
            if found.is_well:
                shutil.rmtree(folder / f"seed-{seed}")
            return found

        return await asyncio.gather(*map(one, seeds))


def _tell(found):
    if not found.is_well:
        print(f"seed {found.seed}: {found}", flush=True)  # noqa: T201


def main():
    """Run the seeds from 0 up to the number that is given; exit 1 where any came out badly."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    running = soak_all(range(count), folder, at_once=os.cpu_count() or 1, tell=_tell)
    all_found = asyncio.run(running)
    lost, again, differing = (
        sum(len(getattr(found, name)) for found in all_found)
        for name in ("lost", "again", "differing")
    )
    faults, ended = (sum(getattr(f, name) for f in all_found) for name in ("faults", "ended"))
    print(f"{count} plans, {faults} faults, {ended} processes ended")  # noqa: T201
    print("trials lost   stored trials driven again   grades that differ")  # noqa: T201
    print(f"{lost:>11}   {again:>26}   {differing:>18}")  # noqa: T201
    if lost or again or differing:
        print(f"kept in {folder}")  # noqa: T201
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
