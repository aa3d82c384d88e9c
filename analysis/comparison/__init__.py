"""Runs of one study over time: did the cluster get slower, since when, and what else had changed."""
