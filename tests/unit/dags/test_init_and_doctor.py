"""`study init` writes a study that can be planned; `study doctor` names every fault and its remedy."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from density_study.cluster.lifecycle import needed
from density_study.cluster.machine.disk_type import Probe
from density_study.cluster.model.errors import HostLostError, InputError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh import examined
from density_study.dags.cli import main
from density_study.dags.cli.first import init_command
from density_study.workloads.planning import resolve
from density_study.workloads.study.study_file import read_study


@pytest.fixture(autouse=True)
def _folder(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flash = Probe(str(tmp_path), random_4k_read_ms=0.1, reads=1)
    monkeypatch.setattr(examined, "probe", lambda _: flash)  # a busy disk shows no type


def call(*arguments: str, answers: str | None = None) -> Result:
    return CliRunner().invoke(main.app, list(arguments), input=answers, catch_exceptions=False)


def free_server() -> socket.socket:
    for port in range(27500, 27600):
        with suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise AssertionError("a hundred ports are taken")


FLAGS = ("--provider", "local", "--densities", "2,1", "--memory-gib", "6", "--repetitions", "1")
SSH = ("--user", "j.doe", "--cores", "8", "--disks", "/data/f1,/data/f2", *FLAGS[2:])


@pytest.mark.parametrize("provider", ["local", "container"])
def test_flags_write_a_study_without_a_question(provider: str) -> None:
    done = call("init", "first look.yaml", *FLAGS, "--provider", provider)
    assert done.exit_code == 0 and "2 builds, 8 trials" in done.output
    study = read_study(Path("first look.yaml")).study
    assert study.provider == provider
    assert (study.study, study.repetitions.at_most, list(study.factors.vms_per_host)) == (
        "first-look",
        1,
        [1, 2],
    )


def test_answers_and_defaults_write_the_same_study_as_flags() -> None:
    assert call("init", "a.yaml", answers="\n\n6\n\n").exit_code == 0
    assert call("init", "b.yaml", *FLAGS).exit_code == 0
    asked, given = (read_study(Path(name)).study for name in ("a.yaml", "b.yaml"))
    assert asked.model_copy(update={"study": "b"}) == given


@pytest.mark.parametrize("provider", ["physical", "libvirt"])
@pytest.mark.parametrize("hosts", ["192.0.2.10", "192.0.2.10,192.0.2.11,192.0.2.12"])
def test_a_study_of_other_hosts_is_valid(provider: str, hosts: str) -> None:
    flags = ("--provider", provider, "--addresses", hosts, *SSH)
    assert call("init", "pair.yaml", *flags).exit_code == 0
    study = read_study(Path("pair.yaml")).study
    assert study.provider == provider and study.ssh is not None and study.ssh.user == "j.doe"
    assert [host.address for host in study.hosts] == hosts.split(",")
    assert any("worker" in host.roles for host in study.hosts)


def test_a_study_of_ten_hosts_is_as_large_as_they_are_and_fits_a_weekend() -> None:
    """Nothing is taken from this machine, and the planner decides what its hours are for."""
    hosts = ",".join(f"192.0.2.{n}" for n in range(10, 20))
    answers = f"libvirt\n1,2\n{hosts}\nme\n64\n250\n/data/f1,/data/f2\n\n"
    assert call("init", "ten.yaml", answers=answers).exit_code == 0
    study = read_study(Path("ten.yaml")).study
    assert {(host.cores, host.memory, len(host.disks)) for host in study.hosts} == {
        (64, 256_000, 2)
    }
    assert study.fit_s == 48 * 3600
    done = json.loads(call("plan", "ten.yaml", "--json").output)
    assert 0.5 * study.fit_s < done["estimate_s"] <= study.fit_s
    assert [one["question"] for one in done["questions"]] and not any(
        one["obstacle"] for one in done["questions"]
    )


@pytest.mark.parametrize("provider", ["physical", "libvirt"])
@pytest.mark.parametrize("gib", [32, 64, 96, 128])
def test_the_study_of_hosts_of_any_size_can_be_decided(provider: str, gib: int) -> None:
    flags = [
        "--provider",
        provider,
        "--addresses",
        "192.0.2.10,192.0.2.11,192.0.2.12",
        "--user",
        "me",
    ]
    flags += [
        "--cores",
        "32",
        "--disks",
        "/data/f1,/data/f2",
        "--budget",
        "48 h",
        "--densities",
        "1,2",
    ]
    assert call("init", "some.yaml", *flags, "--memory-gib", str(gib)).exit_code == 0
    done = json.loads(call("plan", "some.yaml", "--json").output)
    assert done["questions"] and not any(one["obstacle"] for one in done["questions"])


def test_vms_have_addresses_of_their_network_or_there_is_no_study() -> None:
    hosts = ",".join(f"198.51.100.{n}" for n in range(250, 255))
    flags = ("--provider", "libvirt", "--addresses", hosts, "--user", "me", "--cores", "64")
    more = ("--disks", "/data/f1", "--memory-gib", "250", "--repetitions", "5", "--densities")
    assert call("init", "most.yaml", *flags, *more, "1,60").exit_code == 0
    assert " 198.51.100.9-198.51.100.249" in Path("most.yaml").read_text()
    with pytest.raises(InputError, match="249 VMs need as many addresses"):
        call("init", "more.yaml", *flags, *more, "1,62")
    assert not Path("more.yaml").exists()


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--addresses", "192.0.2.10,192.0.2.10", *SSH), "duplicate host address"),
        (("--addresses", "192.0.2.10", *SSH, "--disks", "/d,/d"), "duplicate disk of host"),
        (("--addresses", "192.0.2.10", *SSH, "--cores", "9999999"), "4,096 or less"),
    ],
)
def test_a_study_that_no_command_would_read_is_not_written(
    flags: tuple[str, ...], why: str
) -> None:
    with pytest.raises(InputError, match=f"pair.yaml, not written.*{why}"):
        call("init", "pair.yaml", "--provider", "physical", *flags)
    assert not Path("pair.yaml").exists()


@pytest.mark.parametrize("flags", [FLAGS, ()])
def test_an_existing_file_stays_without_a_question(flags: tuple[str, ...]) -> None:
    Path("mine.yaml").write_text("precious")
    with pytest.raises(InputError, match="the file exists"):
        call("init", "mine.yaml", *flags, answers="")
    assert Path("mine.yaml").read_text() == "precious"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("", "has an empty value"),
        *((bad, "not a list of densities") for bad in ("0", "1,x", "-1", ",")),
    ],
)
def test_densities_that_are_none_are_refused(bad: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call("init", "x.yaml", *FLAGS[:2], f"--densities={bad}", *FLAGS[4:])
    assert not Path("x.yaml").exists()


def test_a_sound_study_has_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needed, "ensure_software", lambda *_, **_here: None)
    call("init", "x.yaml", *FLAGS)
    done = call("doctor", "x.yaml")
    assert done.exit_code == 0 and done.output.endswith("checks, no faults\n")
    assert "fault  " not in done.output
    assert "settings of hosts that change results" in done.output


FREE = ("--set", "stack.base_port=28500")
"""Ports that no cluster of another test has."""


@pytest.mark.usefixtures("shared_network")
def test_other_people_are_warned_of_and_stop_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needed, "ensure_software", lambda *_, **_here: None)
    monkeypatch.setattr(needed, "other_people", lambda: "ann (has processes)")
    call("init", "x.yaml", *FLAGS)
    done = call("doctor", "x.yaml", *FREE)
    assert done.exit_code == 0 and "no faults" in done.output
    assert "warn   other users of this machine\n       the cluster has no network" in done.output
    (told,) = (
        one
        for one in json.loads(call("doctor", "x.yaml", "--json", *FREE).output)
        if one["check"].startswith("other users")
    )
    assert told["ok"] and "ann (has processes)" in told["warning"]


@pytest.mark.usefixtures("shared_network")
def test_every_fault_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_versions: object, here: bool) -> None:
        raise InputError("there is no Java.", "PATH", "install a JDK.")

    monkeypatch.setattr(needed, "ensure_software", missing)
    call("init", "x.yaml", *FLAGS)
    with free_server() as taken:
        base = taken.getsockname()[1]
        done = call("doctor", "x.yaml", "--json", "--set", f"stack.base_port={base}")
    assert done.exit_code == 1
    faults = {check["check"]: check for check in json.loads(done.output) if not check["ok"]}
    assert set(faults) == {"ports of v1-flash", "ports of v2-flash", "Java, Hadoop, HBase and YCSB"}
    assert all(fault["what"] and fault["remedy"] for fault in faults.values())
    assert "remedy: install a JDK." in call("doctor", "x.yaml").output


def test_without_a_host_nothing_else_is_checked() -> None:
    flags = ("--provider", "physical", "--addresses", "192.0.2.10", *SSH)
    call("init", "x.yaml", *flags)
    done = call("doctor", "x.yaml", "--set", "ssh.known_hosts=/nonexistent")
    assert done.exit_code == 1 and "1 checks, 1 fault" in done.output


def test_without_a_terminal_a_missing_answer_is_an_error(tmp_path: Path) -> None:
    """The question of an automatic job: exit code 2 and what to do, not a silent 130."""
    done = subprocess.run(
        [sys.executable, "-m", "density_study.dags.cli.main", "init", "x.yaml"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert (
        "a question got no answer" in done.stderr
        and "remedy: give every requested value" in done.stderr
    )


def test_the_examples_of_init_ask_nothing() -> None:
    for example in init_command.EXAMPLES.splitlines()[4:]:
        words = shlex.split(example)
        assert call(*words[1:], answers="").exit_code == 0, example


TWO = ("--provider", "physical", "--addresses", "192.0.2.10,192.0.2.11", *SSH)


class _Up:
    """A host that answers."""

    def act(self, *_: object) -> object:
        return 0.0


def test_all_hosts_without_a_key_are_named_at_once(tmp_path: Path) -> None:
    call("init", "x.yaml", *TWO)
    (tmp_path / "keys").write_text("192.0.2.9 ssh-ed25519 AAAA\n")
    done = call("doctor", "x.yaml", "--set", f"ssh.known_hosts={tmp_path / 'keys'}")
    assert done.exit_code == 1 and "2 checks, 2 faults" in done.output
    assert "for 192.0.2.10" in done.output and "for 192.0.2.11" in done.output


def leave_cores_to_hosts() -> None:
    """Then a plan asks them."""
    spec = Path("x.yaml")
    spec.write_text(re.sub(r"cores: \d+", "cores: auto", spec.read_text()))


class _Down:
    """A host that does not answer."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def act(self, *_: object) -> object:
        raise HostLostError("no answer.", str(self.target), "run `study reap`.")


