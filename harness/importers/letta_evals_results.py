"""One result of letta-evals, of whichever version: its record comes in, a conversation goes out.

- `trajectory` is a list of lists of Letta's messages. Where such a list has no message of the user,
  the turn begins with the prompt of the sample.
- A result whose trajectory was not kept is what it took out of it as the agent's words, where an
  extractor of those words did.
- The scores of its graders and its reward are outcomes, and so is what went wrong with grading.
- An error of the category `target` says that the agent could not be driven; the time limit of a
  sample is the agent's own doing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.importers.letta import count_unread, unknown_types
from harness.importers.record_fields import field_seconds, field_text, is_outcome, without
from harness.messages.completions import read_usage
from harness.messages.contents import shape_error
from harness.messages.letta_recordings import read_recorded_turns
from harness.messages.pairing import name_results
from harness.types.errors import POLICIES
from harness.types.imports import Imported
from harness.types.protocols import AGENT_STATE
from harness.types.samples import Sample
from harness.types.trajectories import Trajectory, Turn, Usage
from harness.types.trials import Failure

_ID = ("sample_id", "id")
_MODEL = ("model_handle", "model_name")
_SECRET = ("secrets", "tool_exec_environment_variables")
_APART = ("trajectory", "agent_state", "token_data", "sample")
_SPOKEN = ("last_assistant", "first_assistant", "all_assistant", "last_turn")
_FAILED = "Error:"  # how versions before 0.11 begin the rationale of a sample without an agent


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFacts:
    """What the files around a result tell: its `samples` by id, and the extractors by grader."""

    samples: Mapping[str, Any] = field(default_factory=dict)
    extractors: Mapping[str, str] = field(default_factory=dict)

    @property
    def first_grader(self) -> str | None:
        """Return the name of the grader that older results mean where they name none."""
        return next(iter(self.extractors), None)

    def joined(self, record: Any) -> "EvalFacts":
        """Return them with what `suite.json`, or a header, tells."""
        if not isinstance(record, Mapping):
            return self
        config = record.get("config")
        graders = config.get("graders") if isinstance(config, Mapping) else None
        told = graders.items() if isinstance(graders, Mapping) else ()
        extractors = {name: _extractor(options) for name, options in told}
        listed = record.get("samples")
        samples = [s for s in listed if isinstance(s, Mapping)] if isinstance(listed, list) else []
        by_id = {field_text(sample, ("id", "sample_id")): sample for sample in samples}
        return EvalFacts(
            samples={**self.samples, **{key: s for key, s in by_id.items() if key is not None}},
            extractors=extractors or self.extractors,
        )


def _extractor(options: Any) -> str:
    named = field_text(options, ("extractor",)) if isinstance(options, Mapping) else None
    return named or _SPOKEN[0]


def is_result(record: Mapping[str, Any]) -> bool:
    """Say whether a record looks like a result of version 0.17 or newer."""
    if field_text(record, _ID[:1]) is None:
        return False
    lists = record.get("trajectory")
    if lists is None:
        return "grades" in record and "submissions" in record
    judged = any(name in record for name in ("grades", "submissions", "error"))
    return judged and isinstance(lists, list) and all(isinstance(one, list) for one in lists)


def read_result(result: Mapping[str, Any], place: str, facts: EvalFacts) -> Imported:
    """Read one result.

    Raises:
        ValueError: its trajectory is none; the text begins with the place.
    """
    own = result.get("sample")
    held = own if isinstance(own, Mapping) else {}
    sample_id = field_text(result, _ID[:1]) or field_text(held, _ID)
    sample = _sample(held or facts.samples.get(sample_id or ""), sample_id)
    failure = _failure(result)
    said = None if failure else _said(result, facts)
    try:
        turns, messages = _turns(result, sample, said)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    state = result.get("agent_state")
    return Imported(
        place=place,
        trajectory=Trajectory(turns=turns),
        sample_id=sample_id,
        model=field_text(result, _MODEL),
        prompts=sample.turns if sample else (),
        status=POLICIES[failure.code].status if failure else "completed",
        failure=failure,
        seconds=_seconds(result),
        outcomes=_outcomes(result, facts.first_grader),
        fields=without(result, *_APART),
        unread=count_unread(turns, unknown_types(messages)),
        usage=_usage(result),
        snapshots={AGENT_STATE: without(state, *_SECRET)} if isinstance(state, Mapping) else {},
        sample=sample,
    )


def _sample(fields: Any, sample_id: str | None) -> Sample | None:
    """Return the sample as the record holds it; None where it holds no prompt."""
    prompt = _texts(fields.get("input")) if isinstance(fields, Mapping) else None
    if prompt is None:
        return None
    rubric = fields.get("rubric")
    return Sample(
        id=sample_id or "",
        input=prompt,
        ground_truth=_texts(fields.get("ground_truth")),
        rubric=rubric if isinstance(rubric, str) else None,
        agent_args=_mapping(fields.get("agent_args")),
        extra_vars=_mapping(fields.get("extra_vars")),
        rubric_vars=_mapping(fields.get("rubric_vars")),
    )


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _texts(value: Any) -> str | tuple[str, ...] | None:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return tuple(value)
    return value if isinstance(value, str) else None


def _said(result: Mapping[str, Any], facts: EvalFacts) -> str | None:
    """Return what was taken out of the trajectory as the agent's words."""
    submissions = result.get("submissions")
    texts = dict(submissions) if isinstance(submissions, Mapping) else {}
    texts.setdefault(facts.first_grader, result.get("submission"))
    spoken = (texts.get(name) for name, one in facts.extractors.items() if one in _SPOKEN)
    return next((text for text in spoken if isinstance(text, str) and text), None)


