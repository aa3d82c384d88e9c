"""Noisy settings are set for a trial and put back, by the journal alone if the trial was killed."""

from __future__ import annotations

import errno
import fnmatch
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.lifecycle.own_acts import check_acts
from density_study.cluster.lifecycle.quiet_hosts import check_quiet, not_put_back, put_back, quieted
from density_study.cluster.machine.equality import kernel_files, quiet
from density_study.cluster.machine.equality.table import FACTS, Fact
from density_study.cluster.machine.privileged import quiet_host, set_network
from density_study.cluster.machine.privileged.quiet_host import FILES, may_write
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Login, Target, VmHost
from density_study.cluster.providers.ssh import acting
from density_study.cluster.state.events import HostReach, NodeReach
from density_study.cluster.state.journal import Journal
from tests.support.topologies import local, physical


class Kernel:
    """Files in place of the kernel's, and root's program in place of sudo."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.noise, self.calm = folder / "noise", folder / "calm"
        self.noise.write_text("1\n")
        self.calm.write_text("always [0] never\n")
        rows = [Fact(name, str(folder / name), quiet="0") for name in ("noise", "calm", "absent")]
        monkeypatch.setattr(quiet, "FACTS", rows)
        monkeypatch.setattr(quiet, "may_write", lambda words: words[1].startswith(str(folder)))
        monkeypatch.setattr(kernel_files, "as_root", self.write)
        self.refused = ""
        self.calls = 0

    def write(self, _: str, __: str, *words: str) -> subprocess.CompletedProcess[str]:
        self.calls += 1
        for file, text in zip(words[::2], words[1::2], strict=True):
            if file == self.refused:
                return subprocess.CompletedProcess([], 1, "", "Operation not permitted")
            Path(file).write_text(f"{text}\n")
        return subprocess.CompletedProcess([], 0, "", "")


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(tmp_path, monkeypatch)


SITE, TAG = Site(Path("/nonexistent/b1"), "s/r/b1"), "s/r"


def test_roots_program_takes_every_quiet_setting_and_nothing_else() -> None:
    patterns = [fact.read for fact in FACTS if fact.quiet]
    assert len(patterns) > 5
    for pattern in patterns:
        file = pattern.replace("[0-9]*", "7")
        assert fnmatch.fnmatch(file, pattern) and may_write(("write", file, "0")), pattern
        assert any(re.fullmatch(one, file) for one in FILES)
    for bad in (
        ("write", "/etc/shadow", "0"),
        ("write", "/proc/sys/kernel/numa_balancing/../core_pattern", "0"),
        ("write", "/proc/sys/kernel/numa_balancing", "|x"),
        ("write", "/proc/sys/kernel/numa_balancing\n", "0"),
        ("read", "/proc/sys/kernel/numa_balancing", "0"),
        ("write", "/proc/sys/kernel/numa_balancing"),
        ("write", "/proc/sys/kernel/numa_balancing", "0", "/proc/sys/kernel/timer_migration"),
        ("write", "/proc/sys/kernel/numa_balancing", "0", "/etc/shadow", "0"),
        ("write", "/proc/sys/kernel/numa_balancing", "0", "/proc/sys/kernel/timer_migration", "|x"),
        ("write",),
        (),
    ):
        assert not may_write(bad)


def test_a_trial_has_quiet_hosts_and_leaves_them_as_they_were(
    kernel: Kernel, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    with quieted(SITE, local(), journal):
        assert kernel.noise.read_text() == "0\n"
        assert not_put_back(SITE, journal) == (f"{kernel.noise} on h1",)
        (intent,) = journal.intents("quiet-host")
        assert intent.former == {str(kernel.noise): "1"}
    assert kernel.noise.read_text() == "1\n" and kernel.calm.read_text().startswith("always")
    assert not_put_back(SITE, journal) == ()
    put_back(SITE, journal)  # a second time: nothing is asked for
    kernel.noise.write_text("2\n")  # somebody else's change, after the trial
    put_back(SITE, journal)
    assert kernel.noise.read_text() == "2\n"


def test_root_writes_all_files_of_a_host_in_one_call(kernel: Kernel, tmp_path: Path) -> None:
    kernel.calm.write_text("[1] 0\n")
    with quieted(SITE, local(), Journal(tmp_path / "journal.jsonl")):
        assert kernel.noise.read_text() == kernel.calm.read_text() == "0\n"
        assert kernel.calls == 1
    assert kernel.noise.read_text() == kernel.calm.read_text() == "1\n"
    assert kernel.calls == 2


def test_after_a_kill_the_journal_puts_the_first_texts_back(kernel: Kernel, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for former in (
        "1",
        "0",
    ):  # of two trials, both killed: the second saw what the first had changed
        journal.intend("quiet-host", SITE.tag, host="h1", former={str(kernel.noise): former})
    kernel.noise.write_text("0\n")
    put_back(SITE, journal)
    assert kernel.noise.read_text() == "1\n" and not_put_back(SITE, journal) == ()


def test_a_failing_trial_is_put_back_too(kernel: Kernel, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(RuntimeError), quieted(SITE, local(), journal):
        raise RuntimeError
    assert kernel.noise.read_text() == "1\n"


def test_what_root_refuses_is_one_error(kernel: Kernel, tmp_path: Path) -> None:
    kernel.refused = str(kernel.noise)
    journal = Journal(tmp_path / "journal.jsonl")
    with (
        pytest.raises(StudyError, match="Operation not permitted"),
        quieted(SITE, local(), journal),
    ):
        raise AssertionError("the trial began")
    assert kernel.noise.read_text() == "1\n"


def test_a_setting_that_cannot_be_put_back_keeps_no_other(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The governor of a CPU that was taken away can be neither written nor read."""
    read = Path.read_text

    def fail(path: Path, *_: Any, **__: Any) -> str:
        if path == kernel.calm:
            raise OSError(errno.EBUSY, "busy")
        return read(path)

    former = {str(kernel.calm): "always", str(kernel.noise): "5"}
    kernel.refused = str(kernel.calm)
    monkeypatch.setattr(Path, "read_text", fail)
    with pytest.raises(StudyError, match="not permitted"):
        quiet.restore(former)
    assert kernel.noise.read_text() == "5\n"
    assert quiet.changed(former) == [str(kernel.calm)]


