"""Cut spans of time into whole seconds of a trial, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from density_study.workloads.rows.arrays.arrow_tables import Array

MIN_S = 0.0005  # monitors and clients write milliseconds; a shorter overlap is a rounding error
# Spans further from the window are skipped: a clock that is years off would give billions of seconds.
AROUND_S = 86_400.0


class Pieces(NamedTuple):
    """Parts of spans within one second each. `span` is the index of the span."""

    span: Array
    second: Array
    inside_s: Array


# start and end, common to all spans or one per span; NaN for no window
Window = tuple[float, float] | tuple[Array, Array]


def by_second(since_s: Array, until_s: Array, window: Window) -> Pieces:
    """One piece per span and second that it overlaps, in the order of the spans. Seconds count from the
    window's start. Skips empty spans and spans without a window. since_s, until_s: controller's clock."""
    start_s, end_s = (np.broadcast_to(edge, since_s.shape) for edge in window)
    near = (until_s > since_s) & (until_s > start_s - AROUND_S) & (since_s < end_s + AROUND_S)
    places = np.flatnonzero(near)
    start_s, end_s = start_s[places], end_s[places]
    since = np.maximum(since_s[places] - start_s, -AROUND_S)
    until = np.minimum(until_s[places] - start_s, end_s - start_s + AROUND_S)
    first = np.floor(since).astype(np.int64)
    counts = np.floor(until).astype(np.int64) - first + 1
    # the k-th second of each span without a loop: a running index less the index of the span's first piece
    owner = np.repeat(np.arange(len(places)), counts)
    second = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + first[owner]
    inside_s = np.minimum(until[owner], second + 1) - np.maximum(since[owner], second)
    whole = inside_s >= MIN_S
    return Pieces(places[owner[whole]], second[whole], inside_s[whole])


def overlap_s(since_s: Array, until_s: Array, window: Window) -> Array:
    """Overlap of each span with the window, in seconds; never negative, NaN without a window."""
    start_s, end_s = window
    overlaps: Array = np.minimum(until_s, end_s) - np.maximum(since_s, start_s)
    return np.maximum(overlaps, 0.0)


def groups(*keys: Array) -> tuple[Array, Array]:
    """Group rows with equal `keys`: an order in which groups are contiguous, and the start of each group
    in that order. Sorts by the first key first, and is stable."""
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
    """Whether the rows are already sorted by `keys`, as in most files."""
    rising = np.ones(max(0, len(keys[0]) - 1), bool)
    for key in reversed(keys):
        rising = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & rising)
    return bool(rising.all())
