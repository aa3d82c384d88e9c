"""Known answers: inputs whose right result is known beforehand, and how near this program comes to it.

`python -m tests.known_answers` measures them. docs/known-answers.md lists the last results.
"""
