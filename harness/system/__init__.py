"""The helpers through which the others touch clock, threads, limits, patterns and files."""
