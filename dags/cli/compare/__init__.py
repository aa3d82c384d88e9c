"""`study compare`: runs of a study over time, or two runs side by side."""
