"""What of a machine changes results: a table of facts, and how they are read and set for a trial."""
