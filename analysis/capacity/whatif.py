"""What if: cost and hosts of every host type, density and medium, and the cost-density curve as a chart.

No turnaround is simulated here: rows are held against rates, memory, disks and the query promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert
from pydantic import BaseModel, ConfigDict

from analysis.capacity.candidate import Candidate
from analysis.capacity.candidates import Search
from analysis.capacity.catalogue import Catalogue
from analysis.capacity.demand import Demand
from analysis.capacity.model import Model
from analysis.capacity.profile import Profile
from analysis.capacity.quantiles import Quantiles
from analysis.capacity.question import Question
from analysis.capacity.ranged import quantiles
from analysis.capacity.size import densities, ranking
from analysis.capacity.supply import Market
from analysis.report.figure import vega_lite
from analysis.report.palette import config

LINES = 8
"""Host types drawn; the cheapest ones."""


class WhatIf(BaseModel):
    """One host type, density and medium (sequential + random). hosts None: nothing is enough."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """(rows, cheapest first; why the rest are not there)."""
    market = Market.of(model, profile, question)
    search = Search(market, Demand.of(profile, question), catalogue, densities(model))
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


def chart(rows: Sequence[WhatIf]) -> dict[str, Any]:
    """The cost-density curve as a Vega-Lite spec: a line a host type and media, its band q05 to q95."""
    drawn = [_drawn(row) for row in rows if row.usd_per_genome is not None]
    names = list(dict.fromkeys(str(row["series"]) for row in drawn))[:LINES]
    data = alt.Data(values=[row for row in drawn if row["series"] in names])
    colour = alt.Color("series:N", sort=names, title=None)
    x = alt.X("density:Q", title="VMs per host", axis=alt.Axis(tickMinStep=1, format="d"))
    y = alt.Y("cost:Q", title="USD per genome", scale=alt.Scale(zero=False))
    base = alt.Chart(data)
    band = base.mark_area(opacity=0.12).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    line = base.mark_line(point=True).encode(x=x, y=y, color=colour)
    # One figure for cost, so that host types are compared on one axis.
    layered = alt.layer(band, line).properties(width=640, height=360)
    spec: dict[str, Any] = layered.to_dict(validate=False)
    spec.pop("config", None)
    return spec


def _drawn(row: WhatIf) -> dict[str, object]:
    return {
        "series": f"{row.host_type}, {row.media}",
        "density": row.vms_per_host,
        "cost": row.usd_per_genome,
        "low": row.usd_per_genome_low,
        "high": row.usd_per_genome_high,
    }


def write_chart(rows: Sequence[WhatIf], path: Path) -> None:
    """An SVG file."""
    svg = vl_convert.vegalite_to_svg(chart(rows), vl_version=vega_lite(), config=config())
    path.write_text(svg, encoding="utf-8")
