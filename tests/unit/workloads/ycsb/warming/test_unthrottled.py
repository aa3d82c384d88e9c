"""Compactions run without their limit while a large table settles, and the limit is put back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from density_study.cluster.model.configuration import Configuration
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.render.conf_files import configuration_xml
from density_study.workloads.ycsb.loading import COMPACTION_BOUND
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming import unthrottled as module
from density_study.workloads.ycsb.warming.unthrottled import (
    is_worth_it,
    put_limit_back,
    unthrottled,
    without_limit,
)
from tests.support.topologies import local, with_variant

RUN: Any = {"mix": "c", "threads": 1, "duration_s": 10.0}
SITE = configuration_xml({"hbase.rootdir": "hdfs://h/hbase", "hbase.a": "1"})


def bound(text: str) -> str:
    root = ET.fromstring(text)
    found = {one.findtext("name", ""): one.findtext("value", "") for one in root}
    assert found["hbase.rootdir"] == "hdfs://h/hbase"
    return found.get("hbase.hstore.compaction.throughput.higher.bound", "")


def test_nothing_but_the_bounds_changes() -> None:
    assert bound(SITE) == "" and int(bound(without_limit(SITE))) > 2**39


def test_small_tables_and_other_peoples_clusters_keep_the_limit() -> None:
    def worth(records: int) -> bool:
        return is_worth_it(local(), YcsbTestCase(**RUN, records=records))

    assert not worth(1_000_000)
    assert worth(100_000_000)


def test_a_limit_of_the_study_counts_and_so_does_its_time() -> None:
    own = Configuration({"hbase-site": {COMPACTION_BOUND: str(2**20)}})
    slow, case = with_variant(local(), configuration=own), YcsbTestCase(**RUN, records=200_000)
    assert is_worth_it(slow, case) and not is_worth_it(local(), case)
    assert case.limited_compaction_s(slow) == pytest.approx(50 * case.limited_compaction_s(local()))


class _Context:
    def __init__(self, folder: Path) -> None:
        topology = local()
        self.put_texts: list[tuple[str, str]] = []
        self.transport = self
        site = SimpleNamespace(root=folder, tag="s/r/b")
        self.cluster = SimpleNamespace(
            topology=topology, built=topology, site=site, processes=(), phases=()
        )
        for worker in topology.workers:
            path = folder / "conf" / "nodes" / worker.name / module.FILE
            path.parent.mkdir(parents=True)
            path.write_text(SITE)

    def put(self, node: Node, text: str, _: Path) -> None:
        self.put_texts.append((node.name, bound(text)))


@pytest.mark.parametrize("fails", [False, True])
def test_the_limit_is_put_back_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    context: Any = _Context(tmp_path)
    tools: list[str] = []
    monkeypatch.setattr(module, "table_tool", lambda _, name, *__: tools.append(name))
    try:
        with unthrottled(context):
            assert [bool(limit) for _, limit in context.put_texts] == [True, True]
            if fails:
                raise StudyError("not settled", "here", "wait")
    except StudyError as error:
        assert fails and error.what == "not settled"
    assert context.put_texts[2:] == [("w1", ""), ("w2", "")]
    assert tools == ["without-limit", "with-limit"]


def test_a_limit_that_was_lifted_on_some_servers_is_put_back_before_the_next_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A RegionServer does not answer: the others compacted without a limit for the rest of the build."""
    context: Any = _Context(tmp_path)
    tools, works = list[str](), {"without-limit": False, "with-limit": False}

    def tool(_: object, name: str, *__: object) -> None:
        tools.append(name)
        if not works[name]:
            raise StudyError("w2 does not answer.", "here", "wait")

    monkeypatch.setattr(module, "table_tool", tool)
    why = "could not be put back: w2 does not answer"
    with pytest.raises(StudyError, match=why), unthrottled(context):
        pytest.fail("nothing settles with a limit")
    with pytest.raises(StudyError, match="could not be put back"):
        put_limit_back(context)
    assert [bool(limit) for _, limit in context.put_texts] == [True, True, *[False] * 4]
    works["with-limit"] = True
    put_limit_back(context)
    put_limit_back(context)  # nothing is left to do
    assert tools == ["without-limit", *["with-limit"] * 3]
