"""The plugin in Airflow's own UI: the report of a DAG run, the hub, the login, and nothing else."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from density_study.analysis.hub.page import rebuild
from density_study.analysis.report.page import write
from density_study.cluster.state.journal import run_folders
from density_study.dags.airflow_home.home import project_root
from tests.dag.furnished import furnish
from tests.dag.web import Study
from tests.support.chromium import chromium
from tests.support.made_runs.nightly_runs import nightly, run_id, whole
from tests.support.made_runs.outside import links, outside
from tests.support.summary_factory import one_block

pytestmark = [pytest.mark.dag, pytest.mark.browser]
NIGHTLY = f"nightly/{run_id(1)}/report"

HEADLINE = "Inconclusive (1 repetition)"
"""Of the reports in `nightly`."""


class Served:
    """The UI, a study that ran in it, and what lies in and beside its runs folder."""

    def __init__(self, study: Study, dag_run: str) -> None:
        self.web, self.study, self.dag_run = study.web, study, dag_run
        self.runs = study.web.runs
        self.base = f"http://127.0.0.1:{self.web.port}"
        self.login = {"Authorization": f"Bearer {self.web.token}"}
        self.of_dag_run = f"dag-run?dag_id={study.dag}&run_id={quote(dag_run, safe='')}"

    def get(self, path: str, **options: object) -> requests.Response:
        options = {"headers": self.login, "allow_redirects": False, "timeout": 60, **options}
        return requests.get(f"{self.base}/density-study/{path}", **options)  # type: ignore[arg-type]

    @property
    def title(self) -> str:
        """The hub's heading."""
        folders = run_folders(self.runs)
        return f"{len(folders)} runs of {len({folder.parent for folder in folders})} studies"

    def raw(self, target: str) -> tuple[int, bytes]:
        """A request whose target no client has tidied up."""
        connection = http.client.HTTPConnection("127.0.0.1", self.web.port, timeout=60)
        connection.putrequest("GET", target, skip_accept_encoding=True)
        for name, value in self.login.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.fixture(scope="module")
def ui(completed: tuple[Study, str]) -> Iterator[Served]:
    served = Served(*completed)
    runs = served.runs
    for number in (1, 2):
        root = whole(runs, nightly(number))
        write(one_block("nightly"), root / "report" / "index.html")
    docs = root / "report" / "data_docs"
    docs.mkdir()
    (docs / "index.html").write_text("<a href='other.html'>other</a>")
    secrets = [runs.parent / "secret.html", runs / "secret.html"]
    for secret in secrets:
        secret.write_text("secret")
    rebuild(runs)
    yield served
    shutil.rmtree(runs / "nightly")
    for secret in secrets:
        secret.unlink()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, ui: Served) -> Iterator[Page]:
    """Logged in by the login page of Airflow, which leads back to the hub."""
    with browser.new_context(viewport={"width": 1400, "height": 900}) as context:
        opened = context.new_page()
        opened.goto(f"{ui.base}/density-study/")
        password = re.search(r"password +(\S+)", ui.web.out.read_text())
        assert password
        opened.fill("input[name=username]", "admin")
        opened.fill("input[name=password]", password[1])
        opened.keyboard.press("Enter")
        opened.wait_for_url(f"{ui.base}/density-study/")
        yield opened


