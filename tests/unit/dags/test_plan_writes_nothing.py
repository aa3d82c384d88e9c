"""`study plan` writes nothing: no folder on a disk, no probe file, no cache. `study run` probes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.machine.directories import check_programs
from density_study.cluster.machine.disk_type import check_disk, probe
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.ssh import build, examined
from density_study.dags.airflow_home.home import project_root
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.resolve import (
    assumed_disk_type,
    assumptions,
    planned_hosts,
    resolve_hosts,
    unknown_hosts,
)
from density_study.workloads.study.study import Study
from tests.support.drafts import study

STUDY = """\
study: tiny
hosts:
  - name: here
    memory: 4 GiB
    roles: [master, worker, client]
    disks:
      - {path: DISK, disk_type: MEDIUM}
factors: {vms_per_host: [1]}
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 1 MiB}
"""
AUDITED = """\
import os, sys
def refuse(event, arguments):
    for_writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    writes = event == 'open' and arguments[2] is not None and arguments[2] & for_writing
    makes = event in ('os.mkdir', 'os.rename', 'os.remove', 'os.rmdir', 'os.link', 'os.symlink',
                      'os.truncate', 'os.utime', 'os.chmod', 'os.chown', 'subprocess.Popen',
                      'os.system', 'os.posix_spawn')
    if (writes or makes) and arguments[0] != os.devnull:
        os.write(2, f'WRITES {event} {arguments}\\n'.encode())
        os._exit(77)
import croniter  # on import, it asks the command `file` for the size of a word
from density_study.dags.cli.main import main
sys.addaudithook(refuse)
sys.argv = ['study', 'plan', 'tiny.yaml']
main()
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(project_root()), "PYTHONDONTWRITEBYTECODE": "1"}


def written(folder: Path, disk: Path | str, disk_type: str = "flash") -> Path:
    path = folder / "tiny.yaml"
    path.write_text(STUDY.replace("DISK", str(disk)).replace("MEDIUM", disk_type))
    return path


def hosts(folder: Path, disk: Path) -> Study:
    return study(
        hosts=[
            {
                "name": "here",
                "memory": "4 GiB",
                "roles": ["master", "worker", "client"],
                "disks": [{"path": str(disk), "disk_type": "flash"}],
            }
        ],
        **{"factors.vms_per_host": [1]},
    )


