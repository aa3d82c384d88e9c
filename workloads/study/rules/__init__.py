"""Rules that join several keys of a study. Pure; faults are ValueErrors at their key."""
