"""Outcomes of trials come in, numbers and gates go out: pure arithmetic."""
