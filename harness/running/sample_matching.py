"""Which sample of a dataset a foreign record is of: by its id, else by what the user says."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from harness.system.hashing import sha256_of
from harness.types.events import UserMessage
from harness.types.imports import Imported
from harness.types.samples import Sample
from harness.types.trajectories import Trajectory
from harness.types.trials import Trial

_SEVERAL = -1
_NO_SAMPLE, _NO_PROMPT = "no sample has its prompt", "it holds no prompt"
_PROMPT_DIGITS = 12


class SampleIndex:
    """Where the samples of a dataset stand, by id and by prompt; some bytes a sample.

    A prompt is the same where its words are, whatever white space is between them.
    """

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._by_id: dict[int, int] = {}
        self._by_turns: dict[int, int] = {}
        self._by_first: dict[int, int] = {}
        self.count = 0
        for row, sample in enumerate(samples):
            self._by_id[hash(sample.id)] = row
            self.count = row + 1
            # A record of a sample with a history may hold the history too.
            for turns in {_key(sample.turns), _key([*_history_turns(sample), *sample.turns])}:
                _note(self._by_turns, hash(turns), row)
            if sample.turns:
                _note(self._by_first, hash(_key(sample.turns[:1])), row)

    def find(self, record: Imported) -> tuple[int | None, str]:
        """Return the row of a record's sample from 0, or None and why there is none.

        Where no sample has all the prompts of the conversation, the first prompt decides: a
        simulated user goes on, and an agent may have broken off. An id that is that of another
        sample than the one whose prompts the record tells apart is the number of a row, from
        before the dataset had ids.
        """
        if record.sample_id is not None and hash(record.sample_id) in self._by_id:
            told = self._by_turns.get(hash(_key(record.prompts))) if record.prompts else None
            is_sure = told is not None and told != _SEVERAL
            return told if is_sure else self._by_id[hash(record.sample_id)], ""
        prompts = prompts_of(record)
        row = self._by_turns.get(hash(_key(prompts)))
        if row is None and prompts:
            row = self._by_first.get(hash(_key(prompts[:1])))
        if row == _SEVERAL:
            return None, f"{_named(record)}several samples have its prompt"
        if row is None:
            return None, f"{_named(record)}{_NO_SAMPLE if prompts else _NO_PROMPT}"
        return row, ""


def _named(record: Imported) -> str:
    if record.sample_id is None:
        return "it has no id, and "
    return f'its id "{record.sample_id}" is not in the dataset, and '


def _note(rows: dict[int, int], key: int, row: int) -> None:
    rows[key] = row if key not in rows else _SEVERAL


def _key(prompts: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(prompt.split()) for prompt in prompts)


def _history_turns(sample: Sample) -> list[str]:
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
