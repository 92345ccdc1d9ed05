from letta_evals import GradeResult, extractor, grader


@grader
def knows_code(sample, submission) -> GradeResult:
    return GradeResult(score=float(bool(submission)), rationale="there is a code")


@extractor
def codes(trajectory, config) -> str:
    return "code"
