"""Slow seconds of a trial, and what moved with them: declared rules with their evidence, never a guess."""
