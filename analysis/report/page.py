"""`render` and `write`: a `Summary` as one HTML file that needs no network and no server.

Charts are there twice: drawn now as SVG, seen at once, without scripts and in print; and as specs
that the page's own copy of Vega draws again over them, with tooltips.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.report import trials, validity
from analysis.report.charts import (
    cpu,
    effects,
    findings_table,
    inside,
    latency,
    seconds,
    steadiness,
    throughput,
)
from analysis.report.charts.datatable import other_table
from analysis.report.charts.figure import DATA, Figure, vega_bundle
from analysis.report.charts.observations import Names, names
from analysis.report.charts.palette import CPU, config
from analysis.report.charts.quantity import duration, ratio
from analysis.report.charts.talk import talk_charts
from analysis.report.choices import choices
from analysis.report.disclosure import entries
from analysis.report.glossary import TERMS
from analysis.report.matrix import matrix
from analysis.report.notes import badges, notes
from analysis.report.planning import planning
from analysis.summary.summary import Summary
from cluster.state import atomic

_HERE = Path(__file__).parent
SCRIPTS = ("inside.js", "filters.js", "report.js")
"""OwnedResources, in the order they run; Vega's bundle goes before them."""
LONG_JSON = 300_000
"""Characters from which on JSON is packed, so that a long study's page stays small."""


def write(summary: Summary, path: Path) -> None:
    """`render` into `path`, atomically: a reader sees the old page or the new one, whole."""
    atomic.write_text(path, render(summary))


def render(summary: Summary) -> str:
    """The whole page. Every number in it is one of `summary`'s."""
    called = names(summary)
    sections = list(_sections(summary, called))
    answer = next(effects.figures(summary, called), None)
    talk = talk_charts(summary, called)
    every = [
        *([answer] if answer else []),
        *(chart.figure for chart in talk if chart.figure),
        *(one for _, _, figures in sections for one in figures),
    ]
    scripts = (_script_text(vega_bundle()), *map(_script, SCRIPTS))
    return _environment().get_template("page.html.j2").render(
        summary=summary,
        names=called,
        created=_created(summary.created),
        notes=notes(summary),
        badges=badges(summary),
        facts=_facts(summary),
        answer=answer,
        sections=sections,
        planning=planning(summary),
        talk=talk,
        matrix=matrix(summary, called),
        has_intervals=any(m.low is not None for one in summary.settings for m in one.metrics),
        choices=choices(summary, called),
        validity=validity.reasons(summary),
        courses=trials.courses(summary, called),
        symbols=inside.symbols(),
        cpu_kinds=CPU,
        others=other_table(summary, called),
        findings=findings_table.findings_table(summary),
        why=findings_table.shared_why(summary),
        trials=trials.rows(summary, called),
        trial_counts=trials.counts(summary),
        disclosure=entries(summary.disclosure),
        terms=TERMS,
        css=Markup((_HERE / "static/report.css").read_text("utf-8")),
        scripts=scripts,
        policy=_policy(scripts),
        data=[
            embedded("summary", summary_values(summary)),
            embedded("charts-data", _charts(every)),
        ],
    )  # fmt: skip


def summary_values(summary: Summary) -> dict[str, Any]:
    """summary.json's values without those that are defaults anyway; `Summary` reads it the same."""
    return {"format": summary.format, **json.loads(summary.model_dump_json(exclude_defaults=True))}


def _sections(summary: Summary, called: Names) -> Iterator[tuple[str, str, list[Figure]]]:
    """(anchor, heading, figures) of each section with charts, in reading order."""
    for anchor, heading, module in (
        ("throughput", "Throughput", throughput),
        ("latency", "Latency", latency),
        ("cpu", "CPU", cpu),
        ("steadiness", "Steadiness and price", steadiness),
    ):
        figures = list(module.figures(summary, called))
        if figures:
            yield anchor, heading, figures
    yield "time", "Time", list(seconds.figures(summary, called))


def _facts(summary: Summary) -> list[tuple[str, str]]:
    measuring = f"{duration(summary.time.measuring_s)} of {duration(summary.time.total_s)}"
    return [
        ("Provider", f"{summary.provider}, isolation: {summary.isolation}"),
        ("Repetitions", f"{summary.repetitions}, seed {summary.seed}"),
        ("Trials", trials.counts(summary)),
        ("Measuring", measuring),
        *_monitor_cost(summary),
    ]


def _monitor_cost(summary: Summary) -> Iterator[tuple[str, str]]:
    cost = summary.monitor_cost
    if cost is not None:
        ends = f" ({ratio(cost.low)} to {ratio(cost.high)})" if cost.low is not None else ""
        yield "Rate with monitors over without", f"{ratio(cost.ratio)}{ends}, {cost.n} pairs"


def _created(created: str) -> str:
    """2026-11-20T20:23:04Z as 20 Nov 2026, 20:23 UTC; anything else as it is."""
    try:
        return f"{datetime.fromisoformat(created):%d %b %Y, %H:%M} UTC"
    except ValueError:
        return created


def _charts(figures: list[Figure]) -> dict[str, Any]:
    specs = {panel.id: panel.spec for one in figures for panel in one.panels}
    return {"data": DATA, "config": config(), "specs": specs, "shapes": inside.shapes()}


@dataclass(frozen=True)
class Embedded:
    """JSON inside the page: as it is, or where it is long (`encoding` "gzip") packed, as base64."""

    id: str
    text: Markup
    encoding: str


def embedded(id_: str, value: object) -> Embedded:
    text = _json(value)
    if len(text) <= LONG_JSON:
        return Embedded(id_, text, "none")
    packed = gzip.compress(text.encode(), mtime=0)  # the same page for the same summary
    return Embedded(id_, Markup(base64.b64encode(packed).decode()), "gzip")


def _json(value: object) -> Markup:
    """JSON that is safe inside <script>: no `<` can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _script(name: str) -> Markup:
    return _script_text((_HERE / "static" / name).read_text("utf-8"))


def _script_text(source: str) -> Markup:
    """JavaScript for an inline element. `</script` inside a string literal means the same as `<\\/script`."""
    return Markup(source.replace("</script", "<\\/script"))


def _policy(scripts: tuple[Markup, ...]) -> str:
    """Only these scripts may run, and nothing may be loaded. Vega compiles its expressions: eval."""
    hashes = (hashlib.sha256(str(text).encode()).digest() for text in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


_NUMBER_AND_UNIT = re.compile(r"(\d) (?=(?:ms|s|min|h|MiB|GiB|ops)\b|%)")


def _unbroken(text: str) -> str:
    """Free text whose numbers stay on one line with their units."""
    return _NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}", text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = _unbroken
    return environment
