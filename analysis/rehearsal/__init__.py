"""Rehearsals: what a study would decide on a simulated cluster, and how often rightly."""
