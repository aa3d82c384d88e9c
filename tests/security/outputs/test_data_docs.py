"""Great Expectations' pages: no script, nothing from elsewhere, no markup of a trial's name."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.validity.data_docs import make_plain, mark_simulated
from density_study.analysis.validity.judge import judge
from density_study.cluster.model.errors import StudyError
from density_study.workloads.record.record import Record, read_manifest
from tests.support.drafts import draft
from tests.support.records.sound_checks import SOUND

HOSTILE = (
    "<img src=x onerror=alert(2)>",
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>a</a>",
    '"><meta http-equiv=refresh content="0;url=http://x">',
    "<form action=http://x><input>",
    "<scr<script>ipt>alert(1)</script>",
    "<base href=http://x>",
    "<p style='background:url(http://x)' onclick=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<a href=//x/index.html>a</a>",
)


class Reader(HTMLParser):
    """What a browser would load, run or follow."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.policies: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "meta" and dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policies.append(dict(attrs)["content"])
            return
        self.attributes += attrs


def check(path: Path) -> None:
    page = Reader(path.read_text(encoding="utf-8"))
    assert page.policies and page.policies[0]
    assert page.policies[0].startswith("default-src 'none'")
    left_out = {
        "script",
        "img",
        "svg",
        "iframe",
        "form",
        "base",
        "link",
        "input",
        "object",
        "embed",
    }
    assert not left_out & set(page.tags)
    for name, value in page.attributes:
        assert name in {"id", "class", "colspan", "rowspan", "href", "lang", "charset"}, name
        assert name != "href" or not re.match(r"[\w+.-]*:|//", value or ""), value


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_markup(tmp_path: Path, name: str) -> None:
    path = tmp_path / "validations" / "load" / "x" / "tables-checks.html"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"<html><body><table><tr><td>{name}</td><td>kept</td></tr></table>{name}<p>end</body>"
    )
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "logo.svg").write_text("<svg/>")
    make_plain(tmp_path)
    check(path)
    check(tmp_path / "index.html")
    assert not (tmp_path / "static").exists()
    mark_simulated(tmp_path)
    for page in (path, tmp_path / "index.html"):  # of a rehearsal
        check(page)
        text = page.read_text()
        assert "<title>Simulated: " in text and "<h1>Simulated: " in text
        assert text.count("Simulated") == 2


@pytest.mark.thorough
def test_the_librarys_own_pages_are_plain(tmp_path: Path) -> None:
    from density_study.analysis.validity.verdicts import confirm  # heavy: see test_validity.py

    docs = tmp_path / "report" / "data_docs"
    docs.mkdir(parents=True)
    rows = [{**SOUND, "trial": f"t{n}{name}", "work_share": 0.5} for n, name in enumerate(HOSTILE)]
    confirm(rows, [judge(row) for row in rows], docs=docs)
    pages = list(docs.rglob("*.html"))
    assert len(pages) > 10 and all(
        path.suffix == ".html" for path in docs.rglob("*") if path.is_file()
    )
    for path in pages:
        check(path)
    (failed,) = docs.glob("validations/completeness/*/*/*.html")
    assert "work_share" in failed.read_text() and "0.5" in failed.read_text()
    links = re.findall(r'href="([^"#]+)"', (docs / "index.html").read_text())
    assert len(links) == len(pages) - 1 and all((docs / link).is_file() for link in links)


NAMED: dict[str, tuple[Any, ...]] = {
    "trial": ("trial",),
    "build": ("build",),
    "study": ("study",),
    "run": ("run",),
    "test_case": ("test_case_id",),
    "topology": ("topology", "name"),
    "host": ("topology", "hosts", 0, "name"),
    "node": ("topology", "nodes", 0, "name"),
    "node's host": ("topology", "nodes", 0, "host"),
}


@pytest.mark.parametrize("where", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize(
    "name", ("<img src=x>", "../x", "a b", "\x1b]0;x\x07", "", "a\n", "ü", "-rf")
)
def test_a_manifest_with_a_name_that_is_more_than_a_name_is_refused(
    tmp_path: Path, where: tuple[Any, ...], name: str
) -> None:
    closed = Record.open(tmp_path, draft("t1")).close(
        draft("t1").model_copy(update={"state": "complete"})
    )
    value = at = json.loads((closed / "manifest.json").read_text())
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = name
    (closed / "manifest.json").write_text(json.dumps(value))
    with pytest.raises(StudyError) as refused:
        read_manifest(closed)
    assert str(refused.value.where) == str(closed / "manifest.json")
    assert "\n" not in refused.value.what and not re.search("[\x00-\x1f]", refused.value.what)
