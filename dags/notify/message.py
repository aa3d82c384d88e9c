"""`Message`: what receivers get, as one line, as text, as HTML and as JSON. Does not import Airflow."""

from __future__ import annotations

import html
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from density_study.cluster.state.file_fault import fault_of
from density_study.cluster.state.settings import setting
from density_study.workloads.study.notify import Occasion

if TYPE_CHECKING:
    from density_study.analysis.comparison.compare import Change

_SUBJECT_CHARACTERS = 200
_LINES = 30


@dataclass(frozen=True)
class Number:
    """One number of the comparison: the later run over the earlier ones, with its 95 % interval."""

    subject: str | None
    among: str | None
    measure: str | None
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True)
class Message:
    """`event` happened to `run` of `study`; `run` is empty if it could not be opened.

    `headline` says what and how much in one line, and `lines` say more. `causes` are what else changed
    since the runs of `baseline`. `report` is an address or a path, or empty.
    """

    event: Occasion | Literal["test"]
    study: str
    run: str
    headline: str
    lines: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()
    causes: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()
    report: str = ""

    @property
    def subject(self) -> str:
        """One line, also when a reason has several."""
        line = " ".join(f"{self.study}: {self.event}: {self.headline}".split())
        return line if len(line) <= _SUBJECT_CHARACTERS else f"{line[:_SUBJECT_CHARACTERS]}..."

    @property
    def text(self) -> str:
        return "\n".join(self._all_lines())

    @property
    def html(self) -> str:
        return "<br>\n".join(map(_linked, self._all_lines()))

    @property
    def facts(self) -> dict[str, Any]:
        """The message as plain values, for a web hook."""
        facts = {**asdict(self), "subject": self.subject, "text": self.text}
        del facts["lines"]
        return facts

    def _all_lines(self) -> list[str]:
        more = len(self.lines) - _LINES
        return [
            self.subject,
            *self.lines[:_LINES],
            *([f"and {more} more"] if more > 0 else []),
            *(f"likely cause: {cause}" for cause in self.causes),
            *([f"compared with: {', '.join(self.baseline)}"] if self.baseline else []),
            *([f"run: {self.run}"] if self.run else []),
            *([f"report: {self.report}"] if self.report else []),
        ]


def number_of(change: Change) -> Number:
    found = change.finding
    return Number(
        found.subject,
        found.among,
        found.measure,
        found.effect,
        found.low,
        found.high,
        found.p_adjusted,
    )


def report_of(root: Path) -> str:
    """Where people find the run's report: its address if a web server serves the runs folder, else its path
    on this machine. The run's folder, if there is no report."""
    page = root / "report" / "index.html"
    base = setting(
        "reports_url"
    )  # under which a web server, if there is one, serves the runs folder
    if base:
        relative = page.relative_to(root.parents[1]) if page.exists() else Path(*root.parts[-2:])
        return f"{base.rstrip('/')}/{quote(str(relative))}"
    return f"{page if page.exists() else root} on {socket.gethostname()}"


def _linked(line: str) -> str:
    key, _, value = line.partition(": ")
    if key == "report" and value.startswith(("http://", "https://")):
        address = html.escape(value)
        return f'{key}: <a href="{address}">{address}</a>'
    return html.escape(line)


def words_of(error: Exception) -> str:
    """StudyErrors, and failed file operations, have words for people; the text of others may contain
    anything."""
    return str(fault_of(error) or type(error).__name__)
