"""Regrade's engine."""
