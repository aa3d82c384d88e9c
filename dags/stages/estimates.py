"""Estimates that a plan does not hold."""

ANALYSIS_ESTIMATE_S = 10.0
"""Seconds that the analysis of a run takes until it is under way. Measured: 7 s for ten trials."""
