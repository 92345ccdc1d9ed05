"""The built-in graders and extractors: a trajectory, or a text out of one -> a grade, a text.

Each is a frozen dataclass whose fields are its options in the YAML. `catalogue` lists them by
name; the harness finds that list through an entry point, as it finds a stranger's.
"""
