"""How the browser tests read a page, hold it against summary.json, and press its keys."""

from __future__ import annotations

from typing import Any

from analysis.report.chromium import Chromium

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


def press(browser: Chromium, key: str, code: int) -> None:
    text = "\r" if key == "Enter" else ""
    for kind in ("keyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=key,
            windowsVirtualKeyCode=code,
            text=text,
        )


def choose(browser: Chromium, select: str, text: str) -> None:
    """Choose an option by keyboard alone: focus, then type its first letters."""
    browser.evaluate(f"document.querySelector('#{select}').focus()")
    for sign in text:
        browser.call("Input.dispatchKeyEvent", type="char", text=sign)


def filtered(browser: Chromium, times: int) -> None:
    browser.wait_for(f"document.documentElement.dataset.filters === '{times}'", 30.0)
