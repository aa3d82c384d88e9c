"""docs/tutorials/size-a-cluster.md, once with the example measurements and once from own hosts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.providers.ssh.options import IDENTITY
from density_study.workloads.tables import TRIALS
from density_study.workloads.tables.store import read_table, write_table
from tests.hosts.fixture import Hosts
from tests.live.support.command import study
from tests.live.support.over_ssh import lab
from tests.live.support.walk import Change, walking

pytestmark = pytest.mark.timeout(1100)
PAGE = "tutorials/size-a-cluster.md"
EXAMPLE_FIT = "study capacity fit --points points.csv -o model.json"
CHECK = "study capacity check model.json --hold-out hosts"
OWN = """\
provider: physical
ssh: {user: study, known_hosts: "KNOWN_HOSTS"}
hosts:
  - {name: control, address: CONTROL, memory: 2400 MiB, roles: [master, client], disks: [{path: /mnt}]}
  - {name: worker1, address: WORKER1, memory: 1920 MiB, roles: [worker], disks: [{path: /mnt}]}
  - {name: worker2, address: WORKER2, memory: 1920 MiB, roles: [worker], disks: [{path: /mnt}]}
"""
SMALL = """\
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 16 MiB, readers: [2]}
  - ycsb: {records: [5_000], mixes: [load, scan95-insert5], threads: [2], duration: 8 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
monitor: {tool: dool, period: 1 s}
repetitions: 1
"""
OF_RUNS = Change(
    "--mix hbase-scan", "--mix scan95-insert5", "a run's groups have the names of mixes, as the page explains"
)  # fmt: skip


def test_with_the_example_measurements(tmp_path: Path) -> None:
    with walking(PAGE, tmp_path) as walk:
        planned = walk.to("study plan")
        assert "18 builds, 288 trials" in planned.words
        own = "the reader has no hosts, and takes the example measurements"
        walk.to(
            EXAMPLE_FIT,
            Change("study doctor", "", own),
            Change("study run", "", own),
            Change("fit capacity-curve", "", own),
        )
        sized = walk.to("study capacity size --genomes-per-day")
        assert "EXAMPLE" in sized.words
        walk.to("")
        assert all("EXAMPLE" in done.output for done in walk.ended if " size " in done.shown)
    assert json.loads((tmp_path / "plan.json").read_text())["kind"] == "plan"
    assert "</html>" in (tmp_path / "plan.html").read_text()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    if os.getuid() != 0:
        pytest.skip("own hosts were not walked: only root makes network namespaces")
    with lab(tmp_path / "lab", ["control", "worker1", "worker2"]) as made:
        yield made


def test_from_own_hosts(hosts: Hosts, tmp_path: Path) -> None:
    folder = tmp_path / "walk"
    folder.mkdir()
    with hosts.inside(), walking(PAGE, folder, **{IDENTITY: str(hosts.identity)}) as walk:
        walk.to("study plan")
        text = (folder / "mine.yaml").read_text()
        own = OWN.replace("KNOWN_HOSTS", str(hosts.known_hosts))
        for name, address in hosts.addresses.items():
            own = own.replace(name.upper(), address)
        only = "its hosts are network namespaces on this machine"
        walk.change(
            "mine.yaml",
            Change(text[text.index("provider:") : text.index("factors:")], own, only),
            Change("vms_per_host: [1, 2]", "vms_per_host: [0]", only),
            Change("hosts: [2, 3, 4]", "hosts: [2]", "each count takes minutes"),
            Change(
                text[text.index("workloads:") : text.index("questions:")],
                SMALL,
                "the namespaces share two cores",
            ),
        )
        walk.to("study doctor")
        walk.to("study run")
        (run,) = folder.glob("runs/capacity-curve/2*")
        assert len(list(run.glob("records/*/manifest.json"))) == 4
        _as_if_measured(folder)
        walk.to("study capacity fit capacity-curve")
        walk.to(
            "study capacity size --genomes-per-day",
            Change(EXAMPLE_FIT, "", "the model is fitted to the run"),
            Change(CHECK, "", "the run has three host counts, and the page says to skip it"),
        )
        walk.to("", OF_RUNS)
        marks = [
            line.split("not measured")[1].split()
            for done in walk.ended if " size " in done.shown
            for line in done.output.splitlines() if "EXAMPLE inputs" in line
        ]  # fmt: skip
        # prices and host types are still those of the example; the model is not
        assert marks and all(mark == ["EXAMPLE", "catalogue", "example"] for mark in marks), marks
    assert json.loads((folder / "plan.json").read_text())["kind"] == "plan"


def _as_if_measured(folder: Path) -> None:
    """A run of the study as the page has it, on two, three and four hosts: its rehearsal, with the name of
    the provider that measures. Namespaces share the cores of one machine, and show each other's work."""
    print(
        "# the run to fit: a rehearsal of the study, as if measured, because there are no four hosts"
    )
    rehearsed = study(
        *("rehearse", "capacity-curve", "--set", "repetitions=2"),
        *("--only", "testdfsio-*", "--only", "ycsb-*"),
        *("--rehearsals", str(folder / "rehearsals")),
        runs=folder / "runs",
    )
    assert rehearsed.returncode == 0, rehearsed.stdout + rehearsed.stderr
    (made,) = folder.glob("rehearsals/capacity-curve/2*")
    run = made.rename(folder / "runs" / "capacity-curve" / made.name)
    write_table(run, TRIALS, read_table(run, TRIALS).assign(provider="libvirt"))
