"""What the web UI must not serve of a runs folder: secrets beside it, links and paths that lead there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.hub.files import HUB

RUN = "quickstart/20261120T201530Z"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run with a report, and secrets beside and above it."""
    folder = tmp_path / "runs"
    report = folder / RUN / "report"
    (report / "data_docs").mkdir(parents=True)
    (folder / HUB).write_text("the hub")
    (report / "index.html").write_text("the report")
    (report / "summary.json").write_text("{}")
    (report / "data_docs" / "a b+ü.html").write_text("docs")
    (folder / RUN / "journal.jsonl").write_text("")
    (folder / RUN / "study.yaml").write_text("secret")
    (folder / "secret.html").write_text("secret")
    (tmp_path / "secret.html").write_text("secret")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "index.html").write_text("secret")
    return folder


def outside(runs: Path) -> Iterator[str]:
    secret = str(runs.parent / "secret.html")
    up = "../" * 12
    yield from (
        "secret.html",
        "../secret.html",
        f"{RUN}/report/../study.yaml",
        f"{RUN}/report/../../../secret.html",
        f"{RUN}/report/../../../../secret.html",
        f"{RUN}/report/data_docs/../index.html",
        f"{RUN}/report/./index.html",
        f"{RUN}/report//index.html",
        f"/{RUN}/report/index.html",
        f"{RUN}/report/index.html/",
        f"{RUN}/report/",
        f"{RUN}/report",
        f"{RUN}/study.yaml",
        f"{RUN}/journal.jsonl",
        f"{RUN}/records/t1/report/index.html",
        f"{RUN}/../{RUN}/report/index.html",
        "../runs/index.html",
        "..",
        ".",
        "/",
        "./index.html",
        "/index.html",
        "index.html/",
        "//etc/passwd",
        "/etc/passwd",
        secret,
        f"{RUN}/report/{secret}",
        f"{RUN}/report/{up}etc/passwd",
        f"{RUN}/report/..\\..\\..\\secret.html",
        f"{RUN}\\report\\index.html",
        # decoded once already: what is left of a double encoding is a plain name
        f"{RUN}/report/%2e%2e/%2e%2e/%2e%2e/secret.html",
        f"{RUN}/report/..%2f..%2f..%2fsecret.html",
        f"{RUN}/report/%252e%252e/secret.html",
        f"{RUN}/report/..%c0%af..%c0%afsecret.html",
        f"{RUN}/report/\uff0e\uff0e/\uff0e\uff0e/secret.html",
        f"{RUN}/report/index.html\0.png",
        f"{RUN}/report/\0",
        "index.html\0",
        f"{RUN}/report/{'a' * 300}.html",
        f"{RUN}/report/{'a/' * 3000}index.html",
        f"{RUN}/report/\udcff.html",
        f"{RUN}/report/index.html:stream",
        f"{RUN}/report/index.HTML",
        f"{RUN}/report/~root/index.html",
        f"{RUN}/report/.hidden.html",
        f"{RUN}/report/data_docs",
    )


def links(runs: Path) -> dict[str, str]:
    """Links that lead out, or within, each with a path through it."""
    report, out = runs / RUN / "report", runs.parent / "secret"
    made = {
        report / "out.html": runs.parent / "secret.html",
        report / "folder": out,
        report / "up": Path("../../../.."),
        report / "within.html": Path("index.html"),
        report / "proc": Path("/proc/self"),
        runs / "quickstart" / "elsewhere": out.parent / "stolen",
        runs / "other": out.parent / "stolen",
        runs / "quickstart" / "newest": runs / RUN,
    }
    (out.parent / "stolen" / "report").mkdir(parents=True)
    (out.parent / "stolen" / "report" / "index.html").write_text("secret")
    (out.parent / "stolen" / "r" / "report").mkdir(parents=True)
    (out.parent / "stolen" / "r" / "report" / "index.html").write_text("secret")
    for link, target in made.items():
        link.symlink_to(target)
    return {
        "a file": f"{RUN}/report/out.html",
        "a folder": f"{RUN}/report/folder/index.html",
        "upwards": f"{RUN}/report/up/secret.html",
        "within": f"{RUN}/report/within.html",
        "proc": f"{RUN}/report/proc/environ.html",
        "a run": "quickstart/elsewhere/report/index.html",
        "a study": "other/r/report/index.html",
        "the newest": "quickstart/newest/report/index.html",
    }
