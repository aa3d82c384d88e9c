"""The pictures of the documentation: `make pictures`, after `make study`.

docs/report.png is the first screen of the newest report of the quickstart; docs/airflow.png is the graph of
the DAG study_quickstart, from Airflow's own web UI.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

from playwright.sync_api import Browser, FloatRect

from density_study.dags.airflow_home.home import LOOPBACK, project_root
from density_study.dags.web.webserver import USER
from tests.support.chromium import chromium, open_report

DOCS = project_root() / "docs"
REPORT = project_root() / "runs" / "quickstart" / "report" / "index.html"
PORT = 8089
DAG = "study_quickstart"
GROUPS = ["b1-v1-flash", "b1-v2-flash"]
MARGIN_PX = 12
DRAWN_AFTER_MS = 3000
"""Airflow lays out the graph in a web worker, and tells nobody when it is done."""


def report_picture(browser: Browser) -> None:
    page = browser.new_page()
    open_report(page, REPORT, height_px=1050)
    page.screenshot(path=DOCS / "report.png")


def graph_picture(browser: Browser) -> None:
    with _airflow() as (address, password):
        page = browser.new_page(viewport={"width": 1500, "height": 640}, device_scale_factor=2)
        page.goto(f"{address}/dags/{DAG}")
        page.get_by_label("Username").fill(USER)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{address}/**")
        page.evaluate("localStorage.setItem('default_dag_view', JSON.stringify('graph'))")
        page.evaluate(f"localStorage.setItem('{DAG}/open-groups', JSON.stringify({GROUPS}))")
        page.goto(f"{address}/dags/{DAG}")
        page.get_by_text("conclude").first.wait_for()
        page.wait_for_timeout(DRAWN_AFTER_MS)
        boxes = [node.bounding_box() for node in page.locator(".react-flow__node").all()]
        left, top = (min(box[edge] for box in boxes if box) - MARGIN_PX for edge in ("x", "y"))
        width = max(box["x"] + box["width"] for box in boxes if box) + MARGIN_PX - left
        height = max(box["y"] + box["height"] for box in boxes if box) + MARGIN_PX - top
        clip: FloatRect = {"x": left, "y": top, "width": width, "height": height}
        page.screenshot(path=DOCS / "airflow.png", clip=clip)


@contextmanager
def _airflow() -> Iterator[tuple[str, str]]:
    """(address, password) of a web UI with a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "density_study.dags.web.webserver", "--port", f"{PORT}"],
            env={**os.environ, "AIRFLOW_HOME": folder},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            said = list(takewhile(lambda line: "Ctrl-C" not in line, server.stdout))
            if server.poll() is not None:
                raise RuntimeError("".join(said))
            passwords = Path(folder, "passwords.json").read_text(encoding="utf-8")
            yield f"http://{LOOPBACK}:{PORT}", json.loads(passwords)[USER]
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    with chromium() as browser:
        report_picture(browser)
        graph_picture(browser)


if __name__ == "__main__":
    main()
