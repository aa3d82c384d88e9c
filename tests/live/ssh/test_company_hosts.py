"""Hosts as companies have them: a study runs there, or `study doctor` says why not, and what to do.

Two hosts made of namespaces (`tests.hosts`), reached by name through a jump host, at another port, by a host
certificate; with a JDK that is not on PATH, and another one for daemons, umask 077, and no programs in /tmp
and /var/tmp.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from density_study.cluster.providers.ssh.options import IDENTITY
from density_study.cluster.stack.java import installed_features
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.command import STUDY, environment
from tests.live.support.over_ssh import lab, left_on

pytestmark = pytest.mark.timeout(600)

DOMAIN = "corp.example"
PORT = 2222
JDK = "/home/study/jdk"
NEWER_PYTHON = "/home/python3"
SPEC = """
study: company
question: Does a study run on hosts as companies have them?
provider: physical
hosts:
  - {name: m1, address: m1.corp.example, memory: 2400 MiB, disks: [{path: /mnt}], roles: [master, client]}
  - {name: h1, address: h1.corp.example, memory: 1920 MiB, disks: [{path: /mnt}]}
ssh: {user: study, port: 2222, known_hosts: KNOWN_HOSTS, java: /home/study/jdk, jump: "study@10.77.0.10:22"}
factors: {vms_per_host: [0]}
STACK
workloads:
  - testdfsio: {modes: [random], files: 2, file_size: 16 MiB}
  - ycsb: {records: [2_000], mixes: [c], threads: [2], duration: 5 s, warm_up: 1 s, warm_up_daemons: off}
"""
NEWEST_JAVA = 25
NOEXEC = ("/tmp", "/var/tmp")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1"]) as made:
        authority = made.folder / "authority"
        _keygen("-q", "-t", "ed25519", "-N", "", "-f", str(authority))
        for name in made.names:
            _furnish(made, name, authority)
        trusted = " ".join(authority.with_suffix(".pub").read_text().split()[:2])
        with made.known_hosts.open("a") as file:
            file.write(f"@cert-authority *.{DOMAIN} {trusted}\n")
        yield made


def _furnish(hosts: Hosts, name: str, authority: Path) -> None:
    named = f"{name}.{DOMAIN}"
    key = hosts.folder / name / "etc" / "ssh" / "host_key.pub"
    _keygen("-q", "-s", str(authority), "-I", name, "-h", "-n", named, str(key))
    _resolve(hosts, name, _addresses(hosts))
    hosts.on(name, "hostname", named)
    for place in NOEXEC:
        hosts.on(name, "mount", "-o", "remount,bind,noexec,nosuid,nodev", place)
    java = hosts.on(name, "readlink", "-f", "/usr/bin/java").strip()
    hosts.on(name, "mkdir", JDK)
    hosts.on(name, "mount", "--bind", str(Path(java).parents[1]), JDK)
    hosts.on(name, "mount", "--bind", "/dev/null", java)
    certificate = "HostCertificate=/etc/ssh/host_key-cert.pub"
    hosts.on(name, "sh", "-c", f"umask 077; exec /usr/sbin/sshd -p {PORT} -o {certificate}")


def _keygen(*words: str) -> None:
    subprocess.run(["ssh-keygen", *words], check=True)


def _addresses(hosts: Hosts) -> str:
    return "127.0.0.1 localhost\n" + "".join(
        f"{address} {name}.{DOMAIN} {name}\n" for name, address in hosts.addresses.items()
    )


def _resolve(hosts: Hosts, name: str, text: str) -> None:
    """Let the host know these names."""
    (hosts.folder / name / "etc" / "hosts").write_text(text)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def study(hosts: Hosts, runs: Path, verb: str, *words: str, text: str = SPEC) -> tuple[int, str]:
    """Exit code and output of the command, on a controller that knows the hosts by name."""
    names = runs.with_name("hosts")
    names.write_text(_addresses(hosts))
    spec = runs.with_name("company.yaml")
    newest = "stack: {hadoop: 3.5.0, java: 25}" if NEWEST_JAVA in installed_features() else ""
    spec.write_text(text.replace("KNOWN_HOSTS", str(hosts.known_hosts)).replace("STACK", newest))
    inside = f'mount --bind {names} /etc/hosts && exec "$@"'
    argv = [
        *hosts.enter, "unshare", "--mount", "sh", "-c", inside, "sh",
        str(STUDY), verb, str(spec), "--runs", str(runs), *words,
    ]  # fmt: skip
    env = environment(runs) | {IDENTITY: str(hosts.identity)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout + done.stderr


def test_a_study_runs_on_hosts_as_companies_have_them(hosts: Hosts, runs: Path) -> None:
    code, output = study(hosts, runs, "run")
    assert code == 0, output[-3000:]
    (run,) = runs.glob("company/*/records")
    records = closed_records(run)
    assert [m.state for m in records.values()] == ["complete"] * 2, output[-3000:]
    javas = {line[0] for m in records.values() for line in m.disclosure["daemons"].values()}
    newest = NEWEST_JAVA in installed_features()
    assert all((JDK not in java) == newest for java in javas), javas
    for name in hosts.names:
        assert left_on(hosts, name) == [], name


@contextmanager
def _known_as(hosts: Hosts, addresses: str) -> Iterator[None]:
    """Host h1 has these lines of addresses and names."""
    _resolve(hosts, "h1", addresses)
    try:
        yield
    finally:
        _resolve(hosts, "h1", _addresses(hosts))


def own_name_is_loopback(hosts: Hosts) -> AbstractContextManager[None]:
    """As Debian's installer writes it."""
    return _known_as(hosts, _addresses(hosts).replace(f"{hosts.addresses['h1']} ", "127.0.1.1 "))


