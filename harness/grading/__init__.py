"""Grading: graders, a sample and a trajectory come in; a grade per grader and a verdict go out.

`judging` calls extractors and graders, each kept apart from the others' failures; `verdicts`
makes one verdict of the grades; `grade_keys` says when a stored grade still holds.
"""
