"""Time series within each trial, and bring-up times."""
