"""`python -m analysis.report.screenshot PAGE.html OUT.png`: a picture of a report, for the README."""

from __future__ import annotations

import argparse
import base64
import sys
from pathlib import Path

from analysis.report.chromium import Chromium
from cluster.model.errors import InputError, StudyError

WIDTH_PX = 1200
HEIGHT_PX = 1050


def capture(
    page: Path,
    picture: Path,
    width_px: int = WIDTH_PX,
    height_px: int | None = HEIGHT_PX,
    dark: bool = False,
) -> None:
    """The top of the page as a PNG, or all of it where `height_px` is None."""
    if not page.is_file():
        raise InputError("is no file.", str(page), "give a report's index.html.")
    with Chromium() as browser:
        browser.open(page, width_px, height_px or HEIGHT_PX, dark)
        if height_px is None:
            size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
            browser.resize(width_px, int(size["height"]))
        shot = browser.call("Page.captureScreenshot", format="png")
    picture.write_bytes(base64.b64decode(shot["data"]))


def print_pdf(page: Path, pdf: Path) -> None:
    """The page as it prints, on A4."""
    with Chromium() as browser:
        browser.open(page)
        printed = browser.call(
            "Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69
        )
    pdf.write_bytes(base64.b64decode(printed["data"]))


def main(arguments: list[str]) -> int:
    """0 when the picture is there; else the error's exit code, with what to do on stderr."""
    parser = argparse.ArgumentParser(prog="python -m analysis.report.screenshot")
    parser.add_argument("page", type=Path, help="a report's index.html")
    parser.add_argument("picture", type=Path, help="OUT.png, or OUT.pdf for the printed page")
    parser.add_argument("--width", type=int, default=WIDTH_PX, help="pixels")
    parser.add_argument("--full", action="store_true", help="the whole page, not only its top")
    parser.add_argument("--dark", action="store_true", help="as in a dark colour scheme")
    asked = parser.parse_args(arguments)
    try:
        if asked.picture.suffix == ".pdf":
            print_pdf(asked.page, asked.picture)
        else:
            height_px = None if asked.full else HEIGHT_PX
            capture(asked.page, asked.picture, asked.width, height_px, asked.dark)
    except StudyError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
