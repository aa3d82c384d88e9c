"""From a study to an ordered, seeded plan."""
