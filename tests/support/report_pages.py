"""A report's page, parsed for a test: its elements, its embedded data, and the summary behind
it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from density_study.analysis.report.charts import seconds
from density_study.analysis.report.charts.answer import answer
from density_study.analysis.report.charts.figure import Panel
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.sections import sections
from density_study.analysis.report.charts.talk import talk_charts
from density_study.analysis.report.page import render
from tests.support.summary_factory import FACTORIES

PAGES = [
    "one",
    pytest.param("eight", marks=pytest.mark.thorough),
    pytest.param("talk", marks=pytest.mark.slow),
]
"""`make check` reads the smallest page only, and `make test` not the largest."""
VOID = {"meta", "link", "br", "img", "input", "rect", "path", "line", "circle"}


class Elements(HTMLParser):
    """Every element as (tag, attributes, own text), in order of appearance."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[tuple[str, list[str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        text: list[str] = []
        self.all.append((tag, dict(attrs), text))
        if tag not in VOID:
            self._open.append((tag, text))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, text in self._open:
            text.append(data)

    def of(self, tag: str, **attributes: str) -> list[str]:
        """Texts of the elements of this tag with these attributes (class: one of its words)."""
        return ["".join(text) for _, _, text in self.having(tag, **attributes)]

    def having(self, tag: str, **attributes: str) -> list[tuple[str, dict[str, Any], list[str]]]:
        return [
            one
            for one in self.all
            if one[0] == tag
            and all(value in (one[1].get(key) or "").split() for key, value in attributes.items())
        ]


@cache
def html(name: str) -> str:
    return render(FACTORIES[name]())


@cache
def panels(name: str) -> list[Panel]:
    """Every panel of a made-up report, as the page draws it."""
    view = View(FACTORIES[name]())
    figures = [
        answer(view),
        *(chart.figure for chart in talk_charts(view)),
        *(one for _, _, several in sections(view) for one in several),
        *seconds.figures(view),
    ]
    return [panel for one in figures if one for panel in one.panels]


def embedded(text: str, element: str) -> Any:
    match = re.search(
        rf'<script type="application/json" id="{element}" data-encoding="(\w+)">(.*?)</script>',
        text,
        re.S,
    )
    assert match
    packed = match[1] == "gzip"
    return json.loads(gzip.decompress(base64.b64decode(match[2])) if packed else match[2])


def resolve(document: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document
