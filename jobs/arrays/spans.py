"""Spans of time cut into whole seconds of a trial, as arrays. `jobs.series.seconds` does it in Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jobs.arrays.array import Array

MIN_S = 0.0005
"""Monitors and clients write milliseconds; a shorter overlap is the rounding of a double."""
AROUND_S = 86_400.0
"""Seconds further from the window are left out: a clock that is years off would have billions."""


class Pieces(NamedTuple):
    """What of a span lies in a second: `span` is its place among the spans."""

    span: Array
    second: Array
    inside_s: Array


Window = tuple[float, float] | tuple[Array, Array]
"""Start and end, of all spans or of each; NaN for none."""


def by_second(since_s: Array, until_s: Array, window: Window) -> Pieces:
    """Each span once for every second it lies in, counted from its window's start; spans in order.
    Empty ones go, and those without a window. since_s, until_s: controller's clock."""
    start_s, end_s = (np.broadcast_to(edge, since_s.shape) for edge in window)
    near = (until_s > since_s) & (until_s > start_s - AROUND_S) & (since_s < end_s + AROUND_S)
    places = np.flatnonzero(near)
    start_s, end_s = start_s[places], end_s[places]
    since = np.maximum(since_s[places] - start_s, -AROUND_S)
    until = np.minimum(until_s[places] - start_s, end_s - start_s + AROUND_S)
    first = np.floor(since).astype(np.int64)
    counts = np.floor(until).astype(np.int64) - first + 1
    owner = np.repeat(np.arange(len(places)), counts)
    second = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + first[owner]
    inside_s = np.minimum(until[owner], second + 1) - np.maximum(since[owner], second)
    whole = inside_s >= MIN_S
    return Pieces(places[owner[whole]], second[whole], inside_s[whole])


def overlap_s(since_s: Array, until_s: Array, window: Window) -> Array:
    """Seconds of each span that lie in the window; never negative, NaN without one."""
    start_s, end_s = window
    overlaps: Array = np.minimum(until_s, end_s) - np.maximum(since_s, start_s)
    return np.maximum(overlaps, 0.0)


def groups(*keys: Array) -> tuple[Array, Array]:
    """Rows that agree in all `keys`: an order in which they lie together, and where each group begins
    in it. The first key weighs most; equal rows keep their order."""
    if _ordered(keys):
        order = np.arange(len(keys[0]))
    else:
        order = np.lexsort(keys[::-1])
        keys = tuple(key[order] for key in keys)
    differs = np.zeros(len(order), bool)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[1:] != key[:-1]
    return order, np.flatnonzero(differs)


def _ordered(keys: Sequence[Array]) -> bool:
    """Whether the rows lie in the order of `keys` as they are, as those of most files do."""
    rising = np.ones(max(0, len(keys[0]) - 1), bool)
    for key in reversed(keys):
        rising = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & rising)
    return bool(rising.all())