@pytest.mark.slow
def test_without_a_login_nothing_is_served(ui: Served) -> None:
    for path in ("", f"{NIGHTLY}/index.html", f"{NIGHTLY}/none.html", "dag-run?dag_id=d&run_id=r"):
        answer = ui.get(path, headers={})
        assert (answer.status_code, answer.json()) == (401, {"detail": "Not authenticated"})
        answer = ui.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 307
        target = urlsplit(answer.headers["Location"])
        assert target.path == "/api/v2/auth/login"
        assert not target.netloc and quote(f"/density-study/{path}", safe="") in target.query
    for token in ("nonsense", f"{ui.web.token}x"):
        answer = ui.get("", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code in (401, 403)
        assert "runs of" not in answer.text
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        url = f"{ui.base}/density-study/{NIGHTLY}/index.html"
        assert requests.request(method, url, headers=ui.login, timeout=60).status_code == 405


@pytest.mark.slow
def test_with_the_login_hub_and_reports_are_served(ui: Served) -> None:
    hub = ui.get("")
    assert hub.status_code == 200 and ui.title in hub.text
    assert ui.get("index.html").text == hub.text
    policy = hub.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "unsafe-eval" not in policy
    report = ui.get(f"{NIGHTLY}/index.html")
    assert report.content == (ui.runs / NIGHTLY / "index.html").read_bytes()
    assert report.headers["Content-Type"] == "text/html; charset=utf-8"
    assert report.headers["Content-Security-Policy"] == "sandbox allow-scripts allow-downloads"
    assert report.headers["X-Content-Type-Options"] == "nosniff"
    assert ui.get(f"{NIGHTLY}/summary.json").json()["run"] == run_id(1)


@pytest.mark.slow
def test_a_dag_run_leads_to_its_report(ui: Served) -> None:
    answer = ui.get(ui.of_dag_run)
    assert answer.status_code == 307
    run = f"{ui.study.name}/{ui.study.run.id}"
    assert answer.headers["Location"] == f"{run}/report/index.html"
    missing = ui.get(f"dag-run?dag_id={ui.study.dag}&run_id=none")
    assert missing.status_code == 404 and "opened no run of a study" in missing.text
    assert ui.get(f"dag-run?dag_id={ui.study.dag}").status_code == 422


@pytest.mark.slow
def test_a_run_without_a_report_shows_its_state(ui: Served) -> None:
    run = ui.study.run
    report = run.root / "report" / "index.html"
    aside = report.rename(report.with_suffix(".aside"))
    try:
        answer = ui.get(ui.of_dag_run)
    finally:
        aside.rename(report)
    assert answer.status_code == 404
    assert f"Run {run.id} of study {ui.study.name}: ok, 4 of 4 trials done." in answer.text


@pytest.mark.slow
def test_nothing_outside_the_reports_can_be_read(ui: Served) -> None:
    """The paths as they are, with dots and slashes encoded once, and twice."""
    read = []
    for path in outside(ui.runs):
        plain = quote(path.encode("utf-8", "surrogateescape"), safe="/.")
        once = quote(plain, safe="%").replace(".", "%2e").replace("/", "%2f")
        for written in (plain, once, once.replace("%", "%25"), plain.replace("../", "..;/")):
            code, body = ui.raw(f"/density-study/{written}")
            if code == 200 or b"secret" in body:
                read.append((written, code, body[:80]))
    # "//index.html" and "./index.html" may be tidied up by the server: the hub is no secret
    assert [one for one in read if b"secret" in one[2] or b"root:" in one[2]] == []
    assert [one[0] for one in read] == []


@pytest.fixture
def links_beside(ui: Served) -> Iterator[list[str]]:
    """Paths through the links of the unit test, around a run made for them."""
    runs = ui.runs
    (runs.parent / "secret").mkdir()
    (runs.parent / "secret" / "index.html").write_text("secret")
    (runs / "quickstart/20261120T201530Z/report").mkdir(parents=True)
    (runs / "quickstart/20261120T201530Z/report/index.html").write_text("a report")
    yield list(links(runs).values())
    (runs / "other").unlink()
    for folder in (runs / "quickstart", runs.parent / "secret", runs.parent / "stolen"):
        shutil.rmtree(folder)


@pytest.mark.slow
def test_links_lead_nowhere(ui: Served, links_beside: list[str]) -> None:
    for path in links_beside:
        assert ui.get(path).status_code == 404, path


def test_rights_of_a_reader_who_may_read_one_dag(tmp_path: Path) -> None:
    furnish(tmp_path / "airflow")
    argv = [sys.executable, "-m", "tests.dag.plugin.rights_scenario", str(tmp_path)]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert json.loads(ended.stdout.splitlines()[-1]) == {
        "hub": 403,
        "hub, naming the DAG": 403,
        "report": 200,
        "no report of mine": 404,
        "report of another DAG": 403,
        "report of another DAG, naming mine": 403,
        "report of another DAG, whose journal names mine": 403,
        "no report of another DAG": 403,
        "no report of no DAG": 403,
        "no path of a report": 403,
        "my DAG run": 307,
        "another DAG run": 403,
        "a DAG run without a run": 404,
        "a DAG run that another study's journal names": 404,
        "login": "/api/v2/auth/login?next=%2Fa%2Fb%3Fc%3Dd",
    }


@pytest.mark.slow
def test_the_report_opens_in_the_dag_run(page: Page, ui: Served) -> None:
    page.goto(f"{ui.base}/dags/{ui.study.dag}/runs/{quote(ui.dag_run)}")
    page.locator("a[title=Report]").click()
    report = page.frame_locator("iframe[title=Report]")
    expect(report.locator("body")).to_have_text("a report")


@pytest.mark.slow
def test_the_hub_opens_in_the_ui_and_leads_to_reports(page: Page, ui: Served) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{ui.base}/plugin/density-study")
    frame = page.frame_locator("iframe[title='Study results']")
    expect(frame.get_by_role("heading", level=1)).to_have_text(ui.title)
    frame.locator("#study-nightly").get_by_role("link", name=run_id(1)).click()
    expect(frame.get_by_role("heading", level=1)).to_contain_text(HEADLINE)
    (inner,) = (one for one in page.frames if one.url.endswith(f"{NIGHTLY}/index.html"))
    assert inner.evaluate("origin") == "null", "a report cannot act with the reader's login"
    assert inner.evaluate("document.documentElement.dataset.charts") in ("drawn", None)
    sent = "fetch('/api/v2/dags', {credentials: 'include'}).then(r => r.status, () => 'refused')"
    assert inner.evaluate(sent) == "refused"
    assert errors == []


@pytest.mark.slow
def test_a_page_that_the_frame_cannot_show_says_so(page: Page, ui: Served) -> None:
    page.goto(f"{ui.base}/plugin/density-study")
    frame = page.frame_locator("iframe[title='Study results']")
    frame.locator("#study-nightly").get_by_role("link", name=run_id(2)).click()
    expect(frame.get_by_role("heading", level=1)).to_contain_text(HEADLINE)
    (inner,) = (one for one in page.frames if one.url.endswith("report/index.html"))
    inner.evaluate("location.href = 'data_docs/index.html'")
    expect(frame.get_by_role("heading", level=1)).to_have_text("In a tab of its own")
    page.goto(f"{ui.base}/density-study/nightly/{run_id(2)}/report/data_docs/index.html")
    expect(page.get_by_role("link")).to_have_text("other")
