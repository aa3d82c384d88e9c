"""Daemons that are killed while clients run."""
