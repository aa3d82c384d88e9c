"""`Figure`: panels that answer one question together, with their legend and their data as a table."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert
from altair.utils.schemapi import disable_debug_mode

from density_study.analysis.report.charts.observations import Of, Row
from density_study.analysis.report.charts.palette import INK, Style, config
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.state.atomic import write_text

# Altair would validate each part of a chart when it is made; `finished` says why nothing is validated here.
disable_debug_mode()
DATA = "rows"  # name of the data set of every panel
PanelKey = tuple[str, str, str]  # id, title and subtitle of a panel
# Panels per line in a wide window; fewer in a narrow one.
Layout = Literal["twos", "threes", "fours"]
# Title and caption of each figure, by its id.
TEXTS = tomllib.loads(Path(__file__).with_name("figures.toml").read_text("utf-8"))
TICKS = 4  # of a vertical axis, at about
LOG = ", logarithmic"
# Drawn widths, by panels per line. A phone shows a panel 358 px wide: one drawn wider than 430 px would have
# texts of less than 9 px there.
WIDTHS_PX: dict[Layout, int] = {"twos": 430, "threes": 360, "fours": 270}
# A panel is one picture with one description; Vega's descriptions of each mark only add size.
_ARIA = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
# A drawn mark. Vega writes its row's number, from the `description` channel, into aria-label.
_MARK = re.compile(r'<(path|line) aria-label="(\d+)"([^>]*)/>')
_MARKS = re.compile(r'(?:<(?:path|line) aria-label="\d+"[^>]*/>)+')
_PLACE = re.compile(r' transform="translate\(([^,]+),([^)]+)\)"')
# The units of a value that are elements of their own at most: nobody points at one of more.
MOST_APART = 40


@dataclass(frozen=True)
class Panel:
    """One Vega-Lite view. A screen reader reads `description` instead of the drawing."""

    id: str
    title: str
    subtitle: str
    description: str
    spec: dict[str, Any]
    width_px: int

    @property
    def rows(self) -> list[Row]:
        drawn: list[Row] = self.spec["datasets"][DATA]
        return drawn

    @property
    def svg(self) -> str:
        """The drawing. Each mark names its datum in summary.json, its filters and its tooltip."""
        fixed = {**self.spec, "width": self.width_px}
        drawn: str = vl_convert.vegalite_to_svg(fixed, vl_version=vega_lite(), config=config(True))
        return _ARIA.sub("", _MARKS.sub(self._marks, drawn))

    def _marks(self, found: re.Match[str]) -> str:
        alike = (list(same) for _, same in groupby(_MARK.finditer(found[0]), self._unit))
        return "".join(
            self._cloud(same) if len(same) > MOST_APART else "".join(map(self._mark, same))
            for same in alike
        )

    def _unit(self, mark: re.Match[str]) -> tuple[str, str]:
        """Equal for units of one value that look alike; other marks are alone."""
        value, points, _ = self.rows[int(mark[2])]["ref"].rpartition("/points/")
        return value + points or mark[2], _PLACE.sub("", mark[3])

    def _mark(self, mark: re.Match[str]) -> str:
        row = self.rows[int(mark[2])]
        data = _data(row, row["ref"])
        return f"<{mark[1]}{data}{mark[3]}><title>{escape(row['tip'])}</title></{mark[1]}>"

    def _cloud(self, marks: Sequence[re.Match[str]]) -> str:
        """Marks at the corners of one path, in the order of the units: each looks as it would alone, and
        costs 12 bytes instead of 400. The path has their place in common, and names the lowest and the
        highest."""
        rows = [self.rows[int(mark[2])] for mark in marks]
        units = rows[0]["ref"].rpartition("/")[0]
        digest = hashlib.sha256(self.id.encode("utf-8", "replace")).hexdigest()
        id_ = f"mark-{digest[:12]}-{marks[0][2]}"
        corners = (place.groups() for mark in marks if (place := _PLACE.search(mark[3])))
        line = "L".join(f"{float(x):.2f},{float(y):.2f}" for x, y in corners)
        ends = (pick(rows, key=lambda row: row["value"])["tip"] for pick in (min, max))
        (where, _, low), (_, _, high) = (tip.rpartition(": ") for tip in ends)
        return (
            f'<marker id="{id_}" markerUnits="userSpaceOnUse" overflow="visible">'
            f"<path{_PLACE.sub('', marks[0][3])}/></marker>"
            f'<path{_data(rows[0], units)} d="M{line}" style="marker:url(#{id_})" '
            'stroke="transparent" stroke-width="6" pointer-events="stroke">'
            f"<title>{escape(f'{where}: {len(rows)} values, {low} to {high}')}</title></path>"
        )


def _data(row: Row, ref: str) -> str:
    """Attributes of a mark: the place of its datum in summary.json, and what filters go by."""
    values = {"ref": ref}
    if "of" in row:
        values |= dict(zip(("test_case", "density", "disk_type"), row["of"], strict=True))
    return "".join(f' data-{name}="{escape(value)}"' for name, value in values.items())


def start_renderer() -> None:
    """Draw an empty chart: the first one starts the renderer, which takes half a second."""
    empty = {"data": {"values": []}, "mark": "point"}
    vl_convert.vegalite_to_svg(empty, vl_version=vega_lite())


_SEPARATORS = str.maketrans("\u2028\u2029", "  ")


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


def columns(headers: str) -> tuple[Column, ...]:
    """The columns of 'Build | Probe # | Result'; a # marks a numeric one."""
    return tuple(Column(one.removesuffix(" #"), one.endswith(" #")) for one in headers.split(" | "))


