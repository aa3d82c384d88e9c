"""Estimates that a plan does not hold."""

ANALYSIS_ESTIMATE_S = 40.0
"""Of the analysis of a run, until it is under way."""
