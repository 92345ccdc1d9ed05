"""Checks of your own: functions marked with `@grader`, named in suite.yaml as checks.py:NAME.

A check is given the sample and the text that the extractor took out of the conversation. It returns
a Grade, or simply a number from 0 to 1, or True or False. Give evidence: it is what you read when
the check fails. A check whose first parameter is called `trajectory` sees everything that happened.
"""

from harness import Grade, Sample, grader

MOST_WORDS = 25


@grader
def short_enough(sample: Sample, submission: str) -> Grade:
    """Say whether the answer is short; a sample may set a bound of its own in a column."""
    most = sample.metadata.get("most_words", MOST_WORDS)
    words = len(submission.split())
    return Grade(score=1.0 if words <= most else 0.0, evidence=f"{words} words, of at most {most}")
