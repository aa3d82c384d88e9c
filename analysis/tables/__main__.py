"""`python -m analysis.tables` prints docs/tables.md."""

from __future__ import annotations

from analysis.tables import markdown

print(markdown(), end="")
