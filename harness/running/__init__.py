"""A suite comes in, a run directory and a summary go out: plan, drive, grade, store, sum up."""
