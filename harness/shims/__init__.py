"""What lets the Python files of letta-evals' users run: its module names, and its decorators.

A user's file in, the same marks on its functions out that Regrade's own decorators leave; samples,
trajectories and end states in, the objects that such functions take out.

`letta_evals_modules` makes `import letta_evals` work, `stand_ins` says which names that gives, and
`eval_models`, `eval_summaries`, `eval_kinds`, `function_marks`, `message_lists`,
`builtin_functions`, `function_registry` and `refused_members` hold them. `letta_samples`,
`letta_views` and `reward_contexts` make what functions are given; `agent_functions` calls
those that make agents.
"""