def _turns(
    result: Mapping[str, Any], sample: Sample | None, said: str | None
) -> tuple[tuple[Turn, ...], list[Mapping[str, Any]]]:
    """Return the turns of a result, and the messages they were read from.

    `said` is the answer where there are no messages at all.
    """
    lists = result.get("trajectory") or []
    if not isinstance(lists, list):
        raise shape_error("trajectory must be a list", lists)
    if not any(lists) and said is not None:
        lists = [[{"message_type": "assistant_message", "content": said}]]
    if lists and all(isinstance(one, Mapping) for one in lists):
        lists = [lists]
    prompts = sample.turns if sample else ()
    if len(lists) == 1:
        prompts = ("\n".join(prompts),) if prompts else ()
    made, read = list[Turn](), list[Mapping[str, Any]]()
    usages = list(_usages(result, len(lists)))
    for index, messages in enumerate(lists):
        if not isinstance(messages, list):
            raise shape_error(f"trajectory[{index}] must be a list", messages)
        prompt = prompts[index] if len(prompts) == len(lists) else None
        told = [*_prompted(messages, prompt), *usages[index]]
        try:
            made += read_recorded_turns(told)
        except ValueError as error:
            raise ValueError(f"trajectory[{index}]: {error}") from error
        read += told
    return name_results(made), read


def _prompted(messages: list[Any], prompt: str | None) -> list[Any]:
    """Return messages that begin with what the user said, where the sample tells it."""
    types = (m.get("message_type") for m in messages if isinstance(m, Mapping))
    if prompt is None or "user_message" in types:
        return messages
    return [{"message_type": "user_message", "content": prompt}, *messages]


def _usages(result: Mapping[str, Any], count: int) -> Iterator[list[dict[str, Any]]]:
    """Return the usage records of each list of messages; all with the last where they differ."""
    told = result.get("agent_usage")
    records = [
        {**record, "message_type": "usage_statistics"}
        for record in (told if isinstance(told, list) else [])
        if isinstance(record, Mapping)
        and record.get("message_type", "usage_statistics") == "usage_statistics"
    ]
    if len(records) == count:
        yield from ([record] for record in records)
    else:
        yield from (records if index == count - 1 else [] for index in range(count))


def _usage(result: Mapping[str, Any]) -> Usage | None:
    told = result.get("usage")
    usage = read_usage(told if isinstance(told, Mapping) else result)
    return None if usage == Usage() else usage


def _seconds(result: Mapping[str, Any]) -> float | None:
    timing = result.get("timing")
    told = timing if isinstance(timing, Mapping) else {"target": result.get("target_time")}
    return field_seconds(told, "target")


def _failure(result: Mapping[str, Any]) -> Failure | None:
    """Return why the agent could not be driven to its end; None where it was."""
    error = result.get("error")
    if isinstance(error, Mapping):
        if error.get("category") not in ("target", "unknown", None):
            return None
        kind = field_text(error, ("exception_type",)) or "error"
        is_limit = kind.rpartition(".")[2] == "TimeoutError"
        message = f"{kind}: {field_text(error, ('message',)) or ''}"
        return Failure(code="trial_timeout" if is_limit else "target_broke", message=message)
    if isinstance(error, str) and error:
        return Failure(code="target_broke", message=error)
    grade = result.get("grade")
    told = grade.get("rationale") if isinstance(grade, Mapping) else None
    if isinstance(told, str) and told.startswith(_FAILED) and not result.get("agent_id"):
        return Failure(code="target_broke", message=told.removeprefix(_FAILED).strip())
    return None


def _outcomes(result: Mapping[str, Any], first_grader: str | None) -> dict[str, Any]:
    """Return the scores by grader, the reward, and why grading broke."""
    grades = result.get("grades")
    if not isinstance(grades, Mapping) or not grades:
        grades = {first_grader or "grade": result.get("grade")}
    told = [(name, _score(grade)) for name, grade in grades.items()]
    told.append(
        ("reward" if "reward" not in grades else "reward.score", _score(result.get("reward")))
    )
    error = result.get("error")
    if isinstance(error, Mapping) and _failure(result) is None:
        parts = (field_text(error, (name,)) for name in ("category", "exception_type", "message"))
        told.append(("error", ": ".join(filter(None, parts))))
    return {name: value for name, value in told if is_outcome(value)}


def _score(grade: Any) -> Any:
    return grade.get("score") if isinstance(grade, Mapping) else None
