"""`records: [4x memory]`: as many rows as take four times the worker hosts' memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.preflight import disk_need_mib, disks_too_small
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.row import Row
from tests.support.drafts import QUICKSTART

ROWS = "      records: [100000]"
HOST = "{name: b, address: 10.0.0.2, memory: 10 GiB, roles: [client]}"


def text(records: str, extra: str = "") -> str:
    whole = QUICKSTART.read_text()
    assert ROWS in whole
    return whole.replace(ROWS, f"      records: {records}{extra}")


def records(parsed: Study) -> tuple[int, ...]:
    (entry,) = (entry.ycsb for entry in parsed.workloads if entry.ycsb)
    return tuple(entry.records)  # type: ignore[attr-defined]


def test_one_replica_takes_so_many_times_the_memory() -> None:
    (rows,) = records(parse_study(text("[4x memory]"), "q.yaml").study)
    assert rows * Row().stored_mib == pytest.approx(4 * 6144, rel=1e-6)


def test_larger_rows_are_fewer_and_numbers_stay() -> None:
    row = "\n      row: {fields: 1, field_length: 1 KiB}"
    found = records(parse_study(text("[1000, 0.5x memory]", row), "q.yaml").study)
    assert found[0] == 1000
    expected = 0.5 * 6144 / Row(fields=1, field_length="1 KiB").stored_mib  # type: ignore[arg-type]
    assert found[1] == pytest.approx(expected, abs=1)


def test_only_worker_hosts_count() -> None:
    spec = text("[1x memory]").replace("provider: local", "provider: physical")
    spec = spec.replace("127.0.0.1", "10.0.0.1").replace(
        "vms_per_host: [1, 2]", "vms_per_host: [0]"
    )
    spec = spec.replace("hosts:\n", f"ssh: {{user: me}}\nhosts:\n  - {HOST}\n")
    (rows,) = records(parse_study(spec, "q.yaml").study)
    assert rows * Row().stored_mib == pytest.approx(6144, rel=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("memory: 6 GiB", "memory: auto", "needs `memory` of every worker host as a quantity"),
        ("4x memory", "4 x memory", "write a whole number"),
        ("4x memory", "0x memory", "1 or more"),
        ("4x memory", "9999x memory", "YCSB counts in 32 bits"),
    ],
)
def test_faults_are_named(old: str, new: str, message: str) -> None:
    faulty = text("[4x memory]").replace(old, new)
    assert faulty != text("[4x memory]") or old == new
    with pytest.raises(InputError) as caught:
        parse_study(faulty, "q.yaml")
    assert message in str(caught.value)
    assert "workloads[1].ycsb" in str(caught.value)


def test_a_faulty_memory_is_named_by_its_host() -> None:
    with pytest.raises(InputError, match=r"hosts\[0\]\.memory") as caught:
        parse_study(text("[4x memory]").replace("memory: 6 GiB", "memory: 6G"), "q.yaml")
    assert "workloads" not in str(caught.value)


def test_what_cannot_fit_on_the_disks_is_known_before_it_starts(tmp_path: Path) -> None:
    spec = tmp_path / "big.yaml"
    spec.write_text(text("[300x memory]"))
    planned = plan_study(spec, runs=tmp_path / "runs")
    assert disk_need_mib(planned.study) > 300 * 6144
    assert list(disks_too_small(planned.study, planned.plan, tmp_path / "runs"))
