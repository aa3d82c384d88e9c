"""CPU by density: the hosts' time stacked by kind, and used CPU of nodes and client apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from analysis.report.charts.axis import vertical
from analysis.report.charts.datatable import observation_table
from analysis.report.charts.density import Axes, densities, describe, panel, rows_of
from analysis.report.charts.figure import DATA, Figure, Layout, Panel, colour_scale, finished
from analysis.report.charts.legend import arm_styles, legend, point_notes
from analysis.report.charts.observations import Names, Observation, Row, observations, value_row
from analysis.report.charts.palette import CPU, PAPER, SERIES, Style
from analysis.report.charts.quantity import quantity
from analysis.report.charts.undrawn import settings_without_trials, uncomputed
from analysis.summary.summary import Metric, Summary

KINDS = tuple(f"cpu_{kind}" for kind in CPU)
ROLES = {
    "host": Style("var(--ink, #1b1f24)", "diamond"),
    "host-less-client": SERIES[3],
    "cluster": SERIES[2],
    "node": SERIES[0],
    "client": SERIES[1],
    "monitor": SERIES[5],
}
"""Scopes of used CPU as summary.json names them (before the colon), in the order drawn."""
IN_WORDS = {
    "host-less-client": "host without client and monitors",
    "cluster": "all nodes together",
    "monitor": "monitors",
}
HEIGHT_PX = 208


def figures(summary: Summary, names: Names) -> Iterator[Figure]:
    """The stacked figure and the used one; each only where its numbers exist."""
    yield from _stacked(summary, names)
    yield from _used(summary, names)


def _stacked(summary: Summary, names: Names) -> Iterator[Figure]:
    seen = [one for one in observations(summary, KINDS) if _role(one.metric) == "host"]
    panels = tuple(_stacks(summary, names, seen))
    if not panels:
        return
    yield Figure(
        id="cpu-host",
        title="Host CPU",
        caption="Where the host's cores spent their time, by density, in percent of all its cores. "
        "Used is neither idle nor waiting for disks (iowait) nor taken by the hypervisor (steal); "
        "what a column lacks to 100 % went to interrupts.",
        panels=panels,
        legend=legend(CPU),
        layout=_layout(summary, names),
        table=observation_table(seen, names, "CPU time", _kind_and_scope),
        notes=(
            *settings_without_trials(summary, names, {"ycsb", "testdfsio"}),
            *uncomputed(summary, KINDS, "share"),
        ),
    )


def _stacks(summary: Summary, names: Names, seen: list[Observation]) -> Iterator[Panel]:
    places = densities(summary, names)
    for same in _by_panel(seen, names, by_scope=True):
        rows = list(_stack_rows(same, names))
        if rows:
            yield _stack(_panel_id("stack", same), same, rows, places, names)


def _stack_rows(same: Sequence[Observation], names: Names) -> Iterator[Row]:
    for one in same:
        kind = one.metric.name.removeprefix("cpu_")
        density = one.setting.vms_per_host
        shared: Row = {
            "density": names.density(density),
            "kind": kind,
            "stack": list(CPU).index(kind),
        }
        row = value_row(one, shared)
        if row is not None:
            words = f"{names.density_in_words(density)}, {kind}"
            yield {**row, "tip": f"{words}: {quantity(row['value'], 'percent')}"}


def _stack(
    id_: str, same: Sequence[Observation], rows: list[Row], places: Sequence[str], names: Names
) -> Panel:
    title, subtitle = same[0].setting.label, f"{names.arm(same[0].setting)}, {same[0].metric.scope}"
    bands = alt.Scale(domain=list(places), paddingInner=0.3, paddingOuter=0.2)
    chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_bar(stroke=PAPER, strokeWidth=0.75)
        .encode(
            x=alt.X("density:O", sort=None, title=names.axis, scale=bands),
            y=vertical("% of the host's cores", domain=(0.0, 100.0)),
            fill=alt.Fill("kind:N", scale=colour_scale(CPU), legend=None),
            order=alt.Order("stack:Q"),
            tooltip=alt.Tooltip("tip:N"),
        )
    )
    said = describe(f"Host CPU time by kind, {title}, {subtitle}, by {names.axis}", rows)
    return Panel(id_, title, subtitle, said, HEIGHT_PX, finished(chart, rows, HEIGHT_PX))


def _used(summary: Summary, names: Names) -> Iterator[Figure]:
    seen = list(observations(summary, {"cpu_used"}))
    panels = tuple(_used_panels(summary, names, seen))
    if not panels:
        return
    yield Figure(
        id="cpu-used",
        title="Used CPU by host, node and client",
        caption="The client's CPU is not the cluster's: it is drawn apart. In percent of the cores "
        "of the host, or of the machine that the node or the client runs on.",
        panels=panels,
        legend=legend({IN_WORDS.get(role, role): style for role, style in _shown(seen).items()}),
        layout=_layout(summary, names),
        table=observation_table(seen, names, "Used CPU of", lambda metric: str(metric.scope)),
        notes=(*point_notes(summary), *uncomputed(summary, {"cpu_used"}, "used CPU value")),
    )


def _layout(summary: Summary, names: Names) -> Layout:
    """Two arms: four panels abreast, so that both panels of a setting stand side by side."""
    return "fours" if len(arm_styles(summary, names)) == 2 else "threes"


def _shown(seen: Sequence[Observation]) -> dict[str, Style]:
    """The roles this run has numbers of: others need no place and no legend."""
    present = {_role(one.metric) for one in seen}
    return {role: style for role, style in ROLES.items() if role in present}


def _used_panels(summary: Summary, names: Names, seen: list[Observation]) -> Iterator[Panel]:
    axes = Axes(densities(summary, names), names.axis, "% used", _shown(seen), height_px=HEIGHT_PX)
    for same in _by_panel(seen, names, by_scope=False):
        rows = [row for one in same for row in _used_rows(one, names)]
        if rows:
            title, subtitle = same[0].setting.label, names.arm(same[0].setting)
            yield panel(_panel_id("used", same), title, subtitle, rows, axes)


def _used_rows(one: Observation, names: Names) -> Iterator[Row]:
    for row in rows_of(one, names, _role(one.metric)):
        yield {**row, "tip": f"{one.metric.scope}, {row['tip']}"}


def _by_panel(
    seen: Sequence[Observation], names: Names, by_scope: bool
) -> Iterator[list[Observation]]:
    """Observations of one panel: one setting on one arm, by density (and of one host, if asked)."""
    groups: dict[tuple[str, str, str | None], list[Observation]] = {}
    for one in sorted(seen, key=lambda one: names.arm(one.setting)):
        scope = one.metric.scope if by_scope else None
        key = (one.setting.setting, names.arm(one.setting), scope)
        groups.setdefault(key, []).append(one)
    order = list(dict.fromkeys(one.setting.setting for one in seen))
    for key in sorted(groups, key=lambda key: order.index(key[0])):
        yield groups[key]


def _panel_id(prefix: str, same: Sequence[Observation]) -> str:
    one = same[0]
    return f"{prefix}-{one.setting.setting}-{one.setting.topology}-{one.metric.scope}"


def _role(metric: Metric) -> str:
    scope = (metric.scope or "").partition(":")[0]
    return scope if scope in ROLES else "node"


def _kind_and_scope(metric: Metric) -> str:
    return f"{metric.name.removeprefix('cpu_')}, {metric.scope}"
