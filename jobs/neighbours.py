"""What a sample owes to the one before it in its file: since when it counts, what was spent since.

One file holds all samples of its trial and host, so its neighbours are found here, in one pass over
arrays. In a query they took a sort of all samples, each time one was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.byte_lines import Array


def with_host_neighbours(samples: pa.Table) -> pa.Table:
    """`host_samples` of a file with `repeated` and `since_epoch_s` filled in. A dool that was started
    twice into one file may tell a second twice, and its clock may go back between."""
    counted = (
        pc.invert(samples["since_boot"]).to_numpy() & pc.is_valid(samples["epoch_s"]).to_numpy()
    )
    places = np.flatnonzero(counted)
    times, first = np.unique(samples["epoch_s"].to_numpy()[places], return_index=True)
    used = places[first]
    repeated = counted
    repeated[used] = False
    return _filled(
        samples,
        {
            "repeated": pa.array(repeated),
            "since_epoch_s": _placed(used[1:], times[:-1], len(samples)),
        },
    )


def with_node_neighbours(samples: pa.Table) -> pa.Table:
    """`node_cpu_samples` of a file with its steps and its rounds filled in, in the order of time and
    line.

    A node that first shows up after the first round had no process before: it counts from zero.
    Ticks fall when a process has gone whose parent did not wait for it: such a step counts as none.
    """
    epoch_s = samples["epoch_s"].to_numpy()
    order = np.lexsort((samples["line"].to_numpy(), epoch_s))
    begins = order[np.flatnonzero(np.diff(epoch_s[order], prepend=-np.inf))]
    nodes = samples["node"].combine_chunks().dictionary_encode().indices.to_numpy()
    by_node = order[np.argsort(nodes[order], kind="stable")]
    again = np.flatnonzero(nodes[by_node[1:]] == nodes[by_node[:-1]])
    before, after = by_node[again], by_node[again + 1]
    known = epoch_s > epoch_s.min(initial=np.inf)
    known[after] = True
    return _filled(
        samples,
        {
            "since_epoch_s": _placed(after, epoch_s[before], len(samples)),
            "user_step": _rises(samples["user_ticks"].to_numpy(), before, after, known),
            "system_step": _rises(samples["system_ticks"].to_numpy(), before, after, known),
            "begins_round": pa.array(np.isin(np.arange(len(samples)), begins)),
            "round_since_epoch_s": _placed(begins[1:], epoch_s[begins[:-1]], len(samples)),
        },
    )


def _rises(ticks: Array, before: Array, after: Array, known: Array) -> pa.Array:
    risen = ticks.copy()
    risen[after] -= ticks[before]
    return pa.array(np.maximum(risen, 0), mask=~known)


def _placed(places: Array, values: Array, rows: int) -> pa.Array:
    """`values` at their places, null elsewhere."""
    column, absent = np.zeros(rows), np.ones(rows, bool)
    column[places], absent[places] = values, False
    return pa.array(column, mask=absent)


def _filled(samples: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    for name, values in columns.items():
        place = samples.schema.get_field_index(name)
        samples = samples.set_column(place, samples.schema.field(place), values)
    return samples
