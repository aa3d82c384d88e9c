"""From the records of a run to typed tables and a quarantine."""