def test_without_the_right_there_is_one_fault_before_anything_starts(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "may_not", lambda *_: "sudo does not let this user run it")
    with pytest.raises(InputError, match="sudo does not let this user") as caught:
        quiet.check()
    assert "study sudo-rules --quiet-host" in caught.value.remedy
    assert kernel.noise.read_text() == "1\n"


@pytest.mark.parametrize(
    "former",
    [
        {"/etc/shadow": "0"},
        {"/proc/sys/kernel/numa_balancing": "0\n1"},
        {"/proc/sys/kernel/core_pattern": "x"},
    ],
)
def test_a_forged_journal_is_refused(tmp_path: Path, former: dict[str, str]) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.intend("quiet-host", "s/r/b1", host="h1", former=former)
    with pytest.raises(StudyError, match="this run cannot have written that"):
        check_acts(tmp_path, TAG, journal)
    with pytest.raises(StudyError):
        quiet.restore(former)


def test_hosts_over_ssh_are_asked_by_their_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at once, each in this order; none is put back while another is made quiet."""
    asked: list[tuple[Target, str]] = []

    def channel(target: Target) -> Any:
        def act(name: str, *_: Any) -> Any:
            asked.append((target, name))
            return {"/x": "1"} if name == "noisy" else None

        return SimpleNamespace(act=act)

    monkeypatch.setattr(acting, "channel", channel)
    login, topology = Login("u", 22, "/known_hosts"), physical()
    hosts = tuple(replace(host, login=login) for host in topology.hosts)
    targets = [login.target(host.name, host.address) for host in hosts]
    journal = Journal(tmp_path / "journal.jsonl")
    for target in targets:
        journal.record(HostReach(tag=SITE.tag, node=target.host, target=target))
    with quieted(SITE, replace(topology, hosts=hosts), journal):
        made_quiet = list(asked)
    assert len(targets) == 3
    for target in targets:
        assert [name for at, name in made_quiet if at == target] == ["noisy", "make-quiet"]
    assert len(made_quiet) == 6
    restored = [(target, "restore-noise") for target in targets]
    assert sorted(asked[6:], key=str) == sorted(restored, key=str)


def test_a_guest_of_a_hosts_name_gets_none_of_its_settings(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def channel(target: Target) -> Any:
        raise AssertionError(f"{target} was asked")

    monkeypatch.setattr(acting, "channel", channel)
    journal = Journal(tmp_path / "journal.jsonl")
    guest = Target("h1", "192.0.2.7", 22, "me", "/known_hosts")
    journal.record(NodeReach(tag=SITE.tag, node="h1", target=guest))
    with quieted(SITE, local(), journal):
        assert not_put_back(SITE, journal) == (f"{kernel.noise} on h1",)
    assert kernel.noise.read_text() == "1\n"


def test_settings_of_another_machine_are_never_written_to_this_one(
    kernel: Kernel, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.intend("quiet-host", SITE.tag, host="h9", former={str(kernel.noise): "7"}, via="ssh")
    with pytest.raises(StudyError, match="does not report how this host was reached"):
        put_back(SITE, journal)
    assert kernel.noise.read_text() == "1\n"


def test_hosts_that_carry_no_nodes_are_left_alone(kernel: Kernel, tmp_path: Path) -> None:
    """`factors.hosts` leaves hosts idle."""
    topology = local()
    idle = replace(topology.hosts[0], name="idle")
    journal = Journal(tmp_path / "journal.jsonl")
    with quieted(SITE, replace(topology, hosts=(*topology.hosts, idle)), journal):
        assert [one.host for one in journal.intents("quiet-host")] == ["h1"]


def test_a_host_of_a_remote_libvirt_without_ssh_is_not_this_machine() -> None:
    vms = VmHost("qemu+ssh://u@h2/system", (), "192.0.2.0/24")
    host = replace(local().hosts[0], vms=vms)
    assert acting.act_on(host) is None
    with pytest.raises(InputError, match="no SSH login"):
        check_quiet(host)
    assert acting.act_on(replace(host, vms=replace(vms, uri="qemu:///system"))) is not None


@pytest.mark.parametrize("program", [quiet_host, set_network])
def test_roots_programs_write_every_file_that_they_are_told(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "FILES", (rf"{tmp_path}/[ab]",))
    a, b = tmp_path / "a", tmp_path / "b"
    for file in (a, b):
        file.write_text("0")
    monkeypatch.setattr(sys, "argv", ["", "write", str(a), "1", str(b), "2"])
    program.main()
    assert (a.read_text(), b.read_text()) == ("1", "2")
    monkeypatch.setattr(sys, "argv", ["", "write", str(a), "3", str(tmp_path / "c"), "4"])
    with pytest.raises(SystemExit, match="usage"):
        program.main()
    assert a.read_text() == "1", "nothing is written before all words are checked"


def test_the_program_runs_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-IS", quiet.__file__.replace("equality/quiet", "privileged/quiet_host"),
         "write", "/etc/hostname", "x"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "usage: quiet-host" in done.stderr