def test_one_host_that_does_not_answer_is_found_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call("init", "x.yaml", *TWO)
    leave_cores_to_hosts()
    monkeypatch.setattr(examined, "channel", lambda t: _Down(t) if "host2" in str(t) else _Up())
    monkeypatch.setattr(examined, "check_programs", lambda _: None)
    monkeypatch.setattr(resolve, "write_known_hosts", lambda *_: None)
    with pytest.raises(InputError, match=r"no answer.*Nothing was started") as caught:
        call("plan", "x.yaml")
    assert "192.0.2.11" in caught.value.where and caught.value.exit_code == 2


def test_all_hosts_that_do_not_answer_are_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call("init", "x.yaml", *TWO)
    leave_cores_to_hosts()
    monkeypatch.setattr(examined, "channel", _Down)
    monkeypatch.setattr(examined, "check_programs", lambda _: None)
    monkeypatch.setattr(resolve, "write_known_hosts", lambda *_: None)
    done = call("doctor", "x.yaml")
    assert done.exit_code == 1 and "2 checks, 2 faults" in done.output
    for command in ("doctor", "plan"):
        monkeypatch.setattr(sys, "argv", ["study", command, "x.yaml"])
        with pytest.raises(SystemExit) as ended:
            main.main()
        assert ended.value.code == (1 if command == "doctor" else 2)
        said = "".join(capsys.readouterr())
        assert "192.0.2.10" in said and "192.0.2.11" in said
        assert "study reap" not in said and "Nothing was started" in said
