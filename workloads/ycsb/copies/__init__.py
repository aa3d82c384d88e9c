"""Copies of loaded tables, for later builds of a run."""
