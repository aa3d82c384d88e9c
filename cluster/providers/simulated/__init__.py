"""Provider `simulated`: clusters that are a queueing model, for rehearsals. Nothing on them is measured."""
