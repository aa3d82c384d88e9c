"""The claims of the talk and the rules that decide them, as they were fixed before any data."""

from __future__ import annotations

from density_study.analysis.findings.claims import CLAIMS
from tests.golden.conftest import Compare


def test_claims(golden: Compare) -> None:
    rows = [f"| {claim.id} | {claim.statement} | {claim.rule} |\n" for claim in CLAIMS]
    golden("claims", {"claims.txt": "".join(rows)})
