"""A density study in containers, from the command to the report; and what becomes of it when it is killed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.live.support.command import left_of, run_of, study, study_run, wait_for
from tests.live.support.containers import on_this_machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
SPEC = Path(__file__).with_name("containers.yaml")


@dataclass(frozen=True)
class Finished:
    """A finished run, and what it left on this machine."""

    run: Path
    records: dict[str, Manifest]
    summary: dict[str, Any]
    page: str
    left: set[str]

    def metrics(self, trial: str, name: str) -> dict[str | None, float]:
        """By scope."""
        (found,) = (one for one in self.summary["trials"] if one["trial"] == trial)
        return {m["scope"]: m["value"] for m in found["metrics"] if m["name"] == name}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    before = on_this_machine()
    run = run_of(tmp_path_factory.mktemp("runs"), SPEC, timeout_s=1500)
    return Finished(
        run,
        closed_records(run / "records"),
        json.loads((run / "report" / "summary.json").read_text()),
        (run / "report" / "index.html").read_text(),
        on_this_machine() - before,
    )


def test_every_record_says_that_nodes_are_containers(finished: Finished) -> None:
    assert len(finished.records) == 8
    assert {(m.state, m.isolation) for m in finished.records.values()} == {
        ("complete", "container")
    }
    disclosed = next(iter(finished.records.values())).disclosure
    assert disclosed["provider"] == "container"
    assert disclosed["containers"]["runc"].startswith("runc version 1")
    assert (finished.summary["provider"], finished.summary["isolation"]) == ("container",) * 2


def test_writes_are_written_out_and_reads_have_a_distance(finished: Finished) -> None:
    """Containers have addresses of their own, and one host: what is not local is from the same rack."""
    of = {name: m for name, m in finished.records.items() if "testdfsio" in name}
    for name, manifest in of.items():
        if "write" in name:
            unwritten = manifest.state_after["unwritten"]
            assert unwritten["bytes"] >= 0 and 0 <= unwritten["write_out_s"] < 120
            assert finished.metrics(name, "rate_to_disk")[None] > 0
            continue
        read = manifest.state_after["hdfs_read"]
        assert read["local"] + read["rack"] == read["sent"] > 0 and read["remote"] == 0
        if manifest.topology.variant.vms_per_host == 1:
            # the job's client reads a file of results, from the machine that the container is on
            assert read["rack"] < 0.001 * read["sent"]
        assert finished.metrics(name, "hdfs_read_remote") == {None: 0.0}


def test_the_report_calls_nodes_containers(finished: Finished) -> None:
    assert "Containers per host" in finished.page
    assert "containers, not VMs" in finished.page
    assert "VMs per host" not in finished.page


def test_both_counts_of_a_containers_cpu_agree(finished: Finished) -> None:
    """The kernel's for the container's cgroup, and ours of the processes in it. Only the kernel's includes
    the ramp-up, in which the daemons and the client still compile."""
    for name, manifest in finished.records.items():
        used = finished.metrics(name, "cpu_used")
        cores = manifest.topology.hosts[0].cores
        assert cores and manifest.guests
        for guest in manifest.guests:
            seconds = guest.to_epoch_s - guest.from_epoch_s
            scope = "client" if guest.node == "c1" else f"node:{guest.node}"
            percent = 100 * guest.cpu_s / (seconds * cores)
            points = 12 if manifest.test_case.cut_s else 6
            assert used[scope] == pytest.approx(percent, abs=points), (name, scope)


def test_throttled_time_is_a_metric_of_every_container(finished: Finished) -> None:
    for name, manifest in finished.records.items():
        throttled = finished.metrics(name, "cpu_throttled")
        nodes = {node.name for node in manifest.topology.nodes} - {"c1"}
        assert set(throttled) == {"client", *(f"node:{node}" for node in nodes)}
        assert throttled["client"] == 0  # only workers have a quota
        assert all(0 <= percent < 100 for percent in throttled.values())


def test_nothing_is_left(finished: Finished) -> None:
    assert left_of(finished.run) == []
    assert finished.left == set()
    assert not list(finished.run.parents[1].glob("density-study/**/blk_*"))


def test_reap_cleans_up_after_kill_9(tmp_path: Path) -> None:
    before = on_this_machine()
    with study_run(tmp_path, spec=SPEC) as child:
        run = wait_for(tmp_path, lambda entry: entry.get("state") == "running", 600)
        child.kill()
        child.communicate()
        assert left_of(run) != [] and on_this_machine() > before
        reaped = study("reap", "--runs", str(tmp_path), runs=tmp_path)
        assert reaped.returncode == 0, reaped.stderr
        assert "network namespace study-" in reaped.stdout
        assert left_of(run) == [] and on_this_machine() == before
        assert [m.state for m in closed_records(run / "records").values()] == ["incomplete"]
        assert study("reap", "--runs", str(tmp_path), runs=tmp_path).returncode == 0
