"""A host that lies, streams, stalls: one clear error that names it, and nothing of it outside its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import HostLostError, SeveralError, StudyError
from density_study.cluster.model.host import Disk, Host, Login, Target
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.physical.provider import PhysicalProvider
from density_study.cluster.providers.ssh import channel as channel_module
from density_study.cluster.providers.ssh import fetching, programs
from density_study.cluster.providers.ssh.answers import ACTS, VERBS
from density_study.cluster.providers.ssh.build import SshBuild, same_java
from density_study.cluster.providers.ssh.channel import Channel, channel
from density_study.cluster.providers.ssh.programs import PYTHON, Requirements, check_programs
from density_study.cluster.providers.ssh.transport import Place, SshTransport
from density_study.cluster.state.events import NodeReach
from density_study.cluster.state.journal import Journal
from tests.security.hosts.conftest import TARGET
from tests.support.topologies import layout_of

Tell = Callable[[dict[str, Any]], None]
MIB = 2**20
UNDERSTOOD = "what it answers is not understood"
NODE = Node("w1", "h1", TARGET.address, ("worker",), 1024, 1)


def say(value: Any, **more: Any) -> dict[str, Any]:
    return {"say": {"ok": value}, **more}


LIES: dict[str, tuple[dict[str, Any], str]] = {
    "10 GB declared": ({"bytes": "\xff\xff\xff\xff"}, "a message of 4294967295 bytes"),
    "an endless message": ({"bytes": "\x7f\xff\xff\xff", "repeat": "x"}, UNDERSTOOD),
    "an endless stream": ({"bytes": "", "repeat": "x"}, UNDERSTOOD),
    "not JSON": ({"bytes": "\0\0\0\3abc"}, "not JSON"),
    "lists in lists": ({"bytes": "\0\0\x27\x10" + "[" * 10_000}, "not JSON"),
    "a large number": ({"bytes": "\0\0\x27\x10" + "9" * 10_000}, "not JSON"),
    "infinite": ({"bytes": '\0\0\0\x1a{"number": 1, "ok": 1e999}'}, "not JSON"),
    "half a letter": ({"bytes": '\0\0\0\x1d{"number": 1, "ok": "\\ud800"}'}, "not JSON"),
    "no object": ({"bytes": "\0\0\0\2[]"}, "not the answer"),
    "another answer": (say(1.0, number=7), "not the answer"),
    "the wrong type": (say({"{{ 1 }}": []}), "clock: Input should be a valid number"),
    "nothing of an error": ({"say": {"error": "x"}}, r"error\['what'\]: Field required"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_ends_the_connection_and_names_the_host(name: str, told: Tell) -> None:
    lie, reason = LIES[name]
    told({"clock": lie})
    with at_most(32), pytest.raises(HostLostError, match=reason) as caught:
        channel(TARGET).act("clock")
    assert "'h1'" in caught.value.where
    assert not channel_module._open[TARGET].open


@pytest.mark.parametrize("lie", [{"late": 60.0}, {"drip": "00000040" + "20" * 64}])
def test_a_late_answer_is_not_awaited(lie: dict[str, Any], told: Tell) -> None:
    told({"clock": lie})
    there, begun = channel(TARGET), time.monotonic()
    with pytest.raises(HostLostError, match="no answer within 0 s"):
        there.call("act", "clock", [], timeout_s=0.3)
    assert time.monotonic() - begun < 5.0


def test_answers_that_nobody_asked_for_are_not_taken(told: Tell) -> None:
    told({"clock": say(1.0, times=100_000), "free-mib": say(5)})
    there = channel(TARGET)
    with at_most(32), pytest.raises(HostLostError, match="not the answer"):
        assert there.act("clock") == 1.0
        there.act("free-mib", "/")


def test_a_host_that_lies_from_the_beginning(told: Tell) -> None:
    told({"greeting": {"bytes": "Welcome to h1!\n"}})
    with pytest.raises(HostLostError, match="does a login script print something"):
        Channel(TARGET)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*VERBS, *ACTS])
def test_each_request_is_safe_from_a_lie(name: str, told: Tell) -> None:
    told({name: say("{{ 7*7 }}" * 10_000)})
    with at_most(64), pytest.raises(HostLostError, match=f"{name}.*") as caught:
        ask(channel(TARGET), name)
    assert "'h1'" in caught.value.where


def ask(there: Channel, name: str) -> Any:
    if name in VERBS:
        return there.call(name, [["n", "d", 1, 1]])
    return there.act(name, ["c1"])


@pytest.mark.parametrize(
    "names",
    [["../../evil"], ["/etc/evil"], ["fine", "a/../../../evil"], ["a\0b"], "evil", [["evil"]], {"evil": 1},
     ["x"] * 20_001, ["a", "a/b"], ["-" * 2000]],
    ids=lambda names: str(names)[:20],
)  # fmt: skip
def test_names_that_a_host_lists_stay_in_the_folder(names: Any, told: Tell, tmp_path: Path) -> None:
    told({"files": say(names), "read": say("ZXZpbA==")})
    folder = tmp_path / "runs" / "s" / "r" / "records" / "t1"
    folder.mkdir(parents=True)
    before = everything(tmp_path)
    with pytest.raises(HostLostError, match="files") as caught:
        transport(tmp_path).collect(NODE, folder)
    assert "'h1'" in caught.value.where
    assert everything(tmp_path) == before


def test_what_a_host_lists_is_copied_as_plain_files(told: Tell, tmp_path: Path) -> None:
    told({"files": say(["raw/a.out", "ü.log"]), "read": say("ZXZpbA==")})
    folder = tmp_path / "runs" / "s" / "r" / "records" / "t1"
    transport(tmp_path).collect(NODE, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert [str(path.relative_to(folder)) for path in files] == ["raw/a.out", "ü.log"]
    assert all(path.read_text() == "evil" and not path.stat().st_mode & 0o7111 for path in files)


def test_a_file_without_an_end_is_cut_off(
    told: Tell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MAX_MIB", 8)
    told({"read": {"file": True}})
    with at_most(64), pytest.raises(StudyError, match="sends more than 8 MiB") as caught:
        fetching.fetch(TARGET, "/log", tmp_path / "log", fetching.Allowance(TARGET, 8 * MIB))
    assert "'h1'" in caught.value.where
    assert everything(tmp_path, but="bin") == []


def test_a_file_that_goes_while_its_folder_is_copied_hides_no_other(
    told: Tell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs are rotated."""
    copy = fetching.fetch

    def fetch(target: Target, path: PurePath, *rest: Any) -> None:
        if path.name == "a.log.1":
            raise FileNotFoundError(path)
        copy(target, path, *rest)

    monkeypatch.setattr(fetching, "fetch", fetch)
    told({"files": say(["a.log.1", "b.log"]), "read": say("ZXZpbA==")})
    fetching.fetch_folder(TARGET, PurePath("/logs"), tmp_path / "logs")
    assert everything(tmp_path / "logs") == ["b.log"]


