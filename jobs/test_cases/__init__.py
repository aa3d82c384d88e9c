"""Numbers of each test case and topology, over their trials: one Spark job per file."""
