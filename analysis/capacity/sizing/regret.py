"""The host count of least expected regret, from draws of the hosts needed.

Bayes decision with a piecewise loss (Savage 1951; Raiffa and Schlaifer 1961). The loss of a count h in a
draw that needs n hosts:

    n > h                          1 (too few hosts)
    h - n > max(1 host, 10 %)      TOO_MUCH + A_HOST * (h - n)
    otherwise                      A_HOST * (h - n)

TOO_MUCH is the ratio of the accuracy goals: too few in 2 % of cases against far too many in 10 %. A_HOST
avoids excess that is cheap to avoid. The count carries the load in at least nine of ten draws.
"""

from __future__ import annotations

import numpy as np

from analysis.capacity.inputs.array import Floats

SURE = 0.9
EXCESS_ALLOWED = 0.1
TOO_MUCH = 0.02 / 0.10
A_HOST = 0.03


def least_regret(need: Floats) -> int | None:
    """A number of hosts. need (draws,): infinite if no count is enough; None if more than one draw in
    ten is infinite."""
    least = float(np.quantile(need, SURE, method="higher"))
    if not np.isfinite(least):
        return None
    finite = np.sort(need[np.isfinite(need)])
    tried = np.unique(finite[finite >= least])
    return int(tried[int(np.argmin(_regret(finite, tried, len(need))))])


def _regret(need: Floats, hosts: Floats, draws: int) -> Floats:
    """Expected loss of each count in hosts (k,). need: ascending, without the infinite draws."""
    carried = np.searchsorted(need, hosts, side="right")
    allowed = np.minimum(hosts - 1.0, hosts / (1.0 + EXCESS_ALLOWED))
    too_much = np.searchsorted(need, allowed, side="left")
    excess = hosts * carried - np.append(0.0, np.cumsum(need))[carried]
    result: Floats = (draws - carried + TOO_MUCH * too_much + A_HOST * excess) / draws
    return result
