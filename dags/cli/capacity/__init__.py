"""The `study capacity` commands, and what they print."""
