"""Studies on hosts over SSH, for live tests: their file, and what they must leave and must not leave."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.cluster.providers.ssh.channel import close_channels
from density_study.cluster.providers.ssh.options import IDENTITY
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.hosts.host import USER

SECRET = "planted-4711-secret"
AGENT_ENDS_WITHIN_S = 20.0
ROLES = {"m1": "[master, client]"}


@contextmanager
def lab(
    folder: Path, names: Sequence[str], cold: Sequence[str] = (), user: str = USER
) -> Iterator[Hosts]:
    """Hosts made of namespaces, for the tests of a module, which are skipped for others than root."""
    if os.getuid() != 0:
        pytest.skip("hosts over SSH were not tested: only root makes network namespaces")
    made = Hosts(folder / "hosts", list(names), cold=tuple(cold), user=user)
    yield made
    close_channels()
    made.close()


@contextmanager
def controlling(hosts: Hosts, folder: Path) -> Iterator[None]:
    """This process is in the hosts' network, with the user's key and a lease of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENSITY_STUDY_RUNTIME", str(folder / "runtime"))
        patch.setenv(IDENTITY, str(hosts.identity))
        with hosts.inside():
            yield
        close_channels()


def physical_spec(hosts: Hosts, text: str, to: Path) -> Path:
    lines = [
        f"  - {{name: {name}, address: {address}, memory: {'2400' if name in ROLES else '1920'} MiB,"
        f" disks: [{{path: /mnt}}], roles: {ROLES.get(name, '[worker]')}}}"
        for name, address in hosts.addresses.items()
    ]
    filled = text.replace("HOSTS", "\n".join(lines), 1)
    to.write_text(filled.replace("KNOWN_HOSTS", str(hosts.known_hosts)))
    return to


def left_on(hosts: Hosts, name: str) -> list[str]:
    """The user's processes and files on a host, except the stack cache.

    Our own agents do not count: they live as long as a connection, and end a moment after it.
    """
    close_channels()
    deadline = time.monotonic() + AGENT_ENDS_WITHIN_S
    remains = _left(hosts, name)
    while (
        any(remain.startswith("python3 -I -c") for remain in remains)
        and time.monotonic() < deadline
    ):
        time.sleep(0.1)
        remains = _left(hosts, name)
    return remains


def _left(hosts: Hosts, name: str) -> list[str]:
    listed = [
        line.split(None, 1) for line in hosts.on(name, "ps", "-eo", "user=,args=").splitlines()
    ]
    files = hosts.on(name, "find", "/mnt", "/tmp", "/var/tmp", "/home", "-user", USER).splitlines()
    cache = f"/var/tmp/density-study-{USER}"
    kept = (f"{cache}/README", f"{cache}/stacks", f"{cache}/host-lease.lock", f"/home/{USER}")
    expected = {cache, f"{cache}/builds", f"{cache}/data", "/mnt"}
    return [
        # a process that has ended, and is not reaped yet, is shown in brackets
        *(args for user, args in listed if user == USER and not args.startswith(("sshd", "["))),
        *(file for file in files if not file.startswith(kept) and file not in expected),
        *(file for file in files if "/stacks/." in file),
    ]


def check_whole_study(hosts: Hosts, spec: Path, runs: Path) -> None:
    """Every step of the study succeeds; its records are whole, and nothing is left but the work folders."""
    run = open_run(spec, runs)
    lines: list[str] = []
    try:
        for step in steps_left(run):
            ended = carry_out(run, step)
            assert ended.outcome == "ok", ended.message
            if ended.step.kind == "up":
                lines = hosts.on("h1", "ss", "-Hltn").splitlines()
    finally:
        close_run(run)
    check_records(run, hosts)
    check_listeners(lines, hosts.addresses["h1"])
    for name in hosts.names:
        assert left_on(hosts, name) == [], name
        assert (hosts.folder / name / "var-tmp/density-study-study/README").exists()
    check_no_secret(hosts, run)


def check_records(run: Run, hosts: Hosts) -> None:
    """Every trial is complete, with monitors, clocks and disclosures of every host."""
    records = closed_records(run.records)
    assert [m.state for m in records.values()] == ["complete"] * len(run.plan.trials)
    for name, manifest in records.items():
        assert manifest.isolation == "host"
        monitored = {monitor.host for monitor in manifest.monitors}
        assert monitored == set(hosts.names) == {offset.host for offset in manifest.clock}
        assert all(abs(offset.before_s) < 1.0 for offset in manifest.clock)  # one kernel's clock
        for monitor in manifest.monitors:
            assert len((run.records / name / monitor.file).read_text().splitlines()) > 3, monitor
        assert set(manifest.disclosure["machines"]) == monitored
        assert "<configuration>" in manifest.disclosure["files"]["nodes/w1/hdfs-site.xml"]["text"]
    (dfsio,) = (m for m in records.values() if m.test_case_id.startswith("testdfsio"))
    assert dfsio.cold is not None and dfsio.cold.physical_read_bytes is not None
    logs = run.site(next(iter(run.plan.builds))).root / "logs"
    assert (logs / f"w{len(hosts.names) - 1}" / "datanode.log").stat().st_size > 0
    assert list(run.records.glob("*/raw/io/*"))


def check_listeners(lines: list[str], address: str) -> None:
    """Daemons listen on their host's own address; sshd is the host's, ShuffleHandler is
    disclosed."""
    listening = {line.split()[3] for line in lines}
    wild = {one for one in listening if one.startswith(("0.0.0.0:", "*:", "[::]:"))}
    assert f"{address}:21000" in listening
    assert {one.rpartition(":")[2] for one in wild} == {"22", "21007"}


def check_no_secret(hosts: Hosts, run: Run) -> None:
    """The study's files, here and on the hosts, contain neither key nor password."""
    key = hosts.identity.read_text().splitlines()[1]
    places = [run.root.parent, *(hosts.folder / name / "var-tmp" for name in hosts.names)]
    wanted = [f"--regexp={text}" for text in (key, SECRET, str(hosts.identity))]
    argv = ["grep", "--recursive", "--fixed-strings", "--files-with-matches", *wanted]
    matches = subprocess.run(
        [*argv, *map(str, places)], capture_output=True, text=True, check=False
    )
    assert (matches.returncode, matches.stdout, matches.stderr) == (1, "", "")
