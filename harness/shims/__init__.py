"""What lets the Python files of letta-evals' users run: its module names, and its decorators.

A user's file in, the same marks on its functions out that Regrade's own decorators leave.
"""
