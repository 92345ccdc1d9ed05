"""What a judge is asked: a rubric, a sample and a submission come in, chat messages go out.

Two forms of prompts are in use, both of letta-evals. In the newer one (0.17 on) the rubric, with
its placeholders filled in, is the whole user message. In the older one (0.2 to 0.16) the rubric
is a part of a message that also shows the question, the expected answer and the submission, and
only the names listed in `rubric_vars` are replaced. A rubric is of the older form where the grader
lists `rubric_vars`, or where it has no placeholder at all (as the whole message it would not show
the judge what to grade); but not where it holds `{input}`, `{ground_truth}` or `{submission}`, or
the grader has a `system_prompt`: those came with the newer form.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graders.judge_templates import (
    RESERVED,
    PromptError,
    fill,
    placeholders,
    replace_listed,
    require_length,
    shown_value,
    unescaped,
    unknown_placeholders,
)
from harness.types.samples import Sample

Message = Mapping[str, str]

JUDGE = (
    "You are an evaluation judge. You grade how well a submission meets a rubric. Answer with one "
    'JSON object: {"score": a number from 0.0 to 1.0, "rationale": why, in one or two sentences}. '
    "Use decimals for partial credit."
)
"""The system message of the older form."""

JSON_ONLY = (
    'Answer with one JSON object and nothing else: {"score": <a number from 0 to 1>, '
    '"rationale": "<why>"}'
)
"""What is added to the question where the endpoint cannot be held to JSON."""

_EMPTY = "the rubric is empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A rubric as a grader has it: its text, and the options that tell its form."""

    text: str
    rubric_vars: tuple[str, ...] | None = None
    system_prompt: str | None = None

    @property
    def is_listed(self) -> bool:
        """Say whether the names that are replaced are those listed in `rubric_vars`."""
        if self.rubric_vars is None or self.system_prompt is not None:
            return False
        return not any(f"{{{name}}}" in self.text for name in RESERVED)

    @property
    def is_plain(self) -> bool:
        """Say whether it has no placeholder, and stands inside a message of ours.

        Raises:
            PromptError: its placeholders cannot be read.
        """
        return self.system_prompt is None and not placeholders(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that it needs a value for.

        Raises:
            PromptError: its placeholders cannot be read.
        """
        return (self.rubric_vars or ()) if self.is_listed else placeholders(self.text)


def messages(rubric: Rubric, sample: Sample, submission: str) -> tuple[Message, ...]:
    """Return the messages that ask a judge to grade a submission.

    Raises:
        PromptError: there is no such prompt.
    """
    if not rubric.text.strip():
        raise PromptError(_EMPTY)
    if problem := next(problems_with(rubric, sample), None):
        raise PromptError(problem)
    variables = {name: shown_value(value) for name, value in sample.rubric_vars.items()}
    if rubric.is_listed:
        text = replace_listed(rubric.text, {name: variables[name] for name in rubric.names})
        return _composed(text, sample, submission)
    if rubric.is_plain:
        return _composed(unescaped(rubric.text), sample, submission)
    values = {
        "input": shown_value(sample.input),
        "ground_truth": shown_value(sample.ground_truth),
        "submission": submission,
    }
    asked = {"role": "user", "content": fill(rubric.text, {**values, **variables})}
    if rubric.system_prompt is None:
        return (asked,)
    return {"role": "system", "content": rubric.system_prompt}, asked


def problems_of(rubric: Rubric) -> Iterator[str]:
    """Yield what is wrong with a rubric, whatever the sample.

    Raises:
        PromptError: its placeholders cannot be read.
    """
    if not rubric.text.strip():
        yield _EMPTY
    elif not rubric.is_listed and not rubric.is_plain and "submission" not in rubric.names:
        yield "the rubric has no {submission}, so the judge would not see what it grades"


def problems_with(rubric: Rubric, sample: Sample) -> Iterator[str]:
    """Yield what keeps a sample from being judged by a rubric that is right in itself.

    Raises:
        PromptError: its placeholders cannot be read.
    """
    for name in RESERVED:
        if name in sample.rubric_vars:
            yield f"rubric_vars: the name {name!r} is reserved: it stands for the sample's own"
    known = (*(() if rubric.is_listed else RESERVED), *sample.rubric_vars)
    if missing := [name for name in rubric.names if name not in known]:
        yield unknown_placeholders(missing, known)


def with_json_asked(asked: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages with the request for JSON at their end."""
    *others, last = asked
    if JSON_ONLY in last["content"][-2 * len(JSON_ONLY) :]:
        return asked
    return (*others, {**last, "content": f"{last['content']}\n\n{JSON_ONLY}"})


def _composed(rubric: str, sample: Sample, submission: str) -> tuple[Message, ...]:
    expected = shown_value(sample.ground_truth)
    sections = {
        "Rubric": rubric,
        "Original question": shown_value(sample.input),
        **({"Expected answer": expected} if expected else {}),
        "Submission to grade": submission,
    }
    shown = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    require_length(len(shown))
    text = f"{_FRAME}\n\n{shown}\n\n## What to do\n\n{_STEPS}"
    return {"role": "system", "content": JUDGE}, {"role": "user", "content": text}


_FRAME = (
    "You judge another system's answer by a rubric. Do not answer the question yourself; grade "
    "the submission as it stands."
)
_STEPS = (
    "1. Read the rubric and the question.\n"
    "2. Compare the submission with what the rubric asks for.\n"
    "3. Choose a score from 0.0 (meets nothing) to 1.0 (meets all); use decimals for partial "
    "credit.\n"
    f"4. {JSON_ONLY}"
)
