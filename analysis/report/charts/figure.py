"""`Figure`: panels that answer one question together, with their legend and their data as a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import altair
import vl_convert

from analysis.report.charts.observations import Of, Row
from analysis.report.charts.palette import Style, config

DATA = "rows"
"""The name of the one data set of every panel: what a page's `view.data("rows")` returns."""
STATIC_WIDTH_PX = 320
Layout = Literal["one", "twos", "threes", "fours"]
"""How many panels stand abreast where the window is wide; fewer where it is not."""
_ARIA = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
"""The panel is one picture with one description: Vega's hundred small ones only fill the page."""


@dataclass(frozen=True)
class Panel:
    """One Vega-Lite view. `description` is what a screen reader says in its place."""

    id: str
    title: str
    subtitle: str
    description: str
    height_px: int
    spec: dict[str, Any]
    static_width_px: int = STATIC_WIDTH_PX

    @property
    def rows(self) -> list[Row]:
        drawn: list[Row] = self.spec["datasets"][DATA]
        return drawn

    @property
    def svg(self) -> str:
        """The panel drawn now: seen before any script runs, without scripts, and in print."""
        fixed = {**self.spec, "width": self.static_width_px}
        drawn: str = vl_convert.vegalite_to_svg(fixed, vl_version=vega_lite(), config=config())
        return _ARIA.sub("", drawn)


@dataclass(frozen=True)
class LegendEntry:
    label: str
    style: Style
    hollow: bool = False


@dataclass(frozen=True)
class Column:
    """Cells of a `numeric` column are right-aligned and carry their unit."""

    header: str
    numeric: bool = False


@dataclass(frozen=True)
class DataTable:
    """`of`: for each row the setting, density and medium it is of, and `claims` its
    finding's verdict: what the page's filters choose by."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    of: tuple[Of, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """`notes` are said under the figure: what is not drawn, and why."""

    id: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    table: DataTable
    legend: tuple[LegendEntry, ...] = ()
    notes: tuple[str, ...] = ()
    layout: Layout = "threes"


@cache
def vega_lite() -> str:
    """The Vega-Lite version (6.4) that Altair writes for; vl-convert must carry the same."""
    major, minor = altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2]
    return f"{major}.{minor}"


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one script that defines `vegaEmbed`; about 0.9 MB."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vega_lite())
    return bundle


def finished(chart: Any, rows: list[Row], height_px: int) -> dict[str, Any]:
    """An Altair chart (data: named `DATA`) as a spec that fills its container's width.

    The height includes axes, so that the page can keep the room free before anything is drawn.
    Not validated here, which would take longer than all the rest: the shape of a spec does not
    depend on its data, and a test holds each shape against Vega-Lite's schema.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)  # Altair's theme; ours is `palette.config`, once a page
    spec |= {"width": "container", "height": height_px, "datasets": {DATA: rows}}
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    return spec


def colour_scale(styles: dict[str, Style]) -> Any:
    return altair.Scale(domain=list(styles), range=[style.colour for style in styles.values()])


def shape_scale(styles: dict[str, Style]) -> Any:
    return altair.Scale(domain=list(styles), range=[style.shape for style in styles.values()])
