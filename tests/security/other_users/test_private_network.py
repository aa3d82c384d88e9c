"""Daemons of a local build, tried by another user of the machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.clients.web_pages import carry, uid_of
from density_study.cluster.lifecycle.tear_down import leftovers_of, tear_down
from density_study.cluster.machine.other_users import private_network
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.access import OPEN
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import Disk
from density_study.cluster.model.store import store_named
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.existing.web import session_of
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.local.transport import network_of
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from density_study.cluster.stores.answers import fetch_json
from density_study.cluster.stores.store import cluster_store
from tests.support.other_user import AS_NOBODY, ROOT_ONLY, reaches
from tests.support.topologies import local

PORT = 29173
DAEMON = f"""
import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{{"beans": []}}')
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", {PORT}), Page).serve_forever()
"""
WITHOUT = pytest.mark.skipif(bool(private_network.obstacle()), reason="no network namespaces here")


class Build:
    """A stand-in for a daemon on `w1` of a local build, placed by its transport."""

    def __init__(self, folder: Path) -> None:
        disk = Disk(str(folder / "disk"), "flash")
        spec = local()
        nodes = tuple(replace(n, disk=disk if n.disk else None) for n in spec.nodes)
        self.topology = replace(spec, nodes=nodes)
        self.site = Site(folder / "runs" / "b1", f"test/{os.getpid()}-{folder.name}/b1")
        self.journal = Journal(folder / "runs" / "journal.jsonl")
        intent = {"act": "build", "build": "b1", "provider": "local", "ports": []}
        self.journal.write("intent", tag=self.site.tag, **intent)
        self.provider = LocalProvider()
        self.provider.create(self.site, self.topology, self.journal)
        self.transport = self.provider.transport(self.site, self.journal)
        self.network = network_of(self.site.tag, self.journal)
        self.daemon = self.start("daemon", sys.executable, "-c", DAEMON)
        self.until_it_answers()

    def start(self, name: str, *argv: str) -> ProcessId:
        out, err = (self.site.root / f"{name}.{end}" for end in ("out", "err"))
        return self.transport.start(self.topology.workers[0], Command(name, argv), out, err)

    def until_it_answers(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with suppress(OSError):
                private_network.connect(self.network, ("127.0.0.1", PORT), 1.0).close()
                return
            time.sleep(0.02)
        raise TimeoutError("the stand-in does not listen")

    @property
    def holder(self) -> ProcessId:
        return next(one for one in tagged(self.site.tag) if one.node == "")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of a build. The path of the runtime folder is longer than the kernel takes for a socket, and every user
    may enter it: only the door itself is closed."""
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:
        own = Path(runtime) / ("long-" * 22)
        own.mkdir()
        for path in (Path(runtime), own):
            path.chmod(0o755)
        monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(own))
        yield tmp_path


@pytest.fixture
def build(folder: Path) -> Iterator[Build]:
    made = Build(folder)
    try:
        yield made
    finally:
        stop_all(tagged(made.site.tag), 0.0)


@WITHOUT
@ROOT_ONLY
def test_another_user_does_not_reach_a_daemon(build: Build) -> None:
    assert not reaches(("127.0.0.1", PORT))
    door = private_network.door_of(build.network)
    there = f"import os, socket; os.chdir({str(door.parent)!r}); os.stat({door.name!r})"
    assert reaches(None, there)
    assert not reaches(None, f"{there}; socket.socket(socket.AF_UNIX).connect({door.name!r})")
    assert not reaches(None, f"open('/proc/{build.holder.pid}/ns/net')")


@WITHOUT
def test_its_own_user_does(build: Build) -> None:
    """As all parts of the program that ask daemons."""
    url = f"http://127.0.0.1:{PORT}/jmx"
    assert fetch_json(url, network=build.network) == {"beans": []}
    assert session_of(OPEN, build.network).get(url, timeout=5).json() == {"beans": []}
    assert (
        "answers"
        in cluster_store(store_named("redis")).answer(f"127.0.0.1:{PORT}", build.network).state
    )
    with pytest.raises(OSError, match="refused"):
        fetch_json(url)
    asked = build.start("client", "/usr/bin/env", "python3", "-c",
                        f"import socket; socket.create_connection(('127.0.0.1', {PORT}))")  # fmt: skip
    assert build.transport.wait(asked, 10) == 0


