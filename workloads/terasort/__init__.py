"""TeraSort from Hadoop's examples: generated rows, sorted by a MapReduce job on YARN, and verified."""
