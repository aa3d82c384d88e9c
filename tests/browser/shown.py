"""What each picture of the documentation shows, as a hash: docs/pictures.json has that of its taking."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.metadata import version

from density_study.analysis.report.html import static
from density_study.analysis.report.page import render
from density_study.dags.airflow_home.home import project_root
from docs.generator.sample import kept
from tests.support.report_pages import html

DOCS = project_root() / "docs"
HASHES = DOCS / "pictures.json"
REPORTS = ("one", "eight")
OF_RUNS = {"report.png": "quickstart", "block-cache-off.png": "block-cache-off"}
"""Pictures of the first screens of reports, and the studies whose numbers are kept for them."""
_OF_AIRFLOW = ("airflow.png", "airflow-cleared.png")
_OF_HUB = "airflow-hub.png"
_TEMPLATES = project_root() / "analysis" / "report" / "templates"
_HUB = tuple(_TEMPLATES / name for name in ("hub.html.j2", "hub_study.html.j2"))
_REGRESSIONS = '{% include "regressions.html.j2" %}\n'
"""The open ones, which a hub with none does not show."""
_HIDDEN = re.compile(r"<script.*?</script>|<style.*?</style>|<svg.*?</svg>|<[^>]+>", re.S)


def shown(picture: str) -> str:
    """The hash of what a picture taken now would show: the report's first screen, of the same numbers, the
    hub, or the pages of the installed Airflow."""
    if picture in _OF_AIRFLOW:
        return hash_of(f"airflow {version('apache-airflow')}")
    if picture == _OF_HUB:
        page = "".join(part.read_text("utf-8") for part in _HUB).replace(_REGRESSIONS, "")
        return hash_of(page, _on_screen(static("report.css")), static("hub.css"))
    pages = [render(kept(OF_RUNS[picture]))] if picture in OF_RUNS else map(html, REPORTS)
    first = [page.partition('<nav aria-label="Sections"')[0] for page in pages]
    return hash_of(
        "".join(" ".join(_HIDDEN.sub(" ", one).split()) for one in first),
        _on_screen(static("report.css")),
    )


def _on_screen(css: str) -> str:
    """Without its last part, which lays out the printed page: a picture is one of a screen."""
    return css.partition("@media print")[0]


def recorded() -> dict[str, str | None]:
    """By picture; null: it was taken before hashes were kept."""
    found: dict[str, str | None] = json.loads(HASHES.read_text("utf-8"))
    return found


def record(picture: str) -> None:
    """Remember what a picture shows that was taken now."""
    hashes = {**recorded(), picture: shown(picture)}
    HASHES.write_text(json.dumps(dict(sorted(hashes.items())), indent=1) + "\n", "utf-8")


def hash_of(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
