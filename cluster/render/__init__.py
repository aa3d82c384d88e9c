"""Rendering: from a topology to every file and command line of its daemons. Pure functions only."""
