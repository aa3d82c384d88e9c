"""From a manifest to rows, and to the expected files of its record. No Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.workloads import tables
from density_study.workloads.base.values import GuestCpu, Turns
from density_study.workloads.monitors.devices import devices
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.raw.manifest_rows import (
    bring_up_rows,
    client_rows,
    manifests_of,
    monitor_rows,
    node_rows,
    trial_row,
)
from density_study.workloads.rows.raw.raw_files import RawFile, raw_files
from density_study.workloads.rows.raw.readers import READERS, read
from density_study.workloads.rows.raw.trial_context import TrialFacts
from tests.support.records.factory import RUN, RunFactory

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Manifest, ...]]:
    factory = RunFactory(tmp_path_factory.mktemp("study") / RUN)
    factory.dfsio("b1-v1-flash", "read")
    load = factory.ycsb("b1-v2-flash", "load", seconds=2, rate=20)
    load.clock_offset_s = load.measured_clock_s = 0.25
    factory.ycsb("b1-v2-flash", seconds=2, rate=20).state = "incomplete"
    root = factory.close()
    return root, manifests_of(root)


def test_a_trials_row_has_the_declared_columns(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    for manifest in run[1]:
        assert set(trial_row(manifest)) <= set(tables.TRIALS.column_names)


def test_a_trials_row_is_flat(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    row = trial_row(run[1][0])
    assert (row["workload"], row["mode"], row["files"], row["warm_up_s"]) == (
        "testdfsio",
        "read",
        6,
        0.0,
    )
    assert (row["topology"], row["vms_per_host"], row["workers"]) == ("v1-flash", 1, 1)
    assert (row["window_start_epoch_s"], row["rested_s"]) == (run[1][0].window.start_epoch_s, None)
    assert trial_row(run[1][2])["window_start_epoch_s"] is None


def test_a_trial_in_turns_rests_until_the_first_one_and_in_those_of_the_other(
    run: tuple[Path, tuple[Manifest, ...]],
) -> None:
    turns = Turns(beside="t", own=((1e9 + 4, 1e9 + 8), (1e9 + 8, 1e9 + 12)))
    assert trial_row(run[1][1].model_copy(update={"turns": turns}))["rested_s"] == 9.0


def test_the_client_is_a_scope_of_its_own(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    scopes = {row["node"]: row["scope"] for row in node_rows(run[1][1])}
    assert scopes == {"m1": "node:m1", "c1": "client", "w1": "node:w1", "w2": "node:w2"}


def test_a_guest_has_a_share_of_its_hosts_cpu(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    manifest = run[1][1]
    cores = manifest.topology.hosts[0].cores
    assert {row["host_cpu_share_percent"] for row in node_rows(manifest)} == {None}
    guest = GuestCpu(
        node="w1", host="h1", cpu_s=5.0, waited_s=9.0, from_epoch_s=100.0, to_epoch_s=110.0
    )
    reported = {
        row["node"]: row["host_cpu_share_percent"]
        for row in node_rows(manifest.model_copy(update={"guests": (guest,)}))
    }
    assert reported == {"m1": None, "c1": None, "w1": 100.0 * 5.0 / (10.0 * cores), "w2": None}


def test_requested_operations_are_read_from_the_command_line(
    run: tuple[Path, tuple[Manifest, ...]],
) -> None:
    load, dfsio = next(client_rows(run[1][1])), next(client_rows(run[1][0]))
    assert (load["operations_asked"], dfsio["operations_asked"]) == (40, None)


def test_clocks_are_compared_with_the_controllers(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    assert [row["clock_offset_s"] for row in monitor_rows(run[1][1])] == [0.25, 0.25]
    assert next(client_rows(run[1][1]))["clock_offset_s"] == 0.25


def test_a_builds_phases_are_reported_once(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    rows = [(row["build"], row["phase"]) for row in bring_up_rows(run[1])]
    assert rows == [(b, p) for b in ("b1-v1-flash", "b1-v2-flash") for p in ("hdfs", "hbase")]


def test_every_file_has_a_reader_and_gives_rows(run: tuple[Path, tuple[Manifest, ...]]) -> None:
    files = [
        file
        for manifest in run[1]
        for file in raw_files(manifest, run[0] / "records" / manifest.trial)
    ]
    schedule = run[0] / "schedule.csv"  # of a client with one
    schedule.write_text("epoch_ms,piece,operations\n1795200000500,0,10.000\n")
    files.append(RawFile("t", "ycsb-schedule", "ycsb-1", schedule.name, str(schedule)))
    # monitors that no trial has by default
    samples = {"sar": "sar-12.6.1.csv", **{name: f"telemetry-1_{name}.csv" for name in devices()}}
    samples |= {"gc": "gc-1_jdk17.csv", "profile": "telemetry-1_profile.csv"}
    samples |= {name: f"{name}-1.csv" for name in ("stalls", "slowlog", "jfr")}
    samples |= {f"pipeline-{what}": f"pipeline-1_{what}.csv" for what in ("stages", "answers")}
    files += [RawFile("t", kind, "h1", name, str(SAMPLES / name)) for kind, name in samples.items()]
    assert {file.kind for file in files} == set(READERS)
    for file in files:
        rows = list(read(file))
        assert rows, file
        for table, row in rows:
            assert table is not tables.QUARANTINE, (file, row)
            assert set(row) <= set(table.column_names)
            assert row["trial"] == file.trial


def test_missing_files_of_a_complete_record_are_named(tmp_path: Path) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = factory.dfsio("b1-v1-flash", "read")
    root = factory.close()
    (root / "records" / truth.trial / "raw" / "testdfsio.log").unlink()
    (manifest,) = manifests_of(root)
    (lost,) = [
        file for file in raw_files(manifest, root / "records" / manifest.trial) if not file.path
    ]
    ((table, row),) = read(lost)
    assert table is tables.QUARANTINE
    assert (row["kind"], row["line"], row["reason"]) == (
        "dfsio-results",
        0,
        "missing from the record",
    )
    failed = manifest.model_copy(update={"state": "failed"})
    assert all(file.path for file in raw_files(failed, root / "records" / failed.trial))


def test_a_file_of_another_kind_is_one_quarantined_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("hello\n")
    ((table, row),) = read(RawFile("t", "dool", "h", "monitor/x.csv", str(path)))
    assert table is tables.QUARANTINE and "no dstat, dool" in row["reason"]


@pytest.mark.parametrize("change", ({"format": 2}, {"test_case": {}}))
def test_a_manifest_that_cannot_be_read_is_an_error(
    tmp_path: Path, change: dict[str, object]
) -> None:
    factory = RunFactory(tmp_path / RUN)
    factory.dfsio("b1-v1-flash", "read")
    root = factory.close()
    (path,) = root.glob("records/*/manifest.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(StudyError, match=r"format 2|cannot read a manifest"):
        manifests_of(root)


@pytest.mark.parametrize(("prices", "total"), (((0.61, 0.2), 0.81), ((0.61, None), None)))
def test_the_price_covers_all_hosts_with_nodes_or_is_unknown(
    run: tuple[Path, tuple[Manifest, ...]], prices: tuple[float | None, ...], total: float | None
) -> None:
    manifest = run[1][0]
    (host,) = manifest.topology.hosts
    hosts = tuple(replace(host, name=f"h{n}", usd_per_hour=usd) for n, usd in enumerate(prices))
    nodes = tuple(replace(node, host=one.name) for one in hosts for node in manifest.topology.nodes)
    idle = replace(host, name="idle", usd_per_hour=7.0)
    topology = replace(manifest.topology, hosts=(*hosts, idle), nodes=nodes)
    row = trial_row(manifest.model_copy(update={"topology": topology}))
    assert row["usd_per_hour"] == pytest.approx(total)
    assert row["hosts"] == len(hosts), "one without nodes is not used"


def test_local_times_are_read_in_the_monitors_time_zone() -> None:
    sample = SAMPLES / "sar-12.6.1_restart_local.csv"
    facts = TrialFacts(time_zone="Europe/Berlin")
    file = RawFile("t", "sar", "h1", sample.name, str(sample), facts=facts)
    assert next(read(file))[1]["epoch_s"] == 1795425458.0
    assert next(read(replace(file, facts=TrialFacts())))[1]["epoch_s"] is None
