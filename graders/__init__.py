"""Regrade's built-in graders and extractors: a trajectory or a submission comes in, a grade goes out."""
