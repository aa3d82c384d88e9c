"""Pages over several runs: the results hub, and two runs side by side."""
