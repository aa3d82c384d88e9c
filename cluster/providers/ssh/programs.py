"""Programs that hosts need, checked on all hosts at once before anything is made.

A POSIX shell runs the check: a host may lack even the Python that the agent needs.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from density_study.cluster.machine.as_root import INSTALLED
from density_study.cluster.model.errors import HostLostError, InputError, each_of
from density_study.cluster.model.host import PYTHON as OWN_PYTHON
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.bounded import TooMuchError, run_bounded
from density_study.cluster.providers.ssh.options import find_program, ssh_options
from density_study.cluster.providers.ssh.sudo_rules import UNITS, sha256
from density_study.cluster.stack.requirements import JDK_PACKAGES, PACKAGES

TIMEOUT_S = 60.0
_RPM = "packages by rpm"
_BY_RPM = f"command -v dnf >/dev/null 2>&1 && echo '{_RPM}'"
_RPM_NAMES = {
    "python3": "python3.11", "default-jdk-headless": "java-21-openjdk-headless",
    "libvirt-daemon-system libvirt-daemon-driver-qemu": "libvirt", "qemu-system-x86": "qemu-kvm",
    "qemu-utils": "qemu-img", "libvirt-clients": "libvirt-client", "openssh-client": "openssh-clients",
}  # fmt: skip
"""Debian's packages -> those of RHEL 8 to 10, where the names differ."""
_RELEASE = "VERSION_CODENAME="
_OF_RELEASE = f"grep '^{_RELEASE}' /etc/os-release 2>/dev/null"
_MAX_OUTPUT_BYTES = 2**16
HERE = "this machine"


@dataclass(frozen=True)
class Need:
    """A program, the Debian package that has it, and the shell's test for it (default: it is on PATH).

    Without a package, it is one that `study sudo-rules` installs. `installer`: that of the host's
    distribution. `elsewhere`: how a study names one of the hosts `{}` that is not on their PATH.
    """

    program: str
    package: str
    test: str = ""
    installer: str = "apt-get"
    elsewhere: str = ""

    def by_rpm(self) -> Need:
        """The same program as a package of RHEL and its derivatives."""
        return replace(self, package=_RPM_NAMES.get(self.package, self.package), installer="dnf")

    def by_release(self, codename: str) -> Need:
        """The same on a release of Debian or Ubuntu, whose default JDK may be too new."""
        newer = codename not in ("", *JDK_PACKAGES) and self.package == JAVA.package
        return replace(self, package=PACKAGES["apt-get install"]["JDK"]) if newer else self

    @property
    def line(self) -> str:
        """Prints the program's name if the test fails."""
        test = self.test or f"command -v {self.program}"
        return f"{{ {test}; }} >/dev/null 2>&1 || echo {shlex.quote(self.program)}"


PYTHON = Need(
    "Python 3.11",
    "python3",
    "{python} -c 'import sys; sys.exit(sys.version_info < (3, 11))'",
    elsewhere="a later Python of {} by the key ssh.python",
)
"""`{python}`: that of the machine's login. Where the system has an older one, `ssh.python` names another."""
JAVA = Need(
    "Java 17 or 21",
    "default-jdk-headless",
    "${JAVA_HOME:+$JAVA_HOME/bin/}java -XX:-UsePerfData -version 2>&1"
    " | grep -qE 'version \"(17|21)[.\"]'",
    elsewhere="a JDK of {} that is not on PATH by the key ssh.java",
)
SYSTEMD = "/run/systemd/system"
_UNIT_STARTER = INSTALLED / UNITS
UNDER_SYSTEMD = (
    Need("systemd-run", "systemd", f"[ ! -d {SYSTEMD} ] || command -v systemd-run"),
    *(
        Need(program, package, f'[ ! -d {SYSTEMD} ] || [ "$(id -u)" = 0 ] || {test}')
        for program, package, test in (
            ("sudo", "sudo", "command -v sudo"),
            (
                f"{_UNIT_STARTER} of this version",
                "",
                f"echo '{sha256(UNITS)}  {_UNIT_STARTER}' | sha256sum --check --status",
            ),
        )
    ),
)
PHYSICAL = (PYTHON, JAVA, *UNDER_SYSTEMD)


@dataclass(frozen=True)
class Requirements:
    """A machine and what it needs. `target` is None for this machine itself."""

    name: str
    target: Target | None
    needs: tuple[Need, ...]


def check_programs(machines: Sequence[Requirements]) -> None:
    """InputError that names every missing program of every machine.

    A host that refuses the login is skipped: the next connection reports why.
    """
    with ThreadPoolExecutor(max_workers=max(1, len(machines))) as pool:
        begun = [pool.submit(_missing, machine) for machine in machines]
    answers = each_of(begun, Future.result)
    lacking, installs, rules = [], [], []
    elsewhere: dict[str, list[str]] = {}
    for machine, needs in zip(machines, answers, strict=True):
        if needs:
            where = "here" if machine.name == HERE else f"on {machine.name}"
            lacking.append(f"{machine.name} lacks {', '.join(need.program for need in needs)}")
            if packages := " ".join(dict.fromkeys(need.package for need in needs if need.package)):
                installs.append(f"{where}, {needs[0].installer} install {packages}")
            if any(not need.package for need in needs):
                rules.append(machine)
            for need in needs:
                if need.elsewhere and machine.target:
                    elsewhere.setdefault(need.elsewhere, []).append(machine.name)
    if lacking:
        remedies = [
            *([f"install the packages: {'; '.join(installs)}"] if installs else []),
            *(_install_rules(machine) for machine in rules),
            *(f"name {what.format(', '.join(names))}" for what, names in elsewhere.items()),
        ]
        raise InputError(
            f"{'; '.join(lacking)}.",
            "programs that the study needs",
            f"{'; then '.join(remedies)}.",
        )


def _install_rules(machine: Requirements) -> str:
    """How to install the rules of sudo for a user who is not root."""
    if machine.target is None:
        return "run as root here: study sudo-rules | sh"
    user, address = machine.target.user, machine.target.address
    return f"as root on {machine.name}: study sudo-rules --user {user} | ssh root@{address} sh"


def _missing(machine: Requirements) -> list[Need]:
    python = machine.target.python if machine.target else OWN_PYTHON
    lines = (need.line.replace("{python}", shlex.quote(python)) for need in machine.needs)
    script = "\n".join(["PATH=$PATH:/usr/sbin:/sbin", *lines, _OF_RELEASE, _BY_RPM])
    environment = machine.target.environment if machine.target else ()
    shell = [*environment, "sh", "-c", script]
    if machine.target is not None:
        options = ssh_options(machine.target)
        address = ("-T", "--", machine.target.address)
        shell = [find_program("ssh"), *options, *address, shlex.join(shell)]
    try:
        done = run_bounded(shell, TIMEOUT_S, limit_bytes=_MAX_OUTPUT_BYTES)
    except subprocess.TimeoutExpired:
        return []
    except TooMuchError as error:
        raise HostLostError(
            "it does not answer which programs it has, but prints without end.",
            str(machine.target),
            "remove the output from the login scripts of that user (.bashrc, .profile).",
        ) from error
    names = done.stdout.splitlines()
    lacking = [need for need in machine.needs if need.program in names]
    if _RPM in names:
        return [need.by_rpm() for need in lacking]
    found = [one.removeprefix(_RELEASE).strip("\"'") for one in names if one.startswith(_RELEASE)]
    return [need.by_release("".join(found[:1])) for need in lacking]
