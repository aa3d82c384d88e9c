"""The progress of a run, and the list of runs."""
