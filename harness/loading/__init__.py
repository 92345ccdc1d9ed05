"""Text to Suite and Samples: YAML, datasets, a suite's Python files, plug-ins and their options.

Suite files, JSONL and CSV come in; `Suite` and `Sample` records go out, or every fault at once.
"""
