"""All missing programs of a study's hosts are reported together, before any other request."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.machine.as_root import INSTALLED, source
from density_study.cluster.model.errors import HostLostError, InputError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh import programs
from density_study.cluster.providers.ssh.programs import (
    SYSTEMD,
    UNDER_SYSTEMD,
    Need,
    Requirements,
    check_programs,
)
from density_study.workloads.execution.opening import open_run
from density_study.workloads.planning.planned_study import plan_study

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDRWbQkXD1OCnl1AGSTYu1NbCPOHCRxVkNYTM5p2qiYc"
SSH = '#!/bin/sh\nshift $(($# - 2))\nPATH={}/$1 exec /bin/sh -c "$2"\n'
"""A fake connection: runs the command here, with the host's programs."""
JAVA = "#!/bin/sh\necho 'openjdk version \"{}\"' >&2\n"
PHYSICAL = """\
study: lacking
provider: physical
hosts:
  - {name: h1, address: 192.0.2.11, memory: 4 GiB, roles: [master, worker, client]}
  - {name: h2, address: 192.0.2.12, memory: 4 GiB}
ssh: {user: study, known_hosts: KNOWN}
factors: {vms_per_host: [0]}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""
GUESTS = """\
study: lacking
provider: libvirt
hosts:
  - {name: h1, address: 192.0.2.11, cores: 8, memory: 16 GiB, roles: [master, worker, client],
     disks: [{path: /data/a, disk_type: flash}]}
  - {name: h2, address: 192.0.2.12, cores: 8, memory: 16 GiB, disks: [{path: /data/a, disk_type: flash}]}
ssh: {user: study, known_hosts: KNOWN}
vms: {network: 192.0.2.0/24, addresses: 192.0.2.100-192.0.2.120, bridge: br0}
factors: {vms_per_host: [1, 2]}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""
ON_SYSTEMD = Path("/run/systemd/system").is_dir()


