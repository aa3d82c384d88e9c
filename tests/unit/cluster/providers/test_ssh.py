"""SSH without a server: options, host keys, the toolkit, and an agent as a plain process."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.machine.privileged import start_unit
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh import units, wire
from density_study.cluster.providers.ssh.agent import failure
from density_study.cluster.providers.ssh.answers import checked_failure
from density_study.cluster.providers.ssh.channel import SERVE, raise_failure
from density_study.cluster.providers.ssh.options import (
    IDENTITY,
    identity_file,
    ssh_options,
    unread_settings,
    write_known_hosts,
)
from density_study.cluster.providers.ssh.toolkit import toolkit
from density_study.cluster.providers.ssh.units import unit_name
from density_study.cluster.state.events import NodeReach
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged

TARGET = Target("h1", "192.0.2.11", 22, "study", "/runs/s/known_hosts")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDRWbQkXD1OCnl1AGSTYu1NbCPOHCRxVkNYTM5p2qiYc"


def test_host_keys_are_strict_and_only_from_the_studys_file() -> None:
    options = ssh_options(TARGET, {})
    assert {
        "StrictHostKeyChecking=yes",
        'UserKnownHostsFile="/runs/s/known_hosts"',
        "GlobalKnownHostsFile=/dev/null",
        "BatchMode=yes",
        "ForwardAgent=no",
    } <= set(options)
    assert options[:2] == ("-F", "/dev/null")


def test_a_jump_host_gets_the_same_options_and_no_shell_reads_them() -> None:
    hard = replace(
        TARGET, known_hosts="/runs/it's %h/known_hosts", jump="admin@bastion.example:2022"
    )
    (proxy,) = (one for one in ssh_options(hard, {}) if one.startswith("ProxyCommand="))
    words = shlex.split(proxy.removeprefix("ProxyCommand=").replace("%%", "%"))
    assert words[-4:] == ["-W", "[%h]:%p", "--", "bastion.example"]
    assert {"Port=2022", "User=admin", "StrictHostKeyChecking=yes", "BatchMode=yes"} <= set(words)
    assert 'UserKnownHostsFile="/runs/it\'s %%h/known_hosts"' in words
    assert hard.via is not None and not hard.via.jump


@pytest.mark.parametrize("jump", ["-oProxyCommand=x", "a@b;c", "a@b:0", "a@b:70000", "a b"])
def test_a_jump_host_is_a_server(jump: str) -> None:
    with pytest.raises(ValueError, match="not a host to jump from"):
        ssh_options(replace(TARGET, jump=jump), {})


def test_an_authority_of_host_keys_counts_at_every_port(tmp_path: Path) -> None:
    source = tmp_path / "known_hosts"
    source.write_text(f"@cert-authority *.corp.example {KEY}\nh2.corp.example {KEY}\n")
    write_known_hosts(source, [("h1.corp.example", 2222)], tmp_path / "own")
    assert (tmp_path / "own").read_text() == f"@cert-authority *.corp.example {KEY}\n"
    with pytest.raises(InputError, match="no host key"):
        write_known_hosts(source, [("h1.else.example", 2222)], tmp_path / "own")


def test_settings_of_the_users_own_configuration_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssh"
    own = "hostname 192.0.2.7\nport 22\nproxyjump bastion"
    program.write_text(f'#!/bin/sh\n[ "$2" = -F ] && echo "hostname h1\nport 22" || echo "{own}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "hostname 192.0.2.7, proxyjump bastion" in unread_settings("h1")
    assert "hosts[].address, ssh.jump" in unread_settings("h1")
    program.write_text("#!/bin/sh\necho 'hostname h1'\n")
    assert unread_settings("h1") == ""


@pytest.mark.parametrize(
    "target",
    [
        TARGET,
        replace(TARGET, identity="/k", timeout_scale=12),
        replace(TARGET, java="/j", jump="b"),
    ],
)
def test_a_target_survives_the_journal_round_trip(target: Target, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(NodeReach(tag="s/r/b", node="w1", target=target))
    assert [reach.target for reach in journal.events(NodeReach)] == [target]


def test_an_emulated_guest_has_a_longer_silence_timeout() -> None:
    guest = replace(TARGET, timeout_scale=12)
    assert "ServerAliveCountMax=36" in ssh_options(guest, {})
    assert "ServerAliveCountMax=3" in ssh_options(TARGET, {})


def test_a_private_key_readable_by_others_is_refused(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret")
    key.chmod(0o640)
    with pytest.raises(InputError, match="can read the private key"):
        identity_file({IDENTITY: str(key)})
    key.chmod(0o600)
    assert identity_file({IDENTITY: str(key)}) == key
    assert identity_file({}) is None
    with pytest.raises(InputError, match="cannot be read"):
        identity_file({IDENTITY: str(tmp_path / "none")})


def test_known_hosts_of_a_study_contain_only_its_hosts(tmp_path: Path) -> None:
    source, own = tmp_path / "all", tmp_path / "own"
    source.write_text(f"192.0.2.11 {KEY}\nother.example {KEY}\n[192.0.2.12]:2222 {KEY}\n")
    write_known_hosts(source, [("192.0.2.11", 22), ("192.0.2.12", 2222)], own)
    assert own.read_text() == f"192.0.2.11 {KEY}\n[192.0.2.12]:2222 {KEY}\n"
    with pytest.raises(InputError, match=r"no host key for 192\.0\.2\.13"):
        write_known_hosts(source, [("192.0.2.13", 22)], own)
    with pytest.raises(InputError, match="the file does not exist"):
        write_known_hosts(tmp_path / "none", [("192.0.2.13", 22)], own)


def test_what_programs_print_need_not_be_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comment in a file of host keys, and a setting of ssh, in Latin-1."""
    source, own = tmp_path / "all", tmp_path / "own"
    source.write_bytes(f"192.0.2.11 {KEY} ".encode() + b"J\xfcrgen\n")
    write_known_hosts(source, [("192.0.2.11", 22)], own)
    assert own.read_text() == f"192.0.2.11 {KEY} J\ufffdrgen\n"
    program = tmp_path / "ssh"
    program.write_bytes(b"#!/bin/sh\necho 'user j\xfcrgen'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert unread_settings("h1") == ""


def test_host_keys_are_not_looked_for_in_a_file_like_a_disk(tmp_path: Path) -> None:
    source = tmp_path / "all"
    with source.open("wb") as stream:
        stream.truncate(2**40)
    with pytest.raises(InputError, match="larger than 64 MiB"):
        write_known_hosts(source, [("192.0.2.11", 22)], tmp_path / "own")


def test_the_toolkit_archive_is_reproducible() -> None:
    first = toolkit()
    toolkit.cache_clear()
    assert toolkit() == first
    names = zipfile.ZipFile(io.BytesIO(first)).namelist()
    assert "density_study/cluster/providers/ssh/agent.py" in names and "dool/__main__.py" in names


def test_every_module_of_the_toolkit_needs_only_the_toolkit(tmp_path: Path) -> None:
    """A missing module shows on a host only when a trial starts its monitors."""
    (tmp_path / "toolkit.zip").write_bytes(toolkit())
    files = zipfile.ZipFile(tmp_path / "toolkit.zip").namelist()
    files = [name for name in files if name[:5] != "dool/" and name.endswith(".py")]
    own = [name.removesuffix(".py").replace("/", ".") for name in files]
    assert len(own) > 20
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'toolkit.zip')!r}); "
        f"[__import__(name.removesuffix('.__init__')) for name in {own!r}]; "
        "from density_study.workloads.monitors.devices import devices; assert devices()"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_the_agent_needs_only_the_standard_library(tmp_path: Path) -> None:
    """-S: no site-packages, so any other import would be an ImportError."""
    own = f"test/{os.getpid()}-{tmp_path.name}"
    command = {"name": "d", "argv": ["/bin/sh", "-c", "exit 3"], "env": {}, "cwd": None}
    out = str(tmp_path / "out")
    argv = [sys.executable, "-I", "-S", "-c", SERVE]
    agent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert agent.stdin and agent.stdout
    requests, answers = agent.stdin, agent.stdout
    requests.write(f"{len(toolkit())} 60\n".encode() + toolkit())
    requests.flush()
    assert wire.receive(answers, 1000) == {"number": 0, "ok": None}

    def answer(*request: Any) -> Any:
        wire.send(requests, [1, *request])
        return wire.receive(answers, 1000)

    try:
        assert answer("act", "clock", [])["ok"] > 1e9
        assert len(answer("start", own, "w1", command, out, out)["ok"]) == 2
        assert answer("read", str(tmp_path / "none"), 0, 10)["error"] == "FileNotFoundError"
        assert answer("act", "no-such-act", [])["error"] == "other"
        assert answer("act", "check-free", [[["127.0.0.1", 65535]]])["ok"] is None
    finally:
        requests.close()
        assert agent.wait(10) == 0
        answers.close()
    assert tagged(own) == []


