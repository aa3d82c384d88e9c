"""Loads whose rate changes with time, on real daemons."""
