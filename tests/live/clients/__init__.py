"""Load from several client hosts."""
