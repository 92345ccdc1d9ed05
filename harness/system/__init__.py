"""The helpers through which the other packages touch clock, threads, retries, limits and patterns."""
