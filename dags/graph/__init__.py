"""One DAG per study: its shape from the plan, and the study files it comes from."""