def test_errors_keep_their_fields_over_the_wire() -> None:
    with pytest.raises(InputError) as caught:
        _raised(InputError("taken.", "port 1", "free it."), "start")
    assert caught.value.where == "host 'h1', port 1"
    with pytest.raises(TimeoutError):
        _raised(TimeoutError("late"), "wait")
    with pytest.raises(
        StudyError, match="late"
    ):  # whoever asks for anything else does not expect it
        _raised(TimeoutError("late"), "start")
    for number, words in (
        (errno.ENOSPC, "No space left on device: /data/1/x."),
        (errno.ENOENT, "/data/1/x does not exist."),
    ):
        with pytest.raises(StudyError) as told:
            _raised(OSError(number, os.strerror(number), "/data/1/x"), "start")
        assert (told.value.what, told.value.where) == (words, "host 'h1'")


def _raised(error: Exception, verb: str) -> None:
    raise_failure(checked_failure(failure(error)), "host 'h1'", verb)


def test_a_units_command_is_one_that_the_privileged_program_takes() -> None:
    unit = unit_name("study-1/20261121T000000Z/b1-v0", "w1", "datanode")
    assert unit == "density-study-study-1-20261121T000000Z-b1-v0-w1-datanode.service"
    argv = start_unit.command(61500, (unit, "study-1/r/b", "/var/tmp/a/datanode.out.unit.json"))
    assert argv is not None
    assert "--uid=61500" in argv and "--property=IOAccounting=yes" in argv


