"""Flame graphs of our own records are linked from the report; nothing else that a record names is."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.explanation import flame_differences
from density_study.analysis.report.charts import figure
from density_study.analysis.report.page import render
from density_study.analysis.summarise.summarise import _flame_graphs
from density_study.analysis.summary.summary import FlameGraph
from density_study.analysis.summary.why import Explanation
from density_study.workloads.base.values import MonitorRun
from density_study.workloads.execution import jvm_recordings
from tests.support.drafts import draft
from tests.support.summary_factory import FACTORIES

FILES = (
    "monitor/h1.profile.w1.regionserver-1.jfr",
    "monitor/h1.profile.w1.regionserver-1.cpu.html",
    "monitor/h1.profile.w1.regionserver-1.lock.html",
    "monitor/../../x.profile.w1.cpu.html",
    "raw/evil.html",
)


def graphs(**changes: Any) -> list[FlameGraph]:
    run = MonitorRun(kind="profile", host="h1", file="monitor/h1.profile.csv", period_s=1,
                     started_epoch_s=0, stopped_epoch_s=1, files=FILES)  # fmt: skip
    return list(_flame_graphs([draft("t1").model_copy(update={"monitors": (run,), **changes})]))


def test_each_profile_has_a_link() -> None:
    assert [(one.source, one.kind, one.file) for one in graphs()] == [
        (
            "w1.regionserver-1",
            kind,
            f"../records/t1/monitor/h1.profile.w1.regionserver-1.{kind}.html",
        )
        for kind in ("cpu", "lock")
    ]


def test_a_page_that_others_made_is_not_linked() -> None:
    assert graphs(imported=object()) == []


def test_variants_are_compared_over_all_their_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[list[str], list[str]]] = []

    def difference(first: Sequence[Path], later: Sequence[Path], page: Path) -> bool:
        drawn.append(([p.parents[1].name for p in first], [p.parents[1].name for p in later]))
        return True

    monkeypatch.setattr(flame_differences, "difference", difference)
    monkeypatch.setattr(flame_differences, "refusal", lambda _: "")
    summary = FACTORIES["one"]()
    one = summary.trials[0]
    trials = tuple(
        one.model_copy(
            update={"trial": f"t{n}", "topology": name, "test_case": "c", "counted": n < 4}
        )
        for n, name in enumerate(("a", "b", "a", "b", "b"))
    )
    pair = Explanation(
        test_case="c", first="a", later="b", rate=1.0, moved=(), equal=(), compared=1, sentence="x"
    )
    summary = summary.model_copy(update={"trials": trials, "explanations": (pair,)})
    run = MonitorRun(kind="profile", host="h1", file="monitor/h1.profile.csv", period_s=1,
                     started_epoch_s=0, stopped_epoch_s=1,
                     files=(*FILES, "monitor/h1.profile.w1.datanode.jfr"))  # fmt: skip
    manifests = [draft(f"t{n}").model_copy(update={"monitors": (run,)}) for n in range(5)]
    pages = list(flame_differences.flame_differences(tmp_path, manifests, summary))
    assert drawn == [(["t0", "t2"], ["t1", "t3"])] * 2  # of t4 no number counts
    assert [(page.trial, page.source) for page in pages] == [
        ("t1", f"each {kind}, compared with a") for kind in ("datanode", "regionserver")
    ]
    monkeypatch.setattr(flame_differences, "refusal", lambda _: "it is a stranger's")
    assert list(flame_differences.flame_differences(tmp_path, manifests, summary)) == []


NAMES = ("</script><img src=x>", "<!--<script>", "d\\'e\\\\", "a\n</script>\r", "<", "x\n\\'")
PAGE = "<script>\nconst cpool = [\n'all',\n%s\n];\nunpack(cpool);\n\nn(3,12)\n</script></body></html>\n"


def test_no_name_of_a_class_ends_the_script_of_a_flame_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The converter of async-profiler 4.5 escapes quotes and backslashes of names, and nothing else."""
    text = PAGE % ",\n".join(f"' {name}'" for name in NAMES)

    def converted(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        Path(command[-1]).write_bytes(text.encode())
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(jvm_recordings.subprocess, "run", converted)
    monkeypatch.setattr(jvm_recordings, "profiler_jar", lambda: tmp_path / "x.jar")
    pages = list(jvm_recordings.flame_graphs(tmp_path / "h1.jfr"))
    assert len(pages) == 2
    shown = pages[0].read_text("utf-8")
    assert shown.count("<") == 4 and shown.index("</script>") > shown.index("n(3,12)")
    pool = shown.split("[\n")[1].split("\n];")[0].split(",\n")
    read = [one[2:-1].encode().decode("unicode_escape") for one in pool[1:]]
    assert read == [name.replace("\\'", "'").replace("\\\\", "\\") for name in NAMES]
    text = text.replace("unpack", "unfold")  # of another version
    assert list(jvm_recordings.flame_graphs(tmp_path / "h2.jfr")) == []
    assert not list(tmp_path.glob("h2*"))


def test_the_report_links_them_by_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure.Panel, "svg", "<svg></svg>")  # most of a page's time
    summary = FACTORIES["one"]()
    page = FlameGraph(
        trial=summary.trials[0].trial, source="w1.a", kind="cpu", file="../records/t/x.html"
    )
    assert '<a href="../records/t/x.html">CPU of w1.a</a>' in render(
        summary.model_copy(update={"flame_graphs": (page,)})
    )
    assert "Flame graphs" not in render(summary)
