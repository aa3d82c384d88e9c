"""The plan carried out: run, steps, trials, monitors."""
