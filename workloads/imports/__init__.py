"""Records that others made: files recognised, mapped to trials, and written as the records of a run."""
