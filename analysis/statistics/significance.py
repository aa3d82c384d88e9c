"""Holm's adjustment of p values."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """The adjusted p of each, in the given order; significant at 5 % if at most 0.05. With no true effect,
    at most 5 % of families contain a claim."""
    # S. Holm, Scandinavian J. Statistics 6 (1979): never weaker than Bonferroni, whatever the dependence.
    # p(i) adjusted = max over j <= i of min(1, (m - j + 1) * p(j)), with p sorted ascending
    adjusted = [1.0] * len(ps)
    so_far = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        so_far = max(so_far, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = so_far
    return tuple(adjusted)
