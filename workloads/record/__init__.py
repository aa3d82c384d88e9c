"""The files that a trial leaves on disk."""
