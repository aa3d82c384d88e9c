"""Holm's step-down adjustment: at most 5 % of families with no effect hold any claim."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """The adjusted p of each, in the order given: claimed at 5 % if it is at most 0.05."""
    adjusted = [1.0] * len(ps)
    so_far = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        so_far = max(so_far, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = so_far
    return tuple(adjusted)
