"""What `ssh`, `virsh` and its `ssh` are told: strict, with the study's own file of host keys, and no address
is an option."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.libvirt import connection
from density_study.cluster.providers.libvirt.connection import connected
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.ssh.bounded import TooMuchError, run_bounded
from density_study.cluster.providers.ssh.channel import Channel
from density_study.cluster.providers.ssh.options import IDENTITY, ssh_options
from density_study.cluster.providers.ssh.programs import PYTHON, Requirements, check_programs
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.scratch import OWN, scratch
from tests.hosts.sshd import sshd
from tests.security.hosts.conftest import TARGET

STRICT = [
    "StrictHostKeyChecking=yes",
    "GlobalKnownHostsFile=/dev/null",
    "BatchMode=yes",
    "UpdateHostKeys=no",
]
PRINTS = 'import json, sys; print(json.dumps(sys.argv[1:]), file=open({!r}, "a")); sys.exit(255)'
REAL_SSH = shutil.which("ssh") or ""


@pytest.fixture
def argv_of(ssh: Path) -> Iterator[Path]:
    """The program `ssh` writes its arguments to this file."""
    written = ssh.with_name("argv.jsonl")
    argv = (sys.executable, "-I", "-S", "-c", PRINTS.format(str(written)))
    ssh.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
    ssh.chmod(0o755)
    yield written


def first(written: Path) -> list[str]:
    found: list[str] = json.loads(written.read_text().splitlines()[0])
    return found


@pytest.mark.parametrize("address", ["192.0.2.11", "-oProxyCommand=touch /tmp/canary"])
def test_an_address_is_never_an_option(address: str, argv_of: Path) -> None:
    target = replace(TARGET, address=address)
    with pytest.raises(StudyError):
        Channel(target)
    check_programs([Requirements("h1", target, (PYTHON,))])
    for line in argv_of.read_text().splitlines():
        argv = json.loads(line)
        assert argv[argv.index("--") + 1] == address and argv.count(address) == 1


@pytest.mark.skipif(not REAL_SSH, reason="ssh is not installed")
def test_ssh_reads_paths_with_spaces_and_percent_signs(tmp_path: Path) -> None:
    """OpenSSH's own reading of the options."""
    key = tmp_path / "my keys" / "100%h"
    key.parent.mkdir()
    key.write_text("")
    key.chmod(0o600)
    target = replace(TARGET, known_hosts=str(tmp_path / "my runs %d" / "known_hosts"))
    argv = [REAL_SSH, "-G", *ssh_options(target, {IDENTITY: str(key)}), "--", target.address]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert told["userknownhostsfile"].replace("%%", "%") == target.known_hosts
    assert told["identityfile"].replace("%%", "%") == str(key)


@pytest.mark.parametrize("letter", ['"', "\\", "$", "\n"])
def test_a_path_that_ssh_cannot_be_told_is_refused(letter: str) -> None:
    with pytest.raises(InputError, match="ssh takes no path"):
        ssh_options(replace(TARGET, known_hosts=f"/runs/{letter}{{x}}/known_hosts"), {})


@pytest.mark.thorough
def test_a_real_server_is_known_by_the_studys_file_alone(tmp_path: Path) -> None:
    with sshd(tmp_path) as target:
        there = Channel(target)
        assert there.act("clock") > 1e9
        there.close()
        known = Path(target.known_hosts)
        known.write_text(known.read_text().replace("AAAA", "AAAB"))
        with pytest.raises(InputError, match="Host key verification failed"):
            Channel(target)


