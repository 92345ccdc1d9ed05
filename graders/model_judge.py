"""The grader `model_judge`: a language model grades the submission by a rubric.

Options and prompts are those of letta-evals (0.2 to 0.26), so that its suites work unchanged;
`base_url`, `api_key_env`, `script` and `cache` are ours. Where letta-evals clips a score, or turns
a judge's failure into a 0, the grade is an error here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from graders.judge_grades import grade_of_answer
from graders.judge_prompts import Message, Rubric, messages, problems_of, problems_with
from graders.judge_providers import PROVIDERS, ProviderName
from graders.judge_questions import Place, Question
from graders.judge_templates import RESERVED, PromptError
from harness.endpoints.keys import find_key
from harness.system.texts import error_line
from harness.types.code import SuitePath, SuiteText
from harness.types.errors import GraderError, TargetError
from harness.types.grades import Grade
from harness.types.protocols import GradingContext, Reads, Subject
from harness.types.samples import Sample
from harness.types.suites import SCRIPTED
from harness.types.taxonomy import Taxonomy

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from graders.judge_connection import JudgeConnection

_ONES = ("o1", "o3")
"""The models whose names begin so take no temperature but 1."""


@dataclass(frozen=True, kw_only=True)
class ModelJudge:
    """A language model grades the submission by a rubric; its score is the grade's.

    The rubric holds {input}, {ground_truth}, {submission} and the sample's rubric_vars. A sample's
    own `rubric` replaces the prompt. A reply without a score in 0..1 is asked for again, and is
    an error in the end, never a 0. Answers are cached by what was asked. A model that is called
    scripted/NAME is served by Regrade.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(
        determinism="llm",
        cost="medium",
        reference="reference-free",
        scope="point-in-time",
        score_kind="llm",
    )
    reads: ClassVar[Reads] = "submission"
    uses: ClassVar[tuple[str, ...]] = ("input", "rubric")

    prompt: str | None = field(
        default=None,
        metadata={
            "description": "The rubric. Without placeholders it is put into a message that shows "
            "the question, the expected answer and the submission."
        },
    )
    prompt_path: SuitePath | None = field(
        default=None, metadata={"description": "A file that holds the rubric, instead of `prompt`."}
    )
    model: str = field(
        default="gpt-4o-mini",
        metadata={"min_length": 1, "description": "The judge, as its provider calls it."},
    )
    temperature: float = field(
        default=0.0,
        metadata={
            "ge": 0,
            "le": 2,
            "description": "0 becomes 1 for models that take nothing else (o1, o3, gpt-5).",
        },
    )
    provider: ProviderName = field(
        default="openai",
        metadata={"description": "Whose OpenAI-compatible endpoint is asked, with its key."},
    )
    base_url: SuiteText | None = field(
        default=None,
        metadata={
            "description": "Address of another OpenAI-compatible endpoint. By default that of "
            "OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GEMINI_BASE_URL, else the provider's own.",
            "pattern": "^https?://.",
        },
    )
    api_key_env: SuiteText | None = field(
        default=None,
        metadata={
            "keyed": False,
            "description": "Name of the variable that holds the key; by default OPENAI_API_KEY, "
            "ANTHROPIC_API_KEY, or GEMINI_API_KEY or GOOGLE_API_KEY. Loopback needs none.",
        },
    )
    max_retries: int = field(
        default=5,
        metadata={
            "keyed": False,
            "ge": 0,
            "le": 100,
            "description": "How often it is asked again after a failure.",
        },
    )
    timeout: float = field(
        default=120.0,
        metadata={
            "keyed": False,
            "gt": 0,
            "le": 86_400,
            "description": "Seconds that one reply may take.",
        },
    )
    system_prompt: str | None = field(
        default=None, metadata={"description": "Text of the system message."}
    )
    rubric_vars: tuple[str, ...] | None = field(
        default=None,
        metadata={
            "description": "The way of letta-evals up to 0.16: the names to replace in the rubric, "
            "which is put into a message of ours."
        },
    )
    script: SuitePath | None = field(
        default=None,
        metadata={"description": "What a scripted/ model says; by default the target's script."},
    )
    cache: bool = field(
        default=True,
        metadata={
            "keyed": False,
            "description": "Whether the answer to the same question is taken from the cache.",
        },
    )

    def __post_init__(self) -> None:
        if self.prompt is not None and self.prompt_path is not None:
            raise ValueError("prompt and prompt_path are both given; a judge has one of the two")

    @property
    def scripted_model(self) -> tuple[Path | None, str] | None:
        """Return the script and the name of a scripted model."""
        if not self.model.startswith(SCRIPTED):
            return None
        script = self.script.path if self.script is not None else None
        return script, self.model.removeprefix(SCRIPTED)

    def lint(self) -> Iterator[tuple[str, str]]:
        """Yield what keeps every sample from being judged: a broken rubric, a reserved name."""
        option = "prompt" if self.prompt_path is None else "prompt_path"
        try:
            rubric = self._own_rubric
            found = problems_of(rubric) if rubric is not None else ()
            yield from ((option, problem) for problem in found)
        except PromptError as error:
            yield option, str(error)
        for name in sorted({*(self.rubric_vars or ())} & {*RESERVED}):
            yield "rubric_vars", f"the name {name!r} is reserved: it stands for the sample's own"

    def lint_keys(self, _models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield that there is no key, where the judge needs one."""
        if self.scripted_model is not None:
            return
        place = self._place
        try:
            find_key(place.keys, url=place.url, option="api_key_env")
        except TargetError as error:
            option = "" if self.api_key_env is None else "api_key_env"
            yield option, f"every grade will be an error: {error.line}"

    def lint_sample(self, sample: Sample, /) -> Iterator[tuple[str, str]]:
        """Yield what keeps one sample from being judged: no rubric, an unknown placeholder."""
        own = sample.rubric is not None
        try:
            rubric = self._rubric_of(sample)
            found = [*(problems_of(rubric) if own else ()), *problems_with(rubric, sample)]
            yield from (("rubric" if own else "rubric_vars", problem) for problem in found)
        except PromptError as error:
            # What is wrong with the grader's own prompt is said once, of the grader.
            if own or (self.prompt is None and self.prompt_path is None):
                yield "rubric", str(error)

    @classmethod
    def connect(cls, context: GradingContext, /) -> "AbstractAsyncContextManager[JudgeConnection]":
        """Open what the judges of a run share."""
        # The SDK takes a good part of a second to import; listing graders goes without it.
        from graders.judge_connection import judge_connection  # noqa: PLC0415

        return judge_connection(context)

    async def grade_with(self, connection: "JudgeConnection", subject: Subject, /) -> Grade:
        """Ask the judge."""
        if subject.submission is None:
            raise GraderError("there is no submission: the grader needs an extractor")
        try:
            rubric = self._rubric_of(subject.sample)
            asked = messages(rubric, subject.sample, subject.submission.text)
        except PromptError as error:
            raise GraderError(str(error), code="judge_prompt") from error
        return grade_of_answer(await connection.ask(self._question(asked)), self.model)

    @cached_property
    def _own_rubric(self) -> Rubric | None:
        """Return the grader's own rubric, None where it has none.

        Raises:
            PromptError: its file cannot be read.
        """
        text = self.prompt
        if self.prompt_path is not None:
            text = _read(self.prompt_path)
        return None if text is None else self._rubric(text)

    def _rubric_of(self, sample: Sample) -> Rubric:
        """Return the rubric for a sample.

        Raises:
            PromptError: there is none, or it cannot be read.
        """
        if sample.rubric is not None:
            return self._rubric(sample.rubric)
        if self._own_rubric is None:
            raise PromptError("there is no rubric: the sample has none, and the grader no prompt")
        return self._own_rubric

    def _rubric(self, text: str) -> Rubric:
        return Rubric(text=text, rubric_vars=self.rubric_vars, system_prompt=self.system_prompt)

    @property
    def _place(self) -> Place:
        scripted = self.scripted_model
        if scripted is not None:
            return Place(is_scripted=True, script=scripted[0])
        provider = PROVIDERS[self.provider]
        keys = provider.keys if self.api_key_env is None else (str(self.api_key_env),)
        url = provider.address() if self.base_url is None else str(self.base_url)
        return Place(url=url, keys=keys)

    @property
    def judge_model(self) -> tuple[str, str | None]:
        """Return the model that is asked, and its address."""
        return self.model, self._place.url

    def _question(self, asked: tuple[Message, ...]) -> Question:
        provider = PROVIDERS[self.provider]
        return Question(
            place=self._place,
            model=self.model,
            messages=asked,
            temperature=_temperature(self.model, self.temperature),
            has_schema=provider.has_schemas,
            max_tokens=provider.max_tokens,
            max_retries=self.max_retries,
            timeout=self.timeout,
            cache=self.cache,
        )


def _read(path: SuitePath) -> str:
    try:
        return path.path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path.text} cannot be read: {error_line(error)}") from error


def _temperature(model: str, wanted: float) -> float:
    fixed = model.startswith(_ONES) or "gpt-5" in model
    return 1.0 if fixed and wanted == 0 else wanted