@dataclass(frozen=True)
class DataTable:
    """For the page's filters, `of` has each row's test case, density and disk type, and `claims` its
    finding's verdict."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    of: tuple[Of, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """`notes` stand under the figure: how to read it, what is not drawn, and why."""

    id: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    table: DataTable
    legend: tuple[LegendEntry, ...]
    notes: tuple[str, ...] = ()
    layout: Layout = "threes"


def titled(id_: str, **values: object) -> dict[str, Any]:
    """Id, title and caption of a figure, from figures.toml, with `values` filled in."""
    texts = TEXTS[id_]
    return {"id": id_} | {part: texts[part].format(**values) for part in ("title", "caption")}


def legend(entries: dict[str, Style]) -> tuple[LegendEntry, ...]:
    return tuple(LegendEntry(label, style) for label, style in entries.items())


@cache
def vega_lite() -> str:
    """The Vega-Lite version (6.4) that Altair writes for; vl-convert must carry the same."""
    major, minor = alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2]
    return f"{major}.{minor}"


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one script that defines `vegaEmbed`; about 0.9 MB.

    Kept in the cache: making it takes as long as drawing a report.
    """
    kept = cache_root() / f"vega-{vega_lite()}-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return kept.read_text(encoding="utf-8")
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vega_lite())
    with suppress(OSError):
        write_text(kept, bundle)
    return bundle


def finished(chart: Any, rows: Sequence[Row], height_px: int) -> dict[str, Any]:
    """An Altair chart (data: named `DATA`) as a spec of this height, axes included.

    Not validated here, which would take longer than everything else: the shape of a spec does not
    depend on its data, and a test checks each shape against Vega-Lite's schema.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)  # Altair's theme; `palette.config` replaces it
    numbered = [{**row, "mark": str(number)} for number, row in enumerate(rows)]
    spec |= {"width": "container", "height": height_px, "datasets": {DATA: numbered}}
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    drawable: dict[str, Any] = _without_separators(spec)
    return drawable


def _without_separators(value: Any) -> Any:
    """Names of series stand in expressions of Vega, which accept no separator of lines or paragraphs."""
    if isinstance(value, dict):
        return {key: _without_separators(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_separators(one) for one in value]
    return value.translate(_SEPARATORS) if isinstance(value, str) else value


def panel(
    key: PanelKey, what: str, chart: Any, rows: Sequence[Row], height_px: int, width_px: int
) -> Panel:
    """A chart drawn with these rows, and described by `what` and their values."""
    values = [str(row["tip"]) for row in rows if row["part"] == "value" or len(rows) <= 12]
    values = values or [str(row["tip"]) for row in rows]  # single builds have no mean
    # every value in words, unless there are too many to listen to
    description = f"{what}. {'; '.join(values[:24]) or 'Nothing to draw'}."
    return Panel(*key, description, finished(chart, rows, height_px), width_px)


def mark() -> alt.Description:
    """The channel by which a drawn mark finds its row: see `Panel.svg`."""
    return alt.Description("mark:N")


def colour_scale(styles: dict[str, Style]) -> Any:
    return alt.Scale(domain=list(styles), range=[style.colour for style in styles.values()])


def shape_scale(styles: dict[str, Style]) -> Any:
    return alt.Scale(domain=list(styles), range=[style.shape for style in styles.values()])


def series_look(styles: dict[str, Style]) -> dict[str, Any]:
    """The colour and shape of each series, as channels."""
    return {
        "color": alt.Color("series:N", scale=colour_scale(styles), legend=None),
        "shape": alt.Shape("series:N", scale=shape_scale(styles), legend=None),
    }


def vertical(unit: str, domain: tuple[float, float] | None = None) -> Any:
    """The y channel of field `value`: from zero, with the unit above the axis instead of along it."""
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=True, nice=TICKS)
    return alt.Y("value:Q", scale=scale, axis=above(unit, tickCount=TICKS))


def vertical_log(unit: str, values: Sequence[float]) -> Any:
    """The y channel on a logarithmic scale that ends at round numbers around `values` (> 0), and says so."""
    ticks = log_ticks(min(values), max(values))
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    axis = above(f"{unit}{LOG}", values=ticks, format="~r")
    return alt.Y("value:Q", scale=scale, axis=axis)


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers around both: 1, 2 and 5 times powers of ten, or only the powers if that is too many.

    The first is at most `low`, the last at least `high`, and there are at least two.
    """
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    for steps in ((1.0, 2.0, 5.0), (1.0,)):
        ticks = [round(step * 10.0**decade, 12) for decade in decades for step in steps]
        below = max(index for index, tick in enumerate(ticks) if tick <= low)
        above = min(index for index, tick in enumerate(ticks) if tick >= high and index > below)
        if above - below <= TICKS + 1:
            break
    return ticks[below : above + 1]


def above(title: str, **ticks: Any) -> Any:
    """A vertical axis whose title stands above it instead of along it."""
    return alt.Axis(
        title=title,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleBaseline="bottom",
        titleX=-30,
        titleY=-9,
        titleColor=INK,
        labelOverlap=True,
        **ticks,
    )
