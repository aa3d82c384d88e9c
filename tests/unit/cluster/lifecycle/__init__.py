"""Bringing up clusters: what is refused before anything starts."""
