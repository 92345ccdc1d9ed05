"""YAML, or a Python mapping, to checked records: the one reading of what users write by hand.

Bytes come in; nodes that know their place go out, and from them dataclasses, with every fault of
the document at once. It knows nothing of suites and scripts, which are read by it.
"""