class Lab:
    """Two hosts with a folder of programs each, and one folder for this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = folder / "known_hosts"
        self.known.write_text(f"192.0.2.11 {KEY}\n192.0.2.12 {KEY}\n")
        self.here = folder / "here"
        self.here.mkdir()
        for address in ("192.0.2.11", "192.0.2.12"):
            (folder / address).mkdir()
            self.link(address, "sh", "grep")
        self.link("here", "sh", "ssh-keygen")
        self.script("here", "ssh", SSH.format(folder))

    def link(self, host: str, *programs: str) -> None:
        for program in programs:
            executable = sys.executable if program == "python3" else shutil.which(program)
            assert executable is not None, program
            (self.folder / host / program).symlink_to(executable)

    def script(self, host: str, program: str, text: str = "#!/bin/sh\n") -> None:
        path = self.folder / host / program
        path.write_text(text)
        path.chmod(0o755)

    def spec(self, text: str) -> Path:
        path = self.folder / "lacking.yaml"
        path.write_text(text.replace("KNOWN", str(self.known)))
        return path


@pytest.fixture
def lab(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab(tmp_path)
    monkeypatch.setenv("PATH", str(lab.here))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return lab


def test_what_bare_hosts_lack_is_told_in_one_message(lab: Lab) -> None:
    lab.script("192.0.2.11", "java", JAVA.format("25.0.1"))
    lab.script("192.0.2.12", "sudo")
    lab.script("192.0.2.12", "systemd-run")
    lab.script("192.0.2.12", "java", JAVA.format("17.0.15"))
    with pytest.raises(InputError) as caught:
        plan_study(lab.spec(PHYSICAL), runs=lab.folder / "runs")
    units = ", systemd-run" if ON_SYSTEMD else ""
    packages = " systemd" if ON_SYSTEMD else ""
    assert caught.value.what == f"h1 lacks Python 3.11, Java 17 or 21{units}; h2 lacks Python 3.11."
    assert caught.value.remedy == (
        "install the packages: on h1, apt-get install python3 default-jdk-headless"
        f"{packages}; on h2, apt-get install python3; then name a later Python of h1, h2 by the key "
        "ssh.python; then name a JDK of h1 that is not on PATH by the key ssh.java."
    )


def test_hosts_may_have_a_later_python_beside_their_own(lab: Lab) -> None:
    """As RHEL 8 and 9 do."""
    for address in ("192.0.2.11", "192.0.2.12"):
        lab.script(address, "python3", "#!/bin/sh\nexit 1\n")
        (lab.folder / address / "python3.11").symlink_to(sys.executable)
        lab.script(address, "java", JAVA.format("17.0.15"))
        lab.script(address, "systemd-run")
        lab.script(address, "sudo")
    with pytest.raises(InputError, match=r"h1 lacks Python 3\.11"):
        plan_study(lab.spec(PHYSICAL), runs=lab.folder / "runs")
    other = PHYSICAL.replace("known_hosts: KNOWN", "known_hosts: KNOWN, python: python3.11")
    with pytest.raises((InputError, HostLostError)) as caught:  # what comes next
        plan_study(lab.spec(other), runs=lab.folder / "runs")
    assert "Python" not in str(caught.value)


def test_packages_have_the_names_of_the_hosts_distribution(lab: Lab) -> None:
    lab.script("192.0.2.11", "dnf")
    for address in ("192.0.2.11", "192.0.2.12"):
        lab.link(address, "python3")
        lab.script(address, "systemd-run")
    with pytest.raises(InputError) as caught:
        plan_study(lab.spec(PHYSICAL), runs=lab.folder / "runs")
    assert caught.value.remedy.startswith(
        "install the packages: on h1, dnf install java-21-openjdk-headless; "
        "on h2, apt-get install default-jdk-headless; "
    )


@pytest.mark.parametrize(
    ("codename", "package"),
    [
        ("bookworm", "default-jdk-headless"),
        ("trixie", "default-jdk-headless"),
        ("forky", "openjdk-21-jdk-headless"),  # its default is JDK 25
        ("resolute", "openjdk-21-jdk-headless"),
        ("", "default-jdk-headless"),
    ],
)
def test_a_release_with_a_newer_default_jdk_is_told_an_older_one(
    codename: str, package: str
) -> None:
    assert programs.JAVA.by_release(codename).package == package
    assert programs.PYTHON.by_release(codename).package == "python3"


def test_a_jdk_that_is_not_on_path_is_named_by_the_study(lab: Lab) -> None:
    home = lab.folder / "jdk"
    (home / "bin").mkdir(parents=True)
    lab.script("jdk/bin", "java", JAVA.format("21.0.3"))
    for address in ("192.0.2.11", "192.0.2.12"):
        (lab.folder / address / "env").symlink_to("/usr/bin/env")
        lab.script(address, "systemd-run")
        lab.script(address, "sudo")
    with pytest.raises(InputError) as caught:
        plan_study(
            lab.spec(PHYSICAL.replace("KNOWN}", f"KNOWN, java: {home}}}")), runs=lab.folder / "runs"
        )
    assert "Python" in caught.value.what and "Java" not in caught.value.what


@pytest.mark.parametrize(
    "python", ["python3 -c x", "/opt/../bin/sh", "bash", "-python3", "python2"]
)
def test_a_python_is_a_name_or_a_path(python: str, lab: Lab) -> None:
    text = PHYSICAL.replace("known_hosts: KNOWN", f"known_hosts: KNOWN, python: '{python}'")
    with pytest.raises(InputError, match="is not a Python 3"):
        plan_study(lab.spec(text), runs=lab.folder / "runs")


def test_missing_programs_of_guest_hosts_and_this_machine_are_reported_together(lab: Lab) -> None:
    for program in ("virsh", "mke2fs", "unshare", "libvirtd"):
        lab.script("here", program)
    for address in ("192.0.2.11", "192.0.2.12"):
        lab.link(address, "python3")
        lab.script(address, "libvirtd")
    lab.script("192.0.2.11", "qemu-system-x86_64")
    lab.script("192.0.2.12", "qemu-img")
    with pytest.raises(InputError) as caught:
        open_run(lab.spec(GUESTS), lab.folder / "runs")
    assert caught.value.what == (
        "this machine lacks mmdebstrap; h1 lacks qemu-img; h2 lacks qemu-system-x86_64."
    )
    assert caught.value.remedy == (
        "install the packages: here, apt-get install mmdebstrap; "
        "on h1, apt-get install qemu-utils; on h2, apt-get install qemu-system-x86."
    )
    assert not list(lab.folder.glob("runs/*/*/journal.jsonl"))


def of_units(tmp_path: Path) -> Need:
    """What programs.py asks of a host under systemd about the program that starts units."""
    (need,) = (need for need in UNDER_SYSTEMD if "start-unit" in need.program)
    installed = tmp_path / "installed"
    test = need.test.replace(SYSTEMD, str(tmp_path)).replace("id -u", "echo 1000")
    return replace(need, test=test.replace(str(INSTALLED / "start-unit"), str(installed)))


@pytest.mark.parametrize("installed", [None, "#!/bin/sh\n", source("cut-network")])
def test_a_host_without_this_versions_privileged_program_is_refused(
    installed: str | None, tmp_path: Path
) -> None:
    need = of_units(tmp_path)
    if installed is not None:
        (tmp_path / "installed").write_text(installed)
    with pytest.raises(InputError, match="start-unit of this version") as caught:
        check_programs([Requirements("this machine", None, (need,))])
    assert caught.value.remedy == "run as root here: study sudo-rules | sh."
    (tmp_path / "installed").write_text(source("start-unit"))
    check_programs([Requirements("this machine", None, (need,))])


def test_the_remedy_names_the_command_for_each_host(lab: Lab) -> None:
    lacking = Need("start-unit of this version", "", "false")
    target = Target("h1", "192.0.2.11", 22, "study", str(lab.known))
    with pytest.raises(InputError) as caught:
        check_programs([Requirements("h1", target, (Need("java", "jdk", "false"), lacking))])
    assert caught.value.remedy == (
        "install the packages: on h1, apt-get install jdk; then as root on h1: "
        "study sudo-rules --user study | ssh root@192.0.2.11 sh."
    )
