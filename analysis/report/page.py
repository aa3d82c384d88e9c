"""`render` and `write`: a `Summary` as one HTML file that needs no network and no server.

Charts are drawn once, here, as SVG: they need no script, and they print. Only the charts inside a trial
are drawn in the browser, by the page's own copy of Vega, when a reader comes near them.
"""

from __future__ import annotations

import base64
import gzip
import json
import tomllib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from density_study.analysis.capacity.plan.plan import facts, plan_sentence, spread
from density_study.analysis.capacity.plan.words import resource_words
from density_study.analysis.report import trials
from density_study.analysis.report.charts import (
    faults,
    findings_table,
    inside,
    load_phases,
    precision,
    searches,
    seconds,
)
from density_study.analysis.report.charts.answer import answer
from density_study.analysis.report.charts.datatable import other_table
from density_study.analysis.report.charts.figure import DATA, vega_bundle
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.palette import CPU, VERDICT, config
from density_study.analysis.report.charts.quantity import duration, quantity
from density_study.analysis.report.charts.sections import sections
from density_study.analysis.report.charts.talk import talk_charts
from density_study.analysis.report.disclosure import headed
from density_study.analysis.report.forest import forest
from density_study.analysis.report.html import inline_script, policy, static, templates
from density_study.analysis.report.matrix import matrix
from density_study.analysis.report.trust import trust
from density_study.analysis.report.why import why
from density_study.analysis.summary.summary import (
    MISSES,
    Summary,
    TestCaseSummary,
    TrialSummary,
    unknown_first,
    verdict_words,
)
from density_study.cluster.model.plain import counted
from density_study.cluster.state import atomic
from density_study.cluster.state.settings import setting

_HERE = Path(__file__).parent
# Our own scripts, in the order they run.
SCRIPTS = ("sorting.js", "inside.js", "filters.js", "report.js")
DOCUMENTS = {
    "report": "explains each part of this page",
    "workloads": "explains each number",
    "methodology": "shows how far to trust it",
    "troubleshooting": "helps with trials that are not valid",
}
"""Pages of the documentation. It has no address on the web but that of the setting `docs_url`."""
# JSON longer than this many characters is compressed, so that a long study's page stays small.
LONG_JSON = 300_000


def write(summary: Summary, path: Path) -> None:
    """`render` into `path`, atomically: a reader sees either the whole old page or the whole new one."""
    atomic.write_text(path, render(summary, setting("docs_url") or ""))


def render(summary: Summary, docs_url: str = "") -> str:
    """The whole page. Every number in it comes from `summary`. docs_url: address of the documentation, for
    links to its pages."""
    view = View(summary)
    scripts = tuple(inline_script(static(name)) for name in SCRIPTS)
    return _environment().get_template("page.html.j2").render(
        summary=summary,
        view=view,
        created=f"{datetime.fromisoformat(summary.created):%d %b %Y, %H:%M} UTC",
        facts=_facts(summary),
        trust=trust(view),
        answer=answer(view),
        forest=forest(summary),
        claims=findings_table.claims_table(summary),
        sections=list(sections(view)),
        time_figures=list(seconds.figures(view)),
        plan=summary.plan,
        talk=talk_charts(view),
        matrix=matrix(view),
        choices=_choices(view),
        validity=trials.reasons(summary),
        courses=trials.courses(view),
        why=why(view),
        watched=any(one.devices or one.events for one in summary.series),
        symbols=inside.symbols(),
        cpu_kinds=CPU,
        marked=inside.MARKED,
        others=other_table(view),
        decisions=findings_table.decisions_table(summary),
        findings=findings_table.findings_table(summary),
        precision=precision.figure(view),
        load_phases=load_phases.figure(view),
        faults=faults.table(view),
        found=searches.found_table(view),
        probes=searches.probes_table(view),
        trials=sorted(summary.trials, key=lambda trial: trial.order),
        trial_counts=trials.counted(summary.trials),
        disclosure=headed(summary.disclosure),
        terms=tomllib.loads((_HERE / "glossary.toml").read_text("utf-8")),
        documents=DOCUMENTS,
        docs_url=docs_url.rstrip("/"),
        css=Markup(static("report.css") + static("sections.css")),
        scripts=scripts,
        policy=policy((*scripts, vega_bundle()), "'unsafe-eval'"),  # Vega compiles its expressions
        data=[
            embedded("summary", summary_values(summary)),
            embedded(
                "charts-data", {"data": DATA, "config": config(), "shapes": inside.shapes()}
            ),
            embedded("vega", vega_bundle()),
        ],
    )  # fmt: skip


def summary_values(summary: Summary) -> dict[str, Any]:
    """summary.json's values without defaults; `Summary` reads the result as the same summary."""
    return {"format": summary.format, **json.loads(summary.model_dump_json(exclude_defaults=True))}


def _choices(view: View) -> dict[str, list[tuple[str, str]]]:
    """The options of the page's filters, each with its label: only values that occur in the run."""
    summary = view.summary
    entries: list[TestCaseSummary | TrialSummary] = [*summary.test_cases, *summary.trials]
    densities = sorted({one.vms_per_host for one in entries}, key=unknown_first)
    verdicts = {trial.verdict for trial in summary.trials}
    claims = {finding.verdict for finding in summary.findings}
    return {
        "test_cases": list(view.labels.items()),
        "densities": [(str(density), view.density_in_words(density)) for density in densities],
        "disk_types": [
            (one, view.disk_type(one)) for one in sorted({one.disk_type for one in entries})
        ],
        "verdicts": [(f"verdict:{one}", one) for one in trials.VERDICTS if one in verdicts],
        "claims": [(f"claim:{one}", verdict_words(one)) for one in VERDICT if one in claims],
    }


def _facts(summary: Summary) -> tuple[str, ...]:
    """What ran, for how long, in a few words each."""
    repetitions = counted(summary.repetitions, "repetition")
    time = summary.time
    measuring = f"measuring {duration(time.measuring_s)} of {duration(time.total_s)}"
    if summary.imported is not None:
        made = f"records made by others, imported from {counted(summary.imported.files, 'file')}"
        return made, repetitions, measuring
    turns = ("both variants at once, in turns",) if summary.in_turns else ()
    return f"provider {summary.provider}", repetitions, *turns, measuring


def embedded(id_: str, value: object) -> dict[str, Any]:
    """JSON inside the page: plain, or if it is long (`encoding` "gzip") compressed, as base64."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":  # no `<` can end the element or open a comment
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    if len(text) <= LONG_JSON:
        return {"id": id_, "text": Markup(text), "encoding": "none"}
    packed = gzip.compress(text.encode(), mtime=0)  # mtime 0: the same page for the same summary
    return {"id": id_, "text": base64.b64encode(packed).decode(), "encoding": "gzip"}


@cache
def _environment() -> Environment:
    environment = templates()
    environment.globals |= {"quantity": quantity, "main_rate": trials.main_rate}
    environment.globals |= {"number": trials.number, "misses": MISSES}
    environment.globals |= {"plan_facts": facts, "plan_sentence": plan_sentence, "spread": spread}
    environment.globals |= {"resource_words": resource_words}
    return environment
