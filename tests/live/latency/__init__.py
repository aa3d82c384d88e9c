"""Trials with latency targets and searches."""
