"""From a run's tables, manifests and journal to summary.json."""
