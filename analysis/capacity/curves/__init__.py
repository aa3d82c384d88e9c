"""Curves fitted to measured points, and their predictions with intervals."""
