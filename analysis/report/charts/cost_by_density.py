"""Cost per genome by VMs per host, one line per host type and disk types (`capacity whatif -o FILE.svg`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from density_study.analysis.capacity.sizing.size import WhatIf
from density_study.analysis.report.charts.figure import vega_lite
from density_study.analysis.report.charts.palette import config
from density_study.cluster.model.plain import one_line
from density_study.cluster.state.atomic import write_text

LINES = 8  # maximum number of lines; the cheapest host types


def chart(rows: Sequence[WhatIf]) -> dict[str, Any]:
    """The cost-density curve as a Vega-Lite spec: a line per host type and disk types, with a band q05 to
    q95."""
    drawn = [
        {
            "series": one_line(f"{row.host_type}, {row.disk_types}"),
            "density": row.vms_per_host,
            "cost": row.usd_per_genome,
            "low": row.usd_per_genome_low,
            "high": row.usd_per_genome_high,
        }
        for row in rows
        if row.usd_per_genome is not None
    ]
    names = list(dict.fromkeys(str(row["series"]) for row in drawn))[:LINES]
    data = alt.Data(values=[row for row in drawn if row["series"] in names])
    colour = alt.Color("series:N", sort=names, title=None)
    x = alt.X("density:Q", title="VMs per host", axis=alt.Axis(tickMinStep=1, format="d"))
    y = alt.Y("cost:Q", title="USD per genome", scale=alt.Scale(zero=False))
    base = alt.Chart(data)
    band = base.mark_area(opacity=0.12).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    line = base.mark_line(point=True).encode(x=x, y=y, color=colour)
    # one panel, so that all host types share an axis
    layered = alt.layer(band, line).properties(width=640, height=360)
    spec: dict[str, Any] = layered.to_dict(validate=False)
    spec.pop("config", None)
    return spec


def write_chart(rows: Sequence[WhatIf], path: Path) -> None:
    """Write the chart to `path` as SVG."""
    svg = vl_convert.vegalite_to_svg(chart(rows), vl_version=vega_lite(), config=config())
    write_text(path, svg)
