"""Shares of operations in an output, and in the mixes of this program."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.workloads.ycsb.mixes import MIXES, MixFacts

MIX_TOLERANCE = 0.02
_OPERATIONS = {
    "read": "READ", "update": "UPDATE", "insert": "INSERT", "scan": "SCAN",
    "readmodifywrite": "READ-MODIFY-WRITE",
}  # fmt: skip


def shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Share of each operation, of counts as `user_operations` returns them."""
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items() if count > 0} if total > 0 else {}


def in_words(found: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.0%}" for name, share in found.items() if share > 0)


def shares_of_mix(facts: MixFacts) -> dict[str, float]:
    """The share of each operation in a mix, by the operation's name in YCSB's output."""
    return {operation: facts.shares[key] for key, operation in _OPERATIONS.items()}


def are_alike(
    mix: Mapping[str, float], found: Mapping[str, float], tolerance: float = MIX_TOLERANCE
) -> bool:
    return all(abs(share - found.get(name, 0.0)) <= tolerance for name, share in mix.items())


def alike_mixes(found: Mapping[str, float]) -> list[str]:
    """Names of the mixes that an output with these shares resembles."""
    return [name for name, facts in MIXES.items() if are_alike(shares_of_mix(facts), found)]
