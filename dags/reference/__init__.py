"""Reference pages generated from code: `python -m dags.reference` writes docs/reference/."""
