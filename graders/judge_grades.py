"""The grade that a judge's answer makes: its score and rationale, or an error that says why not.

What was asked and what came back is stored with it, so that a verdict can be looked into.
"""

from typing import Any

import msgspec

from graders.judge_questions import Answer
from harness.types.grades import Grade

STORED_CHARACTERS = 20_000
"""How much of a message, and of a reply, is stored with the grade; what was cut says so."""


def grade_of_answer(answer: Answer, model: str) -> Grade:
    """Return the grade of an answer; `model` is the judge as it was asked for.

    `details` hold `model`, `served` (the model that answered), `prompt`, `reply`, `cached`, and
    for an error `code` and `cause`, the endpoint's own code.
    """
    usage = msgspec.UNSET if answer.usage is None else answer.usage
    details = _details(answer, model)
    if answer.verdict is None:
        cause = {"cause": answer.cause} if answer.cause else {}
        return Grade(
            status="error",
            evidence=f"{answer.code}: {answer.message}",
            details={"code": answer.code, **cause, **details},
            usage=usage,
        )
    score = answer.verdict.score
    evidence = answer.verdict.rationale or f"the judge gave {score:g} and no reason"
    return Grade(score=score, evidence=evidence, details=details, usage=usage)


def _details(answer: Answer, model: str) -> dict[str, Any]:
    return {
        "model": model,
        **({"served": answer.served} if answer.served else {}),
        "prompt": [{**one, "content": _stored(one["content"])} for one in answer.messages],
        **({} if answer.reply is None else {"reply": _stored(answer.reply)}),
        **({"cached": True} if answer.cached else {}),
    }


def _stored(text: str) -> str:
    if len(text) <= STORED_CHARACTERS:
        return text
    return f"{text[:STORED_CHARACTERS]}… (cut: {len(text):,} characters in all)"
