"""Find the raw files of a run's records, and read them with the pure parsers."""
