"""What a manifest says about the network of its build, and the verdict that follows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from density_study.analysis.validity.judge import judge
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.raw.manifest_rows import network_row

RATE = {
    "what": "rate",
    "declared": 100.0,
    "measured": 99.0,
    "unit": "Mbit/s",
    "holds": True,
    "why": "",
}
SLOW = {**RATE, "measured": 80.0, "holds": False}
SILENT = {**RATE, "measured": None, "holds": None, "why": "w1 to w2: no answer"}
STEERED = {**RATE, "what": "steered", "unit": "percent"}
PLAIN = {**RATE, "declared": None}


def row(*proofs: dict[str, Any], level: str | None = "rate-100mbit") -> dict[str, Any]:
    topology = SimpleNamespace(levels={} if level is None else {"network": level})
    disclosure = {"network": {"measured": list(proofs)}} if level else {}
    return network_row(Manifest.model_construct(topology=topology, disclosure=disclosure))


@pytest.mark.parametrize(
    ("proofs", "broken", "verdict"),
    [
        ((RATE, STEERED), 0, "valid"),
        ((PLAIN,), 0, "valid"),
        ((SLOW, STEERED), 1, "invalid"),
        ((SLOW, SILENT), 1, "invalid"),  # whatever the other one is, this one is wrong
        ((RATE, SILENT), None, "unknown"),
        ((), None, "unknown"),
    ],
)
def test_a_wrong_network_is_invalid_and_a_silent_one_unknown(
    proofs: tuple[dict[str, Any], ...], broken: int | None, verdict: str
) -> None:
    found = row(*proofs)
    assert found["network_broken"] == broken
    assert judge({**found, "has_network": True}).verdict == verdict


def test_the_reason_says_what_was_measured() -> None:
    (reason,) = judge({**row(SLOW, STEERED), "has_network": True}).reasons
    assert reason == (
        "wrong network: the variant has rate-100mbit, and its nodes measured rate 80 Mbit/s, 100 declared"
    )
    assert row(SILENT)["network_seen"] == "rate w1 to w2: no answer, 100 declared"


def test_without_the_factor_nothing_is_asked() -> None:
    found = row(level=None)
    assert found == {"network": None, "network_broken": None, "network_seen": None}
    assert judge({**found, "has_network": False}).verdict == "valid"
