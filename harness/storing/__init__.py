"""The run directory: trials go in and come out as a stream."""
