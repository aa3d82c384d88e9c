"""Messages about runs that got slower, failed, recovered or are late, to the receivers that a study names."""
