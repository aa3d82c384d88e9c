"""The host count of least expected regret, from draws of the hosts needed.

What is bad, and how bad: a host too few, 1; more in excess than one host or a tenth, the share of the
former that the accuracy goals give it (too few in 2 % of cases, so much in excess in 10 %); and every
host in excess a little, so that what is cheap to avoid is avoided. Where draws agree on a count or its
neighbour the larger one is safe at the price of a host; where they are wide apart the first two are
weighed. Never fewer than carry the load in nine draws of ten.
"""

from __future__ import annotations

import numpy as np

from analysis.capacity.inputs.array import Floats

SURE = 0.9
EXCESS_ALLOWED = 0.1
TOO_MUCH = 0.02 / 0.10
A_HOST = 0.03


def least_regret(need: Floats) -> int | None:
    """A whole number of hosts. need (draws,): infinite where no count is enough; None if that is so in
    more than one draw of ten."""
    least = float(np.quantile(need, SURE, method="higher"))
    if not np.isfinite(least):
        return None
    finite = np.sort(need[np.isfinite(need)])
    tried = np.unique(finite[finite >= least])
    return int(tried[int(np.argmin(_regret(finite, tried, len(need))))])


def _regret(need: Floats, hosts: Floats, draws: int) -> Floats:
    """Expected regret of each count in hosts (k,). need: ascending, without the infinite of the draws."""
    carried = np.searchsorted(need, hosts, side="right")
    allowed = np.minimum(hosts - 1.0, hosts / (1.0 + EXCESS_ALLOWED))
    too_much = np.searchsorted(need, allowed, side="left")
    excess = hosts * carried - np.append(0.0, np.cumsum(need))[carried]
    result: Floats = (draws - carried + TOO_MUCH * too_much + A_HOST * excess) / draws
    return result