@WITHOUT
def test_tear_down_leaves_no_network(build: Build) -> None:
    door = private_network.door_of(build.network)
    assert door.exists()
    tear_down(build.site, build.journal)
    assert not door.exists() and not leftovers_of(build.site, build.journal)
    assert not tagged(build.site.tag)


@WITHOUT
def test_after_its_holder_was_killed_nothing_runs_outside(build: Build) -> None:
    os.kill(build.holder.pid, signal.SIGKILL)
    time.sleep(0.1)
    with pytest.raises(StudyError, match="its network namespace is gone"):
        build.start("client", "/bin/true")
    with pytest.raises(OSError, match="refused"):
        fetch_json(f"http://127.0.0.1:{PORT}/", network=build.network)
    assert any("net-" in left for left in leftovers_of(build.site, build.journal))
    tear_down(build.site, build.journal)
    assert not leftovers_of(build.site, build.journal)
    again = Build(build.site.root.parents[1])  # a run that is resumed has the same tag
    tear_down(again.site, again.journal)


@WITHOUT
@ROOT_ONLY
def test_web_pages_are_shown_to_their_user_alone(build: Build) -> None:
    address = ("127.0.0.1", PORT)
    with carry(build.network, [address]):
        assert fetch_json(f"http://127.0.0.1:{PORT}/jmx") == {"beans": []}
        question = b"GET /jmx HTTP/1.0\r\n\r\n"
        assert not reaches(None, f"import socket; s = socket.create_connection({address!r}); "
                                 f"s.sendall({question!r}); assert s.recv(10)")  # fmt: skip
        assert reaches(None, "")
    with pytest.raises(OSError, match="refused"):
        fetch_json(f"http://127.0.0.1:{PORT}/jmx")


@ROOT_ONLY
def test_a_door_of_another_user_is_not_used(folder: Path) -> None:
    door = private_network.door_of("net-0123456789ab")
    door.parent.chmod(0o777)
    foreign = subprocess.Popen(
        (*AS_NOBODY, f"import os, socket; os.chdir({str(door.parent)!r}); s = socket.socket(socket.AF_UNIX); "
                     f"s.bind({door.name!r}); s.listen(); print(flush=True); s.accept(); s.accept()"),
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert foreign.stdout is not None
    try:
        foreign.stdout.readline()
        door.parent.chmod(0o700)
        with pytest.raises(PermissionError, match="another user's"):
            private_network.entry(door.name)
        with pytest.raises(PermissionError, match="another user's"):
            private_network.connect(door.name, ("127.0.0.1", PORT), 5.0)
    finally:
        foreign.kill()
        foreign.communicate()


@WITHOUT
def test_a_stopped_holder_is_not_waited_for(build: Build) -> None:
    os.kill(build.holder.pid, signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        fetch_json(f"http://127.0.0.1:{PORT}/", 0.2, build.network)


@pytest.mark.parametrize("name", ["../agent.sock", "/run/dbus", "net-", "net-0123456789ab/../x"])
def test_a_record_names_no_other_socket(folder: Path, name: str) -> None:
    for reach in (private_network.entry, private_network.door_of):
        with pytest.raises(OSError, match="no such network"):
            reach(name)


def test_the_user_at_the_other_end_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as caller:
            assert uid_of(caller.getsockname(), server.getsockname()) == os.geteuid()
        assert uid_of(("127.0.0.1", 1), server.getsockname()) is None


def test_without_namespaces_it_is_disclosed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_network, "obstacle", lambda: "Operation not permitted")
    made = Build(folder)
    try:
        assert made.network == ""
        disclosed = made.provider.disclose(made.topology)["reachable_by"]
        assert disclosed == "every user of this machine"
        assert os.geteuid() != 0 or reaches(("127.0.0.1", PORT))
    finally:
        tear_down(made.site, made.journal)
