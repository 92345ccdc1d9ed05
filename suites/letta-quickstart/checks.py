"""A grader of the Letta quickstart."""

from harness import Grade, Sample, grader


@grader
def remembered(sample: Sample, submission: str) -> Grade:
    """Check that the memory block holds what the agent was asked to remember."""
    wanted = sample.metadata.get("remember")
    if wanted is None:
        return Grade(status="skipped", evidence="the agent was not asked to remember anything")
    kept = wanted in submission
    return Grade(score=float(kept), evidence=f'"{wanted}" {"stands" if kept else "is not"} there')
