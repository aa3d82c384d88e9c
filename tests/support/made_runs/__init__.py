"""Runs, fakes of what they run on, and commands that read them."""