def only_ipv6(hosts: Hosts) -> AbstractContextManager[None]:
    return _known_as(hosts, _addresses(hosts).replace(f"{hosts.addresses['h1']} ", "fd00::11 "))


@contextmanager
def both_families(hosts: Hosts) -> Iterator[None]:
    """Names have an address of IPv6, which comes first, and one of IPv4."""
    numbers = {name: f"fd00::{place}" for place, name in enumerate(hosts.names, 10)}
    lines = "".join(f"{number} {name}.{DOMAIN} {name}\n" for name, number in numbers.items())
    try:
        for name, number in numbers.items():
            hosts.on(name, "ip", "addr", "add", f"{number}/64", "dev", "eth0", "nodad")
            _resolve(hosts, name, lines + _addresses(hosts))
        yield
    finally:
        for name, number in numbers.items():
            hosts.on(name, "ip", "addr", "del", f"{number}/64", "dev", "eth0")
            _resolve(hosts, name, _addresses(hosts))


@contextmanager
def ipv6_alone(hosts: Hosts) -> Iterator[None]:
    """h1 has no IPv4 address, and SSH reaches it by IPv6 from the jump host."""
    own = hosts.addresses["h1"]
    with both_families(hosts):
        for name in hosts.names:
            etc = hosts.folder / name / "etc" / "hosts"
            kept = (line for line in etc.read_text().splitlines(True) if not line.startswith(own))
            _resolve(hosts, name, "".join(kept))
        hosts.on("h1", "ip", "addr", "del", f"{own}/24", "dev", "eth0")
        try:
            yield
        finally:
            hosts.on("h1", "ip", "addr", "add", f"{own}/24", "dev", "eth0")


def name_unknown(hosts: Hosts) -> AbstractContextManager[None]:
    lines = _addresses(hosts).splitlines(True)
    return _known_as(hosts, "".join(line for line in lines if "m1" not in line))


@contextmanager
def firewalled(hosts: Hosts) -> Iterator[None]:
    """Like firewalld: SSH alone passes."""
    rules = (
        "add table inet wall; add chain inet wall input { type filter hook input priority 0; };"
        f"add rule inet wall input iifname eth0 ct state new tcp dport != {{ 22, {PORT} }} "
        "reject with icmpx admin-prohibited"
    )
    hosts.on("h1", "nft", rules)
    try:
        yield
    finally:
        hosts.on("h1", "nft", "delete table inet wall")


@contextmanager
def old_python(hosts: Hosts) -> Iterator[None]:
    """The system's is that of RHEL 8."""
    script = hosts.folder / "h1" / "home" / "python3.6"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    with mounted(
        hosts, "/home/python3.6", hosts.on("h1", "readlink", "-f", "/usr/bin/python3").strip()
    ):
        yield


@contextmanager
def newer_python_elsewhere(hosts: Hosts) -> Iterator[None]:
    """The system's is that of RHEL 8, and the study names another one."""
    for name in hosts.names:
        own = hosts.on(name, "readlink", "-f", "/usr/bin/python3").strip()
        hosts.on(name, "cp", own, NEWER_PYTHON)
    with old_python(hosts):
        yield


@contextmanager
def selinux_enforces(hosts: Hosts) -> Iterator[None]:
    """As such a kernel shows it. Guests may not use the type of h1's drive, and h1 has libvirt."""
    label = "import os; os.{}xattr('/mnt', 'security.selinux'{})"
    for command in (
        "mount -t tmpfs fs /sys/fs && mkdir /sys/fs/cgroup /sys/fs/selinux /run/libvirt",
        "mount --rbind /run/cgroup /sys/fs/cgroup && echo 1 > /sys/fs/selinux/enforce",
    ):
        hosts.on("h1", "sh", "-c", command)
    hosts.on("h1", "python3", "-c", label.format("set", ", b'system_u:object_r:default_t:s0'"))
    try:
        yield
    finally:
        hosts.on("h1", "python3", "-c", label.format("remove", ""))
        hosts.on("h1", "rmdir", "/run/libvirt")
        hosts.on("h1", "umount", "-R", "/sys/fs")


