"""How the browser tests read a page, compare it with summary.json, and choose from it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

ROWS = """Object.fromEntries(Object.entries(window.reportViews).map(
    ([chart, view]) => [chart, view.data('rows').map(row => ({...row}))]))"""


def resolve(document: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


def stored_number(summary: Any, ref: str, key: str) -> Any:
    """The number of summary.json that a drawn row's `value`, `low` or `high` must equal."""
    stored = resolve(summary, ref)
    if not isinstance(stored, dict):
        return stored if key == "value" else None
    return stored["effect" if key == "value" and ref.startswith("/findings/") else key]


def choose(page: Page, select: str, text: str) -> None:
    """Chooses an option by keyboard: focus, then type its first letters."""
    page.focus(f"#{select}")
    page.keyboard.type(text)


def filtered(page: Page, times: int) -> None:
    page.wait_for_function(f"document.documentElement.dataset.filters === '{times}'")
