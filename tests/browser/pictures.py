"""The pictures of the documentation: `make pictures`, 8 minutes on an idle machine.

docs/airflow*.png are pages of the UI: a real quickstart study, triggered there and with one trial cleared.
The others are first screens of reports, of numbers that are kept (docs/generator/sample.py);
`python -m tests.browser.pictures reports` takes only these, in seconds.
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
from urllib.parse import quote

from playwright.sync_api import Browser, FloatRect, Page

from density_study.analysis.report.page import write
from density_study.dags.airflow_home.home import LOOPBACK, project_root
from density_study.dags.web.webserver import USER
from docs.generator.sample import kept
from tests.browser.shown import OF_RUNS, record
from tests.support.chromium import chromium, open_report

DOCS = project_root() / "docs"
PORT = 8089
DAG = "study_quickstart"
GROUPS = ["b1-v1-flash"]
"""One open group shows what a build is; with all of them nothing can be read at the width of a page."""
CLEARED = "b1-v2-flash"
"""The build of the trial that is cleared."""
MARGIN_PX = 12
DRAWN_AFTER_MS = 3000
"""Airflow lays out the graph in a web worker, and tells nobody when it is done."""
OVER = ("success", "failed")
EVERY_MS = 5000


class Ui:
    """Airflow's pages, in a browser that has signed in."""

    def __init__(self, browser: Browser, address: str, password: str) -> None:
        self.page: Page = browser.new_page(
            viewport={"width": 1500, "height": 900}, device_scale_factor=1.5
        )
        self.dag = f"{address}/dags/{DAG}"
        self.api = f"{address}/api/v2/dags/{DAG}"
        self.hub = f"{address}/plugin/density-study"
        self.page.goto(self.dag)
        self.page.get_by_label("Username").fill(USER)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"{address}/**")

    def trigger(self) -> str:
        """The page of the new DAG run."""
        self.page.goto(self.dag)
        self.page.get_by_test_id("trigger-dag-button").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
        while not (runs := self._asked("dagRuns")["dag_runs"]):
            self.page.wait_for_timeout(EVERY_MS)
        self.run_id: str = runs[0]["dag_run_id"]
        return f"{self.dag}/runs/{quote(self.run_id)}"

    def wait_over(self) -> None:
        """RuntimeError if the DAG run fails. Meanwhile the page is empty: a page of Airflow would refresh."""
        self.page.goto("about:blank")
        while (state := self._asked(f"dagRuns/{quote(self.run_id)}")["state"]) not in OVER:
            self.page.wait_for_timeout(EVERY_MS)
        if state != "success":
            raise RuntimeError(f"{self.run_id} ended as {state}")

    def clear(self, run: str, trial: str) -> None:
        """By the button and the dialog, with what the dialog preselects."""
        self.page.goto(f"{run}/tasks/{trial}")
        self.page.locator("button[aria-label*='to clear']").click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_text(f"{CLEARED}.down").wait_for()
        dialog.get_by_role("button", name="Confirm").click()
        dialog.wait_for(state="hidden")

    def first_trial(self, build: str) -> str:
        tasks = [task["task_id"] for task in self._asked("tasks")["tasks"]]
        return min(task for task in tasks if task.startswith(f"{build}.0"))

    def _asked(self, path: str) -> dict[str, list[dict[str, str]]]:
        """An answer of the REST API to the browser's login."""
        answer = self.page.context.request.get(f"{self.api}/{path}")
        found: dict[str, list[dict[str, str]]] = answer.json()
        return found


def graph_picture(ui: Ui, run: str) -> None:
    page = ui.page
    page.set_viewport_size({"width": 2200, "height": 900})
    page.goto(run)  # an empty page has no storage
    page.evaluate("localStorage.setItem('default_dag_view', JSON.stringify('graph'))")
    page.evaluate(f"localStorage.setItem('{DAG}/open-groups', JSON.stringify({GROUPS}))")
    page.goto(run)
    page.get_by_text("conclude").first.wait_for()
    page.wait_for_timeout(DRAWN_AFTER_MS)
    boxes = [node.bounding_box() for node in page.locator(".react-flow__node").all()]
    left, top = (min(box[edge] for box in boxes if box) - MARGIN_PX for edge in ("x", "y"))
    width = max(box["x"] + box["width"] for box in boxes if box) + MARGIN_PX - left
    height = max(box["y"] + box["height"] for box in boxes if box) + MARGIN_PX - top
    clip: FloatRect = {"x": left, "y": top, "width": width, "height": height}
    page.screenshot(path=DOCS / "airflow.png", clip=clip)
    record("airflow.png")
    page.evaluate("localStorage.setItem('default_dag_view', JSON.stringify('grid'))")
    page.set_viewport_size({"width": 1500, "height": 900})


def screen(ui: Ui, address: str, name: str, text: str = "", frame: str = "") -> None:
    """docs/<name>.png: the page at `address`, when `text` or the content of `frame` is there."""
    ui.page.goto(address)
    if text:
        ui.page.get_by_text(text).first.wait_for()
    if frame:
        ui.page.frame_locator(f"iframe[title='{frame}']").get_by_role("heading", level=1).wait_for()
    ui.page.wait_for_timeout(DRAWN_AFTER_MS)
    ui.page.screenshot(path=DOCS / f"{name}.png")
    record(f"{name}.png")


@contextmanager
def _airflow(folder: Path) -> Iterator[tuple[str, str]]:
    """(address, password) of a web UI with databases and runs of its own."""
    server = subprocess.Popen(
        [sys.executable, "-m", "density_study.dags.web.webserver", "--port", f"{PORT}"],
        env={**os.environ, "AIRFLOW_HOME": str(folder), "DENSITY_STUDY_RUNS": str(folder / "runs")},
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
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        _airflow(Path(folder)) as (address, password),
    ):
        ui = Ui(browser, address, password)
        run = ui.trigger()
        ui.wait_over()
        graph_picture(ui, run)
        trial = ui.first_trial(CLEARED)
        ui.clear(run, trial)
        ui.wait_over()
        screen(ui, f"{run}/tasks/{trial}", "airflow-cleared", text="Task Tries")
        screen(ui, f"{run}/plugin/density-study-report", "airflow-report", frame="Report")
        screen(ui, ui.hub, "airflow-hub", frame="Study results")


def first_screens() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for picture, study in OF_RUNS.items():
            report = Path(folder, f"{study}.html")
            write(kept(study), report)
            page = browser.new_page()
            open_report(page, report, height_px=1050)
            page.screenshot(path=DOCS / picture)
            record(picture)


if __name__ == "__main__":
    if sys.argv[1:] != ["reports"]:
        main()
    first_screens()