def test_a_unit_becomes_the_daemon_of_its_description(tmp_path: Path) -> None:
    out, err = tmp_path / "o", tmp_path / "e"
    script = "pwd; echo $GIVEN; echo trouble >&2"
    spec = {
        "argv": ["/bin/sh", "-c", script], "cwd": str(tmp_path), "stdout": str(out), "stderr": str(err),
        "env": {"GIVEN": "this"},
    }  # fmt: skip
    (tmp_path / "spec").write_text(json.dumps(spec))
    argv = start_unit.command(1, (unit_name("s/r/b", "w1", "d"), "s/r/b", str(tmp_path / "spec")))
    assert argv is not None
    subprocess.run(argv[argv.index("--") + 1 :], check=True)
    assert out.read_text() == f"{tmp_path}\nthis\n" and err.read_text() == "trouble\n"


def test_a_busy_systemd_is_queried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = iter(["", "4242\n"])
    monkeypatch.setattr("subprocess.run", lambda *_, **__: SimpleNamespace(stdout=next(outputs)))
    monkeypatch.setattr(units, "start_ticks", lambda pid: 77)
    monkeypatch.setattr(units, "_environ", lambda pid: b"STUDY_TAG=s/r/b1\0")
    assert units._identity("u.service", tmp_path / "out.unit.json") == [4242, 77]


def test_a_systemd_that_does_not_answer_has_units_perhaps(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], 1, "", "Failed to list units: Connection timed out")
    monkeypatch.setattr(units, "usable", lambda: True)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: done)
    with pytest.raises(StudyError, match=r"unknown: Failed to list units"):
        units.of("s/r/b1")


def test_a_unit_that_ended_at_once_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: SimpleNamespace(stdout="0\n"))
    with pytest.raises(StudyError, match="exited at once"):
        units._identity("u.service", tmp_path / "out.unit.json")
