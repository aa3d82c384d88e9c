"""Records of a rehearsal: what real readers make of them, and the laws that they obey."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.cluster.providers.simulated.provider import clock_of
from density_study.cluster.state.events import BuildDestroyed, Event
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.dags.stages.rehearsal import Foreseen, perform, rehearsal_of, rehearsed_plan
from density_study.workloads.execution.run import load_run
from density_study.workloads.execution.steps import what_is_left
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.rows.raw.manifest_rows import network_row
from density_study.workloads.study.shipped import study_path
from density_study.workloads.study.study_file import parse_study, read_study
from density_study.workloads.testdfsio.output.history import parse_history
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.ycsb.output.interval_log import parse_hdr
from density_study.workloads.ycsb.output.status import parse_status
from density_study.workloads.ycsb.output.summary import parse_summary

STUDY = """\
study: rehearsed
provider: physical
ssh: {user: nobody}
hosts:
  - {name: m, address: 192.0.2.1, cores: 4, memory: 16 GiB, roles: [master, client]}
  - &worker {name: w1, address: 192.0.2.2, cores: 8, memory: 16 GiB, roles: [worker],
     disks: [{path: /data/1, disk_type: hdd}, {path: /data/2, disk_type: flash}]}
  - {<<: *worker, name: w2, address: 192.0.2.3}
factors: {vms_per_host: [0], disk_type: [hdd, flash]}
stack: {replication: 2}
workloads:
  - testdfsio: {modes: [write, random], files: 8, file_size: 128 MiB, read_size: 1 MiB}
  - ycsb:
      records: [200000]
      mixes: [load, read45-insert55]
      threads: [16]
      latency_at: [50%, 90000/s]
      duration: 60 s
      warm_up: 10 s
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rehearsals")
    file = parse_study(STUDY, "rehearsed.yaml", {})
    plan = rehearsed_plan(file, folder)
    return perform(Foreseen(file, plan, rehearsal_of(plan, Effects(), Noise(), 1), 0), folder)


@pytest.fixture(scope="module")
def records(root: Path) -> dict[str, Manifest]:
    return closed_records(root / "records")


def test_every_trial_of_the_plan_is_complete(root: Path, records: dict[str, Manifest]) -> None:
    run = load_run(root)
    assert {step.trial for step in run.plan.trials} == set(records)
    assert {(one.state, one.reasons) for one in records.values()} == {("complete", ())}
    assert not what_is_left(run)
    assert {one.build for one in run.journal.events(BuildDestroyed)} == set(run.plan.builds)


def test_no_record_is_looked_at_that_the_journal_knows(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each step of a long study costs more than the last."""
    looked: list[Path] = []
    for module in ("record.record", "execution.steps"):
        name = f"density_study.workloads.{module}.is_closed"
        monkeypatch.setattr(name, lambda path: bool(looked.append(path)) or True, raising=False)
    assert not what_is_left(load_run(root))
    assert looked == []


def test_the_journal_goes_by_simulated_time(root: Path, records: dict[str, Manifest]) -> None:
    times = [event.t for event in Journal(root / JOURNAL).events(Event)]
    assert times == sorted(times)
    assert times[-1] - times[0] > sum(sum(one.times_s.values()) for one in records.values())


def test_real_readers_understand_every_file(root: Path, records: dict[str, Manifest]) -> None:
    parsers = {
        ".hdr": parse_hdr,
        ".err": parse_status,
        ".out": parse_summary,
        ".jhist": parse_history,
    }
    seen = 0
    for trial in records:
        for path in (root / "records" / trial / "raw").rglob("*"):
            if path.is_file() and path.suffix in parsers and path.stat().st_size:
                parsed = parsers[path.suffix](path.read_bytes(), path.name)
                seen += 1
                assert not getattr(parsed, "quarantined", ()), path
        for path in (root / "records" / trial / "monitor").glob("*.dool.csv"):
            parsed = parse_dool(path.read_bytes(), path.name)
            assert not parsed.quarantined
            shares = [
                row.cpu_idle + row.cpu_user + row.cpu_system + row.cpu_iowait for row in parsed.rows
            ]
            assert shares == pytest.approx([100.0] * len(shares), abs=0.01)
    assert seen > 20


def test_littles_law_holds_in_the_records(root: Path, records: dict[str, Manifest]) -> None:
    """N = X (R + Z): the time of all threads is in the logs, second by second."""
    laws = ("is_saturation", "is_load")
    closed = [m for m in records.values() if any(getattr(m.test_case, law, 0) for law in laws)]
    assert len(closed) == 4
    for manifest in closed:
        raw = root / "records" / manifest.trial / "raw"
        spent_s, lasted_s = 0.0, 0.0
        for name in (
            ("INSERT", "THINK") if manifest.test_case.is_load else ("READ", "INSERT", "THINK")
        ):
            rows = parse_hdr((raw / f"ycsb-1-{name}.hdr").read_bytes(), f"ycsb-1-{name}.hdr").rows
            lasted_s = sum(row.length_s for row in rows)
            for row in rows:
                spent_s += sum(value * count for value, count in row.histogram().counts) / 1e6
        assert spent_s / lasted_s == pytest.approx(manifest.test_case.threads, rel=0.01)


def test_a_network_that_is_declared_holds(tmp_path: Path) -> None:
    file = read_study(study_path(Path("network")), {"repetitions": 1})
    plan = rehearsed_plan(file, tmp_path)
    root = perform(Foreseen(file, plan, rehearsal_of(plan, Effects(), Noise(), 1), 0), tmp_path)
    rows = [network_row(one) for one in closed_records(root / "records").values()]
    assert [row["network_broken"] for row in rows] == [0] * 12
    assert "rate 100 Mbit/s, 100 declared" in {row["network_seen"] for row in rows}


def test_random_reads_are_faster_from_flash(root: Path, records: dict[str, Manifest]) -> None:
    rates = {
        manifest.topology.variant.disk_type: parse_io_part(
            (root / "records" / trial / "raw/io/part-00000").read_bytes(), "part-00000"
        )
        .rows[0]
        .throughput_per_stream_mib_s
        for trial, manifest in records.items()
        if manifest.test_case_id == "testdfsio-random-n8"
    }
    assert rates["flash"] > 1.5 * rates["hdd"]


def test_operations_wait_where_the_model_cannot_carry_the_rate(
    root: Path, records: dict[str, Manifest]
) -> None:
    for percent, waits in (("at50pct", False), ("at90000ps", True)):
        trials = [name for name, one in records.items() if one.test_case_id.endswith(percent)]
        assert len(trials) == 2
        for trial in trials:
            slowest_us = [
                max(row.max_us for row in parse_hdr((root / "records" / trial / "raw" / file).read_bytes(),
                                                    file).rows)
                for file in ("ycsb-1-READ.hdr", "ycsb-1-Intended-READ.hdr")
            ]  # fmt: skip
            assert (slowest_us[1] > 100 * slowest_us[0]) == waits


def test_a_simulated_cluster_runs_no_study_in_real_time(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="a study cannot run on a simulated cluster"):
        clock_of(Journal(tmp_path / JOURNAL))
