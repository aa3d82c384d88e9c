"""What if: cost and hosts for every host type, density and medium.

Turnaround is not simulated here: rows are checked against rates, memory, disks and the query SLO.
"""

from __future__ import annotations

import numpy as np

from analysis.capacity.curves.model import Model
from analysis.capacity.inputs.catalogue import Catalogue
from analysis.capacity.inputs.profile import Profile
from analysis.capacity.inputs.question import Question
from analysis.capacity.inputs.ranged import quantiles
from analysis.capacity.plan.plan import Quantiles
from analysis.capacity.sizing.candidate import Candidate
from analysis.capacity.sizing.candidates import Search
from analysis.capacity.sizing.size import ranking
from workloads.base.values import Frozen


class WhatIf(Frozen):
    """One host type, density and medium (sequential + random). hosts None: no count is enough."""

    host_type: str
    vms_per_host: int
    media: str
    hosts: int | None
    hosts_needed: Quantiles
    usd_per_genome: float | None
    usd_per_genome_low: float | None
    usd_per_genome_high: float | None
    bottleneck: str


def whatif(
    question: Question, model: Model, profile: Profile, catalogue: Catalogue
) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """(rows, cheapest first; why other combinations were excluded)."""
    search = Search.of(question, model, profile, catalogue)
    rows = tuple(_row(one, hosts) for one, hosts in ranking(search))
    return rows, tuple(text for text, _ in search.refused.most_common())


def _row(one: Candidate, hosts: int | None) -> WhatIf:
    need = quantiles(one.need)
    most = max(
        one.needs, key=lambda name: float(np.median(np.nan_to_num(one.needs[name], posinf=1e12)))
    )
    media = dict.fromkeys((one.medium_sequential, one.medium_random))
    return WhatIf(
        host_type=one.host.name,
        vms_per_host=one.vms_per_host,
        media=" + ".join(media),
        hosts=hosts,
        hosts_needed=need,
        usd_per_genome=None if hosts is None else one.usd_per_genome(hosts),
        usd_per_genome_low=None if hosts is None else one.usd_per_genome(round(need.q05)),
        usd_per_genome_high=None if hosts is None else one.usd_per_genome(round(need.q95)),
        bottleneck=most,
    )
