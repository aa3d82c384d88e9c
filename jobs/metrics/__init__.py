"""Metrics of each trial and setting, one Spark job per file."""
