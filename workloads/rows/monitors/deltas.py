"""Per-sample deltas: interval start and CPU ticks since the previous sample in the file.

One file holds all samples of its trial and host, so the predecessors are found here, in one pass over arrays.
A Spark query would have to sort all samples each time.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from density_study.workloads.rows.arrays.arrow_tables import Array, codes, filled


def with_host_neighbours(samples: pa.Table) -> pa.Table:
    """Fill in `repeated` and `since_epoch_s` in a file's rows of `host_samples`. If dool was started twice
    with one file, a second may occur twice, and the clock may have gone back."""
    counted = (
        pc.invert(samples["since_boot"]).to_numpy() & pc.is_valid(samples["epoch_s"]).to_numpy()
    )
    places = np.flatnonzero(counted)
    times, first = np.unique(samples["epoch_s"].to_numpy()[places], return_index=True)
    used = places[first]
    repeated = counted
    repeated[used] = False
    since = _placed(used[1:], times[:-1], len(samples))
    return filled(samples, repeated=repeated, since_epoch_s=since)


def with_node_neighbours(samples: pa.Table) -> pa.Table:
    """Fill in steps and rounds in a file's rows of `node_cpu_samples`."""
    nodes, _ = codes(samples["node"])
    ticks = (samples["user_ticks"].to_numpy(), samples["system_ticks"].to_numpy())
    one_file = np.zeros(len(samples), np.intp)
    return filled(samples, **node_neighbours(one_file, nodes, samples["epoch_s"].to_numpy(), ticks))


def node_neighbours(
    files: Array, nodes: Array, epoch_s: Array, ticks: tuple[Array, Array]
) -> dict[str, pa.Array]:
    """Steps and rounds of samples, within each file ordered by time, then by line.

    files, nodes: indices; samples of a file are contiguous, in the order of lines. ticks: user and system.
    """
    order = _by_time(files, epoch_s)
    of_file, time_s = files[order], epoch_s[order]
    turns = np.ones(
        (2, len(order)), bool
    )  # where the file changes; where the file or its time does
    turns[0, 1:] = of_file[1:] != of_file[:-1]
    turns[1, 1:] = turns[0, 1:] | (time_s[1:] != time_s[:-1])
    begins, opens = order[turns[1]], turns[0][turns[1]]
    owners = files * (nodes.max(initial=0) + 1) + nodes
    before, after = consecutive(owners, order)
    known = np.empty(len(order), bool)
    # a node that first appears after the first round had no process before, so it counts from zero
    known[order] = time_s > time_s[turns[0]][np.cumsum(turns[0]) - 1]
    known[after] = True
    begun = np.zeros(len(order), bool)
    begun[begins] = True
    within = np.flatnonzero(~opens)
    return {
        "since_epoch_s": _placed(after, epoch_s[before], len(order)),
        "user_step": _rises(ticks[0], before, after, known),
        "system_step": _rises(ticks[1], before, after, known),
        "begins_round": pa.array(begun),
        "round_since_epoch_s": _placed(begins[within], epoch_s[begins[within - 1]], len(order)),
    }


def _by_time(files: Array, epoch_s: Array) -> Array:
    """Indices in the order of file, time and line. Most files are already in this order."""
    ordered = (epoch_s[1:] >= epoch_s[:-1]) | (files[1:] != files[:-1])
    return np.arange(len(epoch_s)) if ordered.all() else np.lexsort((epoch_s, files))


def consecutive(owners: Array, order: Array | None = None) -> tuple[Array, Array]:
    """Indices of every two consecutive samples, in `order`, of the same owner: the first, and the second."""
    order = np.arange(len(owners)) if order is None else order
    # numpy sorts small integers by radix
    small = owners.astype(np.min_scalar_type(int(owners.max(initial=0))))
    by_owner = order[np.argsort(small[order], kind="stable")]
    again = np.flatnonzero(owners[by_owner[1:]] == owners[by_owner[:-1]])
    return by_owner[again], by_owner[again + 1]


def _rises(ticks: Array, before: Array, after: Array, known: Array) -> pa.Array:
    risen = ticks.copy()
    risen[after] -= ticks[before]
    # ticks decrease when a process ends without being waited for; such a step counts as zero
    return pa.array(np.maximum(risen, 0), mask=~known)


def _placed(places: Array, values: Array, rows: int) -> pa.Array:
    """An array with `values` at these indices, and null elsewhere."""
    column, absent = np.zeros(rows), np.ones(rows, bool)
    column[places], absent[places] = values, False
    return pa.array(column, mask=absent)
