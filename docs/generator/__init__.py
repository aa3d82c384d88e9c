"""Reference pages generated from code: `python -m docs.generator` writes docs/reference/."""