@pytest.mark.thorough
@pytest.mark.parametrize("disk_type", ["auto", pytest.param("flash", marks=pytest.mark.slow)])
def test_no_system_call_of_a_plan_writes(tmp_path: Path, disk_type: str) -> None:
    (tmp_path / "disk").mkdir()
    written(tmp_path, tmp_path / "disk", disk_type)
    before = sorted(tmp_path.rglob("*"))
    ended = subprocess.run(
        [sys.executable, "-c", AUDITED],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "tiny: 1 repetition," in ended.stdout
    assert sorted(tmp_path.rglob("*")) == before
    noted = "disk type auto is assumed to be flash" in " ".join(ended.stdout.split())
    assert noted == (disk_type == "auto")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace is root's to make")
def test_a_plan_works_on_a_read_only_file_system(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    written(tmp_path, tmp_path / "disk")
    readonly = (
        "for at in $(findmnt --raw --noheadings --output TARGET); do "
        'mount -o remount,bind,ro "$at" 2>/dev/null || true; done; '
        "! touch here 2>/dev/null && ! touch /tmp/here 2>/dev/null && "
        'exec "$0" -m density_study.dags.cli.main plan tiny.yaml'
    )
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", readonly, sys.executable],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "tiny: 1 repetition," in ended.stdout


@pytest.mark.parametrize("resolve", [planned_hosts, resolve_hosts])
def test_a_missing_folder_of_a_disk_is_refused_and_not_created(
    tmp_path: Path, resolve: Callable[[Study, Path], object]
) -> None:
    missing = tmp_path / "mistyped" / "disk"
    with pytest.raises(InputError, match="the folder does not exist") as caught:
        resolve(hosts(tmp_path, missing), tmp_path)
    assert caught.value.key == ("hosts", 0, "disks", 0, "path")
    assert list(tmp_path.iterdir()) == []


def test_the_refusal_names_file_line_key_and_path(tmp_path: Path) -> None:
    spec = written(tmp_path, "/nonexistent/x")
    with pytest.raises(InputError) as caught:
        plan_study(spec, runs=tmp_path / "runs")
    where = f"{spec}:7, key hosts[0].disks[0].path (host 'here', disk /nonexistent/x)"
    assert caught.value.where == where
    assert caught.value.remedy
    assert not Path("/nonexistent").exists()


def test_a_folder_may_be_missing_only_directly_below_a_mount_point(tmp_path: Path) -> None:
    check_disk(Path("/proc/none"))  # /proc is a mount point on every machine
    file = tmp_path / "file"
    file.touch()
    for folder in (tmp_path / "none", Path("/none"), Path("/proc/none/none"), file, file / "none"):
        with pytest.raises(InputError):
            check_disk(folder)


def test_a_disk_unmounted_since_the_plan_is_refused(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    configured = hosts(tmp_path, disk)
    plan = make_plan(configured, planned_hosts(configured, tmp_path))
    topology = next(iter(plan.topologies.values()))
    assert LocalProvider().free_resources(topology)
    disk.rmdir()
    with pytest.raises(InputError, match="the folder does not exist"):
        LocalProvider().free_resources(topology)


def test_a_disk_on_which_java_could_not_load_a_library_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_programs([str(tmp_path), str(tmp_path / "not" / "yet")])
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC))
    configured = hosts(tmp_path, tmp_path)
    plan = make_plan(configured, planned_hosts(configured, tmp_path))
    with pytest.raises(InputError, match="noexec") as caught:
        LocalProvider().free_resources(next(iter(plan.topologies.values())))
    assert caught.value.where == f"disk {tmp_path}"
    assert f"remount,exec {tmp_path}" in caught.value.remedy


def test_a_folder_that_cannot_be_created_is_bad_input() -> None:
    with pytest.raises(InputError, match="cannot be probed"):
        probe(Path("/proc/none"))


@pytest.mark.parametrize(
    ("compared", "declared", "expected"),
    [
        (None, ["auto"], ["flash"]),
        (["hdd"], ["auto"], ["hdd"]),
        (["flash", "hdd"], ["auto", "auto", "auto"], ["flash", "hdd", "flash"]),
        (["flash", "hdd"], ["flash", "auto"], [None, "hdd"]),
    ],
)
def test_an_auto_disk_gets_a_compared_disk_type_that_has_no_disk(
    compared: list[str] | None, declared: list[str], expected: list[str | None]
) -> None:
    disks = [
        {"path": f"/{number}", "disk_type": disk_type} for number, disk_type in enumerate(declared)
    ]
    host = {"name": "h", "memory": "4 GiB", "roles": ["master", "worker", "client"], "disks": disks}
    compared_study = study(hosts=[host], **{"factors.disk_type": compared})
    spec = compared_study.hosts[0]
    disk_types = [
        assumed_disk_type(compared_study, spec, disk) if disk.disk_type == "auto" else None
        for disk in spec.disks
    ]
    assert disk_types == expected


@pytest.mark.slow
@pytest.mark.thorough
def test_plan_reports_a_disk_too_small_for_the_study(tmp_path: Path) -> None:
    free_gib = shutil.disk_usage(tmp_path).free // 2**30
    spec = written(tmp_path, tmp_path)
    files = (
        f"workloads=[{{testdfsio: {{modes: [write], files: {free_gib + 2}, file_size: 1 GiB}}}}]"
    )
    for more, reported in (((), False), (("--set", files), True)):
        argv = [sys.executable, "-m", "density_study.dags.cli.main", "plan", str(spec), *more]
        ended = subprocess.run(argv, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        assert (f"disk {tmp_path} and " in ended.stdout) == reported, "the runs are on its device"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs openssh-client")
def test_a_plan_for_ssh_hosts_writes_nothing_and_creates_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's acts run in this process."""

    class Channel:
        def act(self, name: str, *arguments: Any) -> Any:
            assert name != "probe"
            return HOST_COMMANDS[name](*arguments)

    for module in (examined, build):
        monkeypatch.setattr(module, "channel", lambda target: Channel())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    known_hosts = tmp_path / "known_hosts"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", known_hosts], check=True)
    known_hosts.write_text(f"192.0.2.1 {known_hosts.with_suffix('.pub').read_text()}")
    host = {
        "name": "here", "address": "192.0.2.1", "memory": "4 GiB",
        "roles": ["master", "worker", "client"],
    }  # fmt: skip
    spec = study(
        provider="physical",
        hosts=[host],
        ssh={"user": "study", "known_hosts": str(known_hosts)},
        **{"factors.vms_per_host": [0]},
    )
    before = sorted(tmp_path.rglob("*"))
    (resolved,) = planned_hosts(spec, tmp_path / "runs")
    assert resolved.disks[0].path.startswith("/var/tmp/density-study")
    assert resolved.login is not None
    elsewhere = study(
        provider="physical",
        hosts=[{**host, "disks": [{"path": str(tmp_path / "none" / "disk")}]}],
        ssh={"user": "study", "known_hosts": str(known_hosts)},
        **{"factors.vms_per_host": [0]},
    )
    with pytest.raises(InputError, match="the folder does not exist"):
        planned_hosts(elsewhere, tmp_path / "runs")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("unknown", [{}, {"cores": "auto"}, {"memory": "auto"}])
def test_a_plan_contacts_hosts_for_what_the_study_leaves_to_them_alone(
    unknown: dict[str, str], tmp_path: Path
) -> None:
    """The name of the host resolves nowhere, and there is no key of it."""
    host = {
        "name": "h", "address": "h.invalid", "cores": 64, "memory": "250 GiB",
        "roles": ["master", "worker", "client"], "disks": [{"disk_type": "hdd"}], **unknown,
    }  # fmt: skip
    spec = study(
        provider="physical",
        hosts=[host],
        ssh={"user": "study", "known_hosts": str(tmp_path / "none")},
        **{"factors.vms_per_host": [0]},
    )
    if unknown:
        assert unknown_hosts(spec) == ("h",)
        with pytest.raises(InputError, match="none"):
            planned_hosts(spec, tmp_path / "runs")
        return
    (planned,) = planned_hosts(spec, tmp_path / "runs")
    assert (planned.cores, planned.memory_mib) == (64, 250 * 1024)
    assert planned.disks[0].path.startswith("/var/tmp/density-study")
    assert next(iter(assumptions(spec, [planned]))).startswith("no host was contacted")