@contextmanager
def other_jdk(hosts: Hosts) -> Iterator[None]:
    with mounted(hosts, "/dev/null", f"{JDK}/bin/java"):
        yield


@contextmanager
def mounted(hosts: Hosts, source: str, place: str, *options: str) -> Iterator[None]:
    hosts.on("h1", "mount", *(options or ("--bind",)), source, place)
    try:
        yield
    finally:
        hosts.on("h1", "umount", place)


@contextmanager
def noexec_disk(hosts: Hosts) -> Iterator[None]:
    hosts.on("h1", "mount", "-o", "remount,bind,noexec", "/mnt")
    try:
        yield
    finally:
        hosts.on("h1", "mount", "-o", "remount,bind,exec", "/mnt")


@contextmanager
def full_var(hosts: Hosts) -> Iterator[None]:
    with mounted(hosts, "small", "/var/tmp", "-t", "tmpfs", "-o", "size=8m,mode=1777"):
        hosts.on("h1", "sh", "-c", "head -c 16M /dev/zero > /var/tmp/full || true")
        yield


@contextmanager
def sudo_wants_a_password(hosts: Hosts) -> Iterator[None]:
    """On a host that systemd runs."""
    hosts.on("h1", "mkdir", "-p", "/run/systemd/system")
    sudoers = hosts.folder / "h1" / "etc" / "sudoers"
    before = sudoers.read_bytes()
    sudoers.write_bytes(before.replace(b"NOPASSWD:", b""))
    try:
        yield
    finally:
        sudoers.write_bytes(before)
        hosts.on("h1", "rmdir", "/run/systemd/system")


@pytest.mark.parametrize(
    ("condition", "what", "remedy"),
    [
        (own_name_is_loopback, "resolves h1.corp.example to 127.0.1.1", "/etc/hosts"),
        (only_ipv6, "nothing can listen on h1.corp.example", "IPv4"),
        (ipv6_alone, "nothing can listen on h1.corp.example", "Hadoop does not support IPv6"),
        (name_unknown, "h1 cannot connect to m1.corp.example:", "know the addresses' names"),
        (firewalled, "m1 cannot connect to h1.corp.example:21000", "firewall-cmd"),
        (old_python, "h1 lacks Python 3.11", "ssh.python"),
        (other_jdk, "h1 lacks Java 17 or 21", "ssh.java"),
        (noexec_disk, "mounted noexec", "remount,exec /mnt"),
        (full_var, "0 MiB are free", "free some space"),
        (sudo_wants_a_password, "sudo does not let this user run", "study sudo-rules"),
    ],
)
def test_the_doctor_refuses_what_would_fail(
    condition: Callable[[Hosts], AbstractContextManager[None]],
    what: str,
    remedy: str,
    hosts: Hosts,
    runs: Path,
) -> None:
    with condition(hosts):
        code, output = study(hosts, runs, "doctor", "--json")
    assert code in (1, 2), output
    faults = [check for check in json.loads(output) if "what" in check] if code == 1 else [output]
    assert any(what in str(fault) and remedy in str(fault) for fault in faults), faults


def test_the_doctor_finds_no_fault_on_these_hosts(hosts: Hosts, runs: Path) -> None:
    code, output = study(hosts, runs, "doctor")
    assert code == 0, output


def test_a_python_that_is_not_the_systems_is_named_by_the_study(hosts: Hosts, runs: Path) -> None:
    text = SPEC.replace("ssh: {", f"ssh: {{python: {NEWER_PYTHON}, ")
    with newer_python_elsewhere(hosts):
        code, output = study(hosts, runs, "doctor", text=text)
    assert code == 0, output


def test_the_doctor_warns_of_what_selinux_would_refuse(hosts: Hosts, runs: Path) -> None:
    with selinux_enforces(hosts):
        code, output = study(hosts, runs, "doctor", "--json")
    assert code == 0, output
    warned = [check["warning"] for check in json.loads(output) if "warning" in check]
    remedy = "semanage fcontext -a -t virt_image_t '/mnt(/.*)?' && restorecon -R /mnt"
    assert any(remedy in one for one in warned), warned


def test_names_may_have_addresses_of_both_families(hosts: Hosts, runs: Path) -> None:
    with both_families(hosts):
        code, output = study(hosts, runs, "doctor")
    assert code == 0, output
