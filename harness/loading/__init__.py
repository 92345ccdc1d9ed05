"""Text comes in - suite YAML, datasets, Python files - and checked suites and samples go out."""
