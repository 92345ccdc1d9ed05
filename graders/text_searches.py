"""What the graders of texts share: looking for a text or a pattern, and judging what was found.

The wording of `output-matches` is that of Vally (0.15); the others follow it.
"""

from collections.abc import Iterable

from graders.submissions import Piece, latest_messages
from harness.system.patterns import PatternError, compile_pattern, search
from harness.system.texts import cut
from harness.types.grades import Grade, Ref
from harness.types.trajectories import Trajectory

SUBSTRING = {"description": "The text to look for."}
VALUE = {"description": "Another word for `substring`."}
CASE = {"description": "Whether upper and lower case differ; they do not by default."}
NEGATE = {"description": "Pass where nothing is found, as the keyword with `-not-` does."}
NOT_NEGATE = {"description": "True: the keyword says so already. False is refused."}
PATTERN = {"description": "Regular expression; it may match anywhere, and case matters."}

NO_OUTPUT = "Agent produced no output"

_SHOWN_CHARACTERS = 300


def final_message(trajectory: Trajectory) -> Piece | None:
    """Return the output: the last message of the last turn that holds more than white space."""
    last = len(trajectory.turns) - 1
    for ref, text in latest_messages(Trajectory(turns=trajectory.turns[-1:])):
        if text and not text.isspace():
            return Ref(turn=last, event=ref.event), text
    return None


def chosen_text(substring: str | None, value: str | None) -> str:
    """Return the one text of the two options.

    Raises:
        ValueError: there is none, or there are two.
    """
    if (substring is None) == (value is None):
        problem = "are both given" if value is not None else "is missing"
        which = "`substring` and `value`" if value is not None else "`substring`"
        raise ValueError(f"{which} {problem}")
    return substring if substring is not None else value or ""


def refuse_double_negation(negate: bool) -> None:  # noqa: FBT001  (the option's own value)
    """Refuse an option that contradicts the keyword.

    Raises:
        ValueError: it does.
    """
    if not negate:
        raise ValueError("`negate: false` contradicts a keyword with `-not-`")


def lint_text(text: str) -> Iterable[tuple[str, str]]:
    """Find a text that stands in every text."""
    if not text:
        yield "substring", "is empty: every text contains it"


def lint_pattern(pattern: str, option: str = "pattern") -> Iterable[tuple[str, str]]:
    """Find a text that is no regular expression, or an empty one."""
    if not pattern:
        yield option, "is empty: it matches every text"
    try:
        compile_pattern(pattern)
    except PatternError as error:
        yield option, f"invalid pattern: {error}"


def find_text(pieces: Iterable[Piece], wanted: str, *, case_sensitive: bool) -> Ref | None:
    """Point at the first place of a text in pieces."""
    wanted = wanted if case_sensitive else wanted.lower()
    for ref, text in pieces:
        searched = text if case_sensitive else text.lower()
        at = searched.find(wanted)
        if at >= 0:
            # Some capital letters are longer in lower case: then positions are not the same.
            same = len(searched) == len(text)
            return Ref(
                turn=ref.turn,
                event=ref.event,
                start=at if same else None,
                end=at + len(wanted) if same else None,
            )
    return None


def find_pattern(pieces: Iterable[Piece], pattern: str) -> Ref | None:
    """Point at the first match of a pattern in pieces.

    Raises:
        PatternError: the pattern is invalid, even if there is nothing to search.
        SlowPattern: the time limit has passed.
    """
    compile_pattern(pattern)
    for ref, text in pieces:
        match = search(pattern, text)
        if match is not None:
            return Ref(turn=ref.turn, event=ref.event, start=match.start(), end=match.end())
    return None


def quoted(text: str) -> str:
    """Show a text in evidence."""
    return f'"{cut(text, _SHOWN_CHARACTERS)}"'


def slashed(pattern: str) -> str:
    """Show a pattern in evidence."""
    return f"/{cut(pattern, _SHOWN_CHARACTERS)}/"


def judge_output(found: Ref | None, output: Piece | None, what: str, *, negate: bool) -> Grade:
    """Judge whether the output holds `what`, which reads `contains "x"` or `matches pattern /x/`.

    Without an output nothing passes that asks for the absence of something.
    """
    if negate and output is None:
        return Grade(score=0.0, evidence=NO_OUTPUT)
    evidence = f"Output {what}" if found else f"Output does not {_infinitive(what)}"
    where = found or (output[0] if output else None)
    return Grade(
        score=float((found is None) is negate), evidence=evidence, refs=(where,) if where else ()
    )


def judge_transcript(found: Ref | None, what: str, *, negate: bool, messages: int) -> Grade:
    """Judge whether any assistant message holds `what`; without a message nothing passes."""
    if not messages:
        return Grade(score=0.0, evidence="There is no assistant message")
    evidence = f"An assistant message {what}" if found else f"No assistant message {what}"
    return Grade(
        score=float((found is None) is negate), evidence=evidence, refs=(found,) if found else ()
    )


def _infinitive(what: str) -> str:
    verb, _, rest = what.partition(" ")
    return f"{verb.removesuffix('es') if verb == 'matches' else verb.removesuffix('s')} {rest}"
