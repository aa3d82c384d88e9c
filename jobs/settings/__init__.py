"""Numbers of each setting and topology, over their trials: one Spark job per file."""