def test_a_slow_file_is_cut_off(told: Tell, tmp_path: Path) -> None:
    told({"read": {"file": True}})
    with pytest.raises(StudyError, match="not sent everything within"):
        fetching.fetch(TARGET, "/log", tmp_path / "log", fetching.Allowance(TARGET, until_s=0.0))


def test_a_file_may_not_be_large(
    told: Tell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MAX_FILE_MIB", 4)
    told({"read": {"file": True}})
    with pytest.raises(StudyError, match="a file of more than 4 MiB"):
        fetching.fetch(TARGET, "/log", tmp_path / "log")


def test_logs_without_an_end_do_not_prevent_the_removal(
    told: Tell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MAX_FILE_MIB", 4)
    build = build_on(tmp_path)
    told({**HONEST, "files": say(["w1/datanode.log"]), "read": {"file": True}})
    build.destroy()
    assert build.leftovers() == ()
    lines = [line for line in build.journal.read() if line["event"] == "logs-lost"]
    assert "'h1'" in lines[0]["message"] and everything(build.site.root) in (
        [],
        ["logs", "logs/w1"],
    )


def test_an_error_of_one_host_does_not_keep_others_from_being_cleaned_up(
    told: Tell, tmp_path: Path
) -> None:
    build = build_on(tmp_path, "h1", "h2")
    failed = {"say": {"error": "StudyError", "what": "no.", "where": "here", "remedy": "none."}}
    told({**HONEST, "stop-tagged": failed})
    with pytest.raises(SeveralError) as caught:
        build.destroy()
    assert [fault.where for fault in caught.value.faults] == ["host 'h1', here", "host 'h2', here"]
    removed = [line for line in build.journal.read() if line["event"] == "dir-removed"]
    assert sorted(line["host"] for line in removed) == ["h1", "h1", "h2", "h2"]
    told({**HONEST, "remove-dir": failed})
    with pytest.raises(SeveralError, match="2 faults"):
        build.destroy()
    told({**HONEST, "units": failed})
    assert build.leftovers() == ("host h1 (unknown: no)", "host h2 (unknown: no)")


HONEST = {"stop-tagged": say([]), "files": say([]), "remove-dir": say(True), "tagged": say([]),
          "dirs-there": say([]), "listening": say([]), "units": say([])}  # fmt: skip


def test_the_logs_of_a_host_are_those_of_its_own_nodes(told: Tell, tmp_path: Path) -> None:
    build = build_on(tmp_path)
    names = ["w1/datanode.log", "m1/namenode.log", "conf.log", "w1/deep/er.log"]
    told({"stop-tagged": say([]), "files": say(names), "read": say("ZXZpbA==")})
    build.stop_and_fetch_logs()
    assert everything(build.site.root) == ["logs", "logs/w1", "logs/w1/datanode.log", "logs/w1/deep",
                                           "logs/w1/deep/er.log"]  # fmt: skip


@pytest.mark.parametrize(
    "lies",
    [
        {"stop-tagged": say([{"pid": "{{ 1 }}"}])},
        {"stop-tagged": {"bytes": "\xff\xff\xff\xff"}},
        {"files": say(["../../../evil"])},
        {"remove-dir": say("yes"), "dirs-there": say(5)},
    ],
)
def test_tear_down_goes_on_past_a_host_that_lies(
    lies: dict[str, Any], told: Tell, tmp_path: Path
) -> None:
    build = build_on(tmp_path)
    told({**HONEST, **lies})
    build.destroy()
    left = build.leftovers()
    assert left == () or left == ("host h1 (does not answer)",)
    assert everything(build.site.root) == []


@pytest.mark.parametrize(
    "home",
    ["/usr/lib/{{ lookup('pipe', 'touch CANARY') }}", "/a/../b", "/x'; touch CANARY; '", "x"],
)
def test_a_java_home_is_no_template(home: str, told: Tell, tmp_path: Path) -> None:
    home = home.replace("CANARY", str(tmp_path / "canary"))
    told({"java": say({"home": home, "version": "17.0.15"})})
    with pytest.raises(HostLostError, match="java") as caught:
        same_java({"h1": TARGET})
    assert "'h1'" in caught.value.where and not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    "name", ["own_folder", "check-java", "check_units", "describe", "free-disks"]
)
def test_a_preflight_names_the_host_that_lies(name: str, told: Tell) -> None:
    layout = topology()
    machine = {"host": "h1", "kernel": "k", "architecture": "x", "cpu_model": "c", "cores": 2,
               "memory_mib": 4096,
               "user": "study", "python": "3.11", "systemd": False}  # fmt: skip
    rest = {"describe": say(machine), "available-memory-mib": say(1), "free-disks": say({}),
            "java": say({"home": "/usr/lib/jvm/x", "version": "17.0.15"})}  # fmt: skip
    told({**rest, name: say({"{{ 7*7 }}": "x"})})
    provider = PhysicalProvider()
    with pytest.raises(HostLostError, match=name) as caught:
        provider.preflight(layout, "s/r")
        provider.memory_mib(layout)
        provider.free_resources(layout)
    assert "'h1'" in caught.value.where


def test_programs_are_asked_of_a_host_that_prints_for_ever(ssh: Path) -> None:
    ssh.write_text("#!/bin/sh\nexec yes\n")
    ssh.chmod(0o755)
    both = TARGET, replace(TARGET, host="h2")
    with at_most(32), pytest.raises(SeveralError, match="prints without end") as caught:
        check_programs([Requirements(target.host, target, (PYTHON,)) for target in both])
    assert [str(fault.where) for fault in caught.value.faults] == list(map(str, both))


def test_programs_are_asked_of_a_host_that_prints_no_text(ssh: Path) -> None:
    ssh.write_text("#!/bin/sh\nprintf '\\377\\376Python 3.11\\n'\n")
    ssh.chmod(0o755)
    check_programs([Requirements("h1", TARGET, (PYTHON,))])


def test_programs_are_not_awaited_for_ever(ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "TIMEOUT_S", 0.2)
    ssh.write_text("#!/bin/sh\nsleep 60\n")
    ssh.chmod(0o755)
    begun = time.monotonic()
    check_programs([Requirements("h1", TARGET, (PYTHON,))])
    assert time.monotonic() - begun < 10.0


def transport(folder: Path) -> SshTransport:
    site = Site(folder / "runs" / "s" / "r" / "builds" / "b1", "s/r/b1")
    place = Place(Path("/work"), {"w1": TARGET})
    return SshTransport(site, Journal(folder / "journal.jsonl"), lambda: place)


def build_on(folder: Path, *hosts: str) -> SshBuild:
    site = Site(folder / "runs" / "s" / "r" / "builds" / "b1", "s/r/b1")
    journal = Journal(folder / "journal.jsonl")
    for number, host in enumerate(hosts or ["h1"], 1):
        target = replace(TARGET, host=host)
        journal.record(NodeReach(tag=site.tag, node=f"w{number}", target=target))
        for path in ("/work/x", "/work/y"):
            journal.intend("make-dir", site.tag, host=host, path=path)
    return SshBuild.known(site, journal)


def everything(folder: Path, but: str = "") -> list[str]:
    """Names below the folder."""
    names = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return sorted(name for name in names if not but or not name.startswith((but, "runtime")))


def topology() -> Topology:
    login = Login("study", 22, "/known_hosts")
    roles = ("master", "worker", "client")
    host = Host("h1", TARGET.address, 2, 4096, (Disk("/mnt", "flash"),), roles, None, login)
    return place((host,), [Variant(0, 1, "flash")], layout_of("physical"))[0]


@contextmanager
def at_most(mib: int) -> Iterator[None]:
    """This process needs no more memory than that in addition, at any moment of the block."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _kib("VmRSS")
    yield
    assert _kib("VmHWM") - before < mib * 1024


def _kib(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))
