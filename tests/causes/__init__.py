"""Disturbances whose cause is known, and how often a study names it.

`python -m tests.causes` injects each one into a trial of a small cluster in containers, beside quiet trials
in random order, analyses the run once, and scores what the analysis names. A new disturbance is a row of
disturbances.toml; a new way to disturb is a function of injections.py or a verb of Meddle.java.
"""
