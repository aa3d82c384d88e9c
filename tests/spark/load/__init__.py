"""Searches and faults, analysed."""
