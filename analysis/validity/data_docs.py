"""Great Expectations' pages of results (Data Docs), as pages that need no network and run nothing.

As the library writes them, they load scripts and styles from six sites, show nothing without them, and hold
the names of trials without escapes. Here each page is written anew from the elements and attributes of its
tables and texts; everything else is left out. A policy in each page forbids what would be left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from html.parser import HTMLParser
from pathlib import Path

INDEX = "index.html"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_EMPTY = frozenset({"br"})
_KEPT = _EMPTY | {
    *("nav", "div", "p", "span", "strong", "em", "code", "pre", "i", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_DROPPED = frozenset(
    {"script", "style", "title", "footer", "svg", "button", "label", "select", "textarea", "iframe"}
)
"""Elements that go with all they hold."""
_ATTRIBUTES = frozenset({"id", "class", "colspan", "rowspan", "href"})
_OWN_LINK = re.compile(r"#[\w-]*|(?:\.\./)*[\w-]+(?:[/.][\w-]+)*\.html")
_STYLE = """
:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
.text-success::before { content: "ok"; }
.text-danger::before { content: "not met"; }
.text-warning::before { content: "not checked"; }
.ge-navigation-sidebar-container, .navbar { display: none; }
"""


def make_plain(folder: Path) -> None:
    """Replace every page below `folder`, and its index, by a plain one. Other files are removed."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".html":
            path.unlink()
    pages = sorted(path for path in folder.rglob("*.html") if path.parent != folder)
    for path in pages:
        reader = _Plain()
        reader.feed(path.read_text(encoding="utf-8"))
        reader.close()
        path.write_text(page(_title(path.relative_to(folder)), reader.text), encoding="utf-8")
    links = [
        (path.relative_to(folder).as_posix(), _title(path.relative_to(folder))) for path in pages
    ]
    (folder / INDEX).write_text(
        page("Great Expectations' Data Docs", _list(links)), encoding="utf-8"
    )
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def mark_simulated(folder: Path) -> None:
    """Say in the titles of all pages below `folder` that they are of a rehearsal."""
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        marked = re.sub("<title>|<h1>", r"\g<0>Simulated: ", text, count=2)
        path.write_text(marked, encoding="utf-8")


def _title(path: Path) -> str:
    """`validations/load/...`: the results of the suite `load`; `expectations/load.html`: its rules."""
    kind, name = path.parts[0], path.with_suffix("").parts[1]
    return f"{'Results' if kind == 'validations' else 'Rules'} of the suite {name}"


def _list(links: Iterable[tuple[str, str]]) -> str:
    entries = (f'<li><a href="{escape(to)}">{escape(title)}</a></li>' for to, title in links)
    return f"<ul>{''.join(entries)}</ul>"


def page(title: str, body: str) -> str:
    """A whole page. body: HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


class _Plain(HTMLParser):
    """Collects the kept elements of a page. Text is unescaped by the parser and escaped again here."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._open: list[str] = []
        self._dropped: list[str] = []

    @property
    def text(self) -> str:
        return "".join((*self._out, *(f"</{tag}>" for tag in reversed(self._open))))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.append(tag)
        elif tag in _DROPPED:
            self._dropped.append(tag)
        elif tag in _KEPT:
            kept = "".join(
                f' {name}="{escape(value)}"'
                for name, value in attrs
                if value and _may_stay(name, value)
            )
            self._out.append(f"<{tag}{kept}>")
            if tag not in _EMPTY:
                self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _EMPTY:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.pop()
        elif tag in self._open:
            while (last := self._open.pop()) != tag:
                self._out.append(f"</{last}>")
            self._out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self._out.append(escape(data))


def _may_stay(name: str, value: str) -> bool:
    return name in _ATTRIBUTES and (name != "href" or _OWN_LINK.fullmatch(value) is not None)
