"""Grading: graders, a sample and a trajectory come in; a grade per grader and a trial score go out.

`judging` calls extractors and graders, each kept apart from the others' failures; `trial_scores`
makes one judgement of the grades; `grade_keys` says when a stored grade still holds;
`worker_processes` holds the processes of graders that are isolated in one.
"""
