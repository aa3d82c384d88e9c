"""After a fault, every acknowledged insert is asked for by its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.journal import Journal
from density_study.workloads.base.fault import Fault
from density_study.workloads.base.workload import RecordFolder, TrialContext
from density_study.workloads.ycsb.fault_under_load import injection
from density_study.workloads.ycsb.fault_under_load.injection import rows_after
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.topologies import local

TEST_CASE = YcsbTestCase(
    mix="d", records=1000, threads=4, clients=2, duration_s=60, target_ops_s=100.0,
    fault=Fault(kill="node", at_s=9),
)  # fmt: skip


class Transport:
    def __init__(self) -> None:
        self.numbers = ""

    def put(self, _: Any, text: str, path: Path) -> None:
        assert path.name == "acknowledged.txt"
        self.numbers = text

    def at(self, _: Any, path: Path) -> Path:
        return path


class Cluster:
    topology = local()


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrialContext:
    raw = tmp_path / "raw"
    raw.mkdir()
    for number, (inserted, lines) in enumerate(
        ((4, "1000 1004 2\n1010 1010 2\n"), (2, "1001 1003 2\n")), start=1
    ):
        head = "[OVERALL], RunTime(ms), 9\n[OVERALL], Throughput(ops/sec), 9\n"
        counts = (
            f"[READ], Return=OK, 90\n[INSERT], Return=OK, {inserted}\n[INSERT], Return=ERROR, 7\n"
        )
        (raw / f"ycsb-{number}.out").write_text(head + counts)
        (raw / f"ycsb-{number}-inserts.txt").write_text(lines)

    def tool(_: Any, name: str, verb: tuple[str, ...], more_s: float) -> list[dict[str, Any]]:
        (tmp_path / "verb.json").write_text(json.dumps([name, verb, more_s]))
        return [{"asked": 1006, "found": 1004, "lost": ["user1", "user2"]}]

    monkeypatch.setattr(injection, "table_tool", tool)
    cluster: Any = Cluster()
    transport: Any = Transport()
    return TrialContext(
        cluster, transport, RecordFolder(tmp_path), Journal(tmp_path / "journal.jsonl")
    )


def test_loaded_and_acknowledged_rows_of_all_clients_are_read_back(
    context: TrialContext, tmp_path: Path
) -> None:
    assert rows_after(context, TEST_CASE) == {
        "acknowledged": 1006,
        "found": 1004,
        "lost_keys": ["user1", "user2"],
    }
    assert context.transport.numbers.splitlines() == [  # type: ignore[attr-defined]
        "0 999 1", "1000 1004 2", "1010 1010 2", "1001 1003 2"
    ]  # fmt: skip
    name, verb, more_s = json.loads((tmp_path / "verb.json").read_text())
    assert (name, verb[0], verb[-1]) == (
        "rows-after",
        "read-back",
        str(tmp_path / "logs/acknowledged.txt"),
    )
    assert more_s == pytest.approx(1.006)


def test_ordered_keys_are_asked_for_in_their_form(context: TrialContext, tmp_path: Path) -> None:
    rows_after(context, TEST_CASE.model_copy(update={"insert_order": "ordered"}))
    assert json.loads((tmp_path / "verb.json").read_text())[1][-2:] == ["--digits", "10"]


def test_a_log_that_does_not_agree_with_the_summary_is_no_proof(
    context: TrialContext, tmp_path: Path
) -> None:
    log = tmp_path / "raw" / "ycsb-1-inserts.txt"
    log.write_text("1000 1004 2\n")
    with pytest.raises(StudyError, match="3 acknowledged inserts, the summary 4"):
        rows_after(context, TEST_CASE)
    log.unlink()
    with pytest.raises(StudyError, match=r"inserts\.txt"):
        rows_after(context, TEST_CASE)


def test_only_clients_of_a_fault_log_their_inserts() -> None:
    for number in (1, 2):
        words = client_arguments(TEST_CASE, "/r/ycsb-", number)
        assert "inserts.log=/r/ycsb-inserts.txt" in words
        assert f"client.number={number - 1}" in words
    alone = TEST_CASE.model_copy(update={"clients": 1})
    assert "inserts.log=/r/ycsb-inserts.txt" in client_arguments(alone, "/r/ycsb-")
    usual = alone.model_copy(update={"fault": None})
    assert not [word for word in client_arguments(usual, "/r/ycsb-") if "client." in word]
