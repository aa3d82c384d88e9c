"""`python -m analysis.findings` prints the claims' rules as the table of docs/claims.md."""

from __future__ import annotations

from analysis.findings.claim_rules import table

if __name__ == "__main__":
    print(table(), end="")
