"""Packets of containers follow their reader, and the machine's table of flows goes back to what it was.

Daemons are fakes that sleep (`tests.live.support.killed`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle import network_proof
from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.machine.network_link import check_kernel
from density_study.cluster.machine.packet_cpus import FLOW_TABLE
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.network import Network
from density_study.cluster.state.journal import Journal
from tests.live.network.measured_networks import made, measured
from tests.live.support.containers import on_this_machine

_ABLE = (
    os.geteuid() == 0
    and shutil.which("runc", path="/usr/sbin:/usr/bin") is not None
    and len(os.sched_getaffinity(0)) > 1
    and FLOW_TABLE.exists()
)
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not _ABLE, reason="needs root, runc, two CPUs and RFS in the kernel"),
]
FOLLOWS = Network(rfs=4096)
SPEC = """
study: killed-flows
provider: container
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: DISK}]}]
containers: {network: 198.18.45.0/28}
factors: {vms_per_host: [2], network: [{rfs: 4096}]}
stack: {base_port: 24000}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""


@pytest.fixture(autouse=True)
def table_is_put_back() -> Iterator[None]:
    assert FLOW_TABLE.read_text().strip() == "0", "this machine steers flows already"
    yield
    assert FLOW_TABLE.read_text().strip() == "0"


def test_packets_follow_their_reader_from_cpu_to_cpu(tmp_path: Path) -> None:
    with made(tmp_path, FOLLOWS) as up:
        assert FLOW_TABLE.read_text().strip() == "4096"
        found = measured(up)["followed"]
    assert found["holds"] is True and found["measured"] >= 90.0


def test_packets_that_are_not_steered_stay_with_their_sender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_proof, "_ATTEMPTS", 1)
    with made(tmp_path, Network()) as up:
        found = measured(up, FOLLOWS)["followed"]
    assert found["holds"] is False and found["measured"] <= 20.0


def test_a_table_that_another_program_uses_is_refused() -> None:
    FLOW_TABLE.write_text("1024")
    try:
        with pytest.raises(InputError, match="is 1024: another program uses"):
            check_kernel(FOLLOWS.declared())
    finally:
        FLOW_TABLE.write_text("0")


@pytest.mark.parametrize("kind", ["intent set-flow-table", "phase network"])
def test_reap_puts_the_table_back_after_kill_9(runtime: None, tmp_path: Path, kind: str) -> None:
    (tmp_path / "disk").mkdir()
    spec, runs, before = tmp_path / "spec.yaml", tmp_path / "runs", on_this_machine()
    spec.write_text(SPEC.replace("DISK", str(tmp_path / "disk")))
    argv = [sys.executable, "-m", "tests.live.support.killed", str(spec), str(runs), kind]
    assert subprocess.run(argv, check=False, timeout=200).returncode == -9
    if kind == "phase network":
        assert FLOW_TABLE.read_text().strip() == "4096"
    assert reap(runs).reaped != ()
    assert FLOW_TABLE.read_text().strip() == "0"
    assert on_this_machine() == before
    (journal,) = runs.glob("*/*/journal.jsonl")
    (intent,) = Journal(journal).intents("set-flow-table")
    assert intent.former == {str(FLOW_TABLE): "0"}
    assert reap(runs).reaped == ()
