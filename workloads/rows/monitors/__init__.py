"""Samples of dool and nodecpu: bulk readers, and their aggregates per window and second."""
