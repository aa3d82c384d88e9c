"""From a study to an ordered, seeded plan that can be carried out."""
