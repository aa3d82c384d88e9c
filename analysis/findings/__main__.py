"""`python -m analysis.findings` prints the rules of the claims: the table in docs/claims.md."""

from __future__ import annotations

from analysis.findings.claims import table

if __name__ == "__main__":
    print(table(), end="")