VIRSH = """#!/bin/sh
# As libvirt does: runs `command=` of the URI, or else the ssh on PATH.
uri=${1#--connect=}
query=${uri#*\\?}
command=${query#command=}
[ "$command" = "$query" ] && command=ssh
exec "$command" -l study -T -e none -- 192.0.2.11 "sh -c nc"
"""


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize(
    "more", ["", "&command=/tmp/evil&no_verify=1", "&netcat=/tmp/evil", "&socket=/tmp/evil&keyfile=/etc/x"]
)  # fmt: skip
def test_libvirt_over_ssh_is_as_strict_as_all_ssh(
    real: bool, more: str, argv_of: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.write_text("")
    key.chmod(0o600)
    monkeypatch.setenv(IDENTITY, str(key))
    known_hosts = f"{tmp_path}/my runs %d/known_hosts"
    if not real:
        argv_of.with_name("virsh").write_text(VIRSH)
        argv_of.with_name("virsh").chmod(0o755)
    elif shutil.which("virsh") is None:
        pytest.skip("virsh is not installed")
    uri = f"qemu+ssh://study@192.0.2.11/system?known_hosts={quote(known_hosts)}{more}"
    with pytest.raises(StudyError, match="virsh version failed"):
        Virsh(uri).run("version")
    argv = first(argv_of)
    assert argv[:2] == ["-F", "/dev/null"]
    assert set(STRICT) <= set(argv)
    named = f'UserKnownHostsFile="{known_hosts.replace("%", "%%")}"'
    assert named in argv and "IdentitiesOnly=yes" in argv and f'IdentityFile="{key}"' in argv
    assert argv[argv.index("--") + 1] == "192.0.2.11" and "evil" not in str(argv)


@pytest.mark.usefixtures("ssh", "runtime")
def test_a_program_for_virsh_needs_a_disk_that_allows_it_and_ends_with_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uri = "qemu+ssh://study@192.0.2.11/system?known_hosts=/k"
    program = Path(connected(uri).partition("command=")[2])
    assert program.stat().st_mode & 0o777 == 0o700
    with scratch(runtime_dir(), OWN):
        assert program.exists(), "its process lives"
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", f"{runtime_dir()}/noexec")
    monkeypatch.setattr(connection, "allows_programs", lambda _: False)
    with pytest.raises(InputError, match="noexec") as refused:
        connected(uri)
    assert "DENSITY_STUDY_RUNTIME" in refused.value.remedy


@pytest.mark.parametrize(
    "uri",
    ["qemu+ext:///system?command=/tmp/evil", "qemu+ssh://-oProxyCommand=x/system", "qemu+ssh://u@/system",
     "qemu+ssh://-l@h/system", "qemu+unix:///system", "qemu+tcp://h/system", "qemu+ssh://h/../system", "xen:///",
     "qemu+ssh://h:22:23/system", "--help", "test:///default", "qemu+libssh://h/system", "qemu://h/system"],
)  # fmt: skip
def test_other_addresses_of_libvirt_are_refused(uri: str) -> None:
    with pytest.raises(InputError, match="not the address of a libvirt"):
        connected(uri)


def test_this_machines_libvirt_has_no_parameters_but_its_socket() -> None:
    assert connected("qemu:///system") == "qemu:///system"
    assert connected("qemu:///system?command=/tmp/evil") == "qemu:///system"
    assert connected("qemu:///system?socket=/run/x") == "qemu:///system?socket=/run/x"


def test_virsh_may_not_print_without_end(ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("density_study.cluster.providers.libvirt.virsh.MAX_OUTPUT_BYTES", 2**20)
    ssh.with_name("virsh").write_text("#!/bin/sh\nexec yes\n")
    ssh.with_name("virsh").chmod(0o755)
    with pytest.raises(StudyError, match="printed more than 1 MiB"):
        Virsh("qemu:///system").run("list")


def test_lists_of_libvirt_may_be_nonsense(ssh: Path) -> None:
    ssh.with_name("virsh").write_text(
        "#!/bin/sh\nprintf 'a\\nb\\nc\\n d\\n --all /x\\n \\377 /y\\n'\n"
    )
    ssh.with_name("virsh").chmod(0o755)
    assert Virsh("qemu:///system").volumes("p") == {"--all": "/x", "\ufffd": "/y"}


def test_output_is_bounded_in_bytes_and_time() -> None:
    with pytest.raises(TooMuchError):
        run_bounded(["yes"], 10.0, limit_bytes=1000)
    with pytest.raises(TooMuchError):
        run_bounded(["sh", "-c", "yes >&2"], 10.0, limit_bytes=1000)
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run_bounded(["sh", "-c", "sleep 60 & sleep 60"], 0.2)
    assert time.monotonic() - begun < 5.0
    done = run_bounded(["sh", "-c", "cat; echo wrong >&2; exit 3"], 10.0, "given\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, "given\n", "wrong\n")
