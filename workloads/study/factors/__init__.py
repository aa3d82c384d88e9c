"""The factors of a study, one module each: what may differ between its clusters."""
