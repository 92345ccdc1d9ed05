"""Which sample of a dataset a foreign record is of: by its id, else by all that the user says."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from harness.system.hashing import sha256_of
from harness.types.events import UserMessage
from harness.types.imports import Imported
from harness.types.samples import Sample
from harness.types.trajectories import Trajectory
from harness.types.trials import Trial

Doubt = Literal["other_prompts", "other_id", "goes_on"]
"""Why a match is told to the user: the id is that of the sample and the prompts are not, the
prompts are those of the sample and the id is not, or the record goes on after the prompts."""

_SEVERAL = -1
_PROMPT_DIGITS = 12


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The row of a record's sample from 0, or None and why there is none."""

    row: int | None = None
    problem: str = ""
    doubt: Doubt | None = None


class SampleIndex:
    """Where the samples of a dataset stand, by id and by prompts; some bytes a prompt.

    A prompt is the same where its words are, whatever white space is between them.
    """

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._by_id: dict[int, int] = {}
        self._by_turns: dict[int, int] = {}
        self._by_first: dict[int, int] = {}
        # Hashes of all prompts, sample after sample, and where those of each sample begin.
        self._prompts, self._begins = array("q"), array("q", [0])
        self._history_turns: dict[int, int] = {}
        for row, sample in enumerate(samples):
            self._add(row, sample)

    @property
    def count(self) -> int:
        """Count the samples."""
        return len(self._begins) - 1

    def _add(self, row: int, sample: Sample) -> None:
        before, own = _key(_history_prompts(sample)), _key(sample.turns)
        self._by_id[hash(sample.id)] = row
        # A record of a sample with a history may hold the history too.
        for turns in (own, (*before, *own)):
            _note(self._by_turns, hash(turns), row)
            if turns:
                _note(self._by_first, hash(turns[:1]), row)
        self._prompts.extend(map(hash, (*before, *own)))
        self._begins.append(len(self._prompts))
        if before:
            self._history_turns[row] = len(before)

    def find(self, record: Imported) -> Match:
        """Find the sample of a record: by its id, else by all its prompts.

        A record may go on after the prompts of its sample, as a simulated user does, where no
        other sample begins as it does.
        """
        prompts = _key(prompts_of(record))
        row = None if record.sample_id is None else self._by_id.get(hash(record.sample_id))
        if row is not None:
            return self._checked(row, record, prompts)
        named = _named(record)
        if not prompts:
            return Match(problem=f"{named}it holds no prompt")
        row = self._by_turns.get(hash(prompts))
        if row is None:
            return self._begun(prompts, named)
        if row == _SEVERAL:
            return Match(problem=f"{named}several samples have its prompts")
        return Match(row=row)

    def _checked(self, row: int, record: Imported, prompts: Sequence[str]) -> Match:
        """Say whether the prompts are those of the sample whose id the record has.

        An id of digits that is that of another sample than the one whose prompts the record tells
        apart from the conversation is the number of a row, from before the dataset had ids.
        """
        if record.prompts and record.sample_id is not None and record.sample_id.isdecimal():
            told = self._by_turns.get(hash(prompts), _SEVERAL)
            if told not in {row, _SEVERAL}:
                return Match(row=told, doubt="other_id")
        agrees = any(_begin_alike(turns, prompts) for turns in self._turns_of(row))
        return Match(row=row, doubt=None if agrees else "other_prompts")

    def _begun(self, prompts: Sequence[str], named: str) -> Match:
        """Find the sample whose prompts a record begins with."""
        row = self._by_first.get(hash(prompts[:1]))
        if row is None:
            return Match(problem=f"{named}no sample has its prompts")
        if row == _SEVERAL:
            return Match(problem=f"{named}several samples begin with its first prompt")
        for turns in self._turns_of(row):
            if len(turns) < len(prompts) and _begin_alike(turns, prompts):
                return Match(row=row, doubt="goes_on")
        return Match(
            problem=f"{named}the one sample that begins with its first prompt goes on otherwise"
        )

    def _turns_of(self, row: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the hashes of a sample's prompts, without and with those of its history."""
        turns = self._prompts[self._begins[row] : self._begins[row + 1]]
        return turns[self._history_turns.get(row, 0) :], turns


def _begin_alike(turns: Sequence[int], prompts: Sequence[str]) -> bool:
    return all(turn == hash(said) for turn, said in zip(turns, prompts, strict=False))


def _named(record: Imported) -> str:
    if record.sample_id is None:
        return "it has no id, and "
    return f'its id "{record.sample_id}" is not in the dataset, and '


def _note(rows: dict[int, int], key: int, row: int) -> None:
    rows[key] = row if rows.get(key, row) == row else _SEVERAL


def _key(prompts: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(prompt.split()) for prompt in prompts)


def _history_prompts(sample: Sample) -> list[str]:
    said = [message.get("content") for message in sample.history if message.get("role") == "user"]
    return [text for text in said if isinstance(text, str)]


def prompts_of(record: Imported) -> tuple[str, ...]:
    """Return what the user says in a record, one text a turn."""
    return record.prompts or said_by_user(record.trajectory)


def said_by_user(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the texts of the user's messages."""
    return tuple(event.text for event in trajectory.events() if isinstance(event, UserMessage))


def id_of(record: Imported) -> str:
    """Return the id of a record's sample where there is no dataset.

    Without an id of its own, records with the same prompts are repeats of one sample; a record
    without any prompt is called by its place.
    """
    if record.sample_id is not None:
        return record.sample_id
    prompts = prompts_of(record)
    if not prompts:
        return record.place
    return f"prompt-{sha256_of(_key(prompts)).partition(':')[2][:_PROMPT_DIGITS]}"


def sample_of_record(record: Imported) -> Sample:
    """Return the sample that a record tells of itself."""
    if record.sample is not None:
        return msgspec.structs.replace(record.sample, id=id_of(record))
    prompts = prompts_of(record)
    return Sample(
        id=id_of(record),
        input=prompts[0] if len(prompts) == 1 else prompts or "",
        ground_truth=_ground_truth(record, len(prompts)),
        tags=_texts(record.fields.get("tags")),
        metadata=record.fields,
    )


def _ground_truth(record: Imported, turns: int) -> str | tuple[str, ...] | None:
    if record.ground_truth is not None:
        return record.ground_truth
    told = record.fields.get("ground_truth")
    each = _texts(told)
    if len(each) == turns and turns > 1:
        return each
    return told if isinstance(told, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts; nothing where it is none."""
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return tuple(value) if is_texts else ()


def sample_of_trial(trial: Trial) -> Sample:
    """Return the sample of a stored trial that no dataset holds."""
    if isinstance(trial.sample, Sample):
        return trial.sample
    prompts = said_by_user(trial.trajectory)
    return Sample(id=trial.sample_id, input=prompts[0] if len(prompts) == 1 else prompts or "")
