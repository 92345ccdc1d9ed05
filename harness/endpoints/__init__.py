"""Asking language models over HTTP: a request in, a reply or one of the known errors out.

The agents of `openai` and the judges ask through here; how often a request is sent again is decided
by who asks.
"""
