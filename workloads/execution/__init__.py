"""Executes a plan: runs, steps, trials, monitors."""
