"""A web server of a cluster that answers without end, too slowly, or packed: cut off, on every road to it."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from density_study.cluster.clients.daemon_pages import NO_ANSWER
from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.existing import web
from density_study.cluster.stores import answer_limits
from density_study.cluster.stores.answers import fetch_json
from density_study.workloads.monitors import jmx

pytestmark = pytest.mark.usefixtures("watchdog")
MOST_BYTES, MOST_S = 2**20, 1.5
HEAD = b"HTTP/1.1 200 OK\r\n"
PACKED = gzip.compress(b" " * 2**26)


def _endless(send: Callable[[bytes], None], piece: bytes, pause_s: float = 0.0) -> None:
    while True:
        send(piece)
        time.sleep(pause_s)


ANSWERS: dict[str, Callable[[Callable[[bytes], None]], None]] = {
    "body": lambda send: send(HEAD + b"\r\n") or _endless(send, b" " * 2**16),
    "length": lambda send: (
        send(HEAD + b"Content-Length: 999999999999\r\n\r\n") or _endless(send, b" " * 2**16)
    ),
    "chunks": lambda send: (
        send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        or _endless(send, b"4000\r\n" + b" " * 0x4000 + b"\r\n")
    ),
    "size of a chunk": lambda send: (
        send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n") or _endless(send, b"0" * 2**16)
    ),
    "slow body": lambda send: send(HEAD + b"\r\n") or _endless(send, b" ", 0.05),
    "slow head": lambda send: send(HEAD) or _endless(send, b"x", 0.05),
    "packed": lambda send: send(
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED
    ),
}


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (answer_limits, web, jmx):
        monkeypatch.setattr(module, "MOST_BYTES", MOST_BYTES)
    monkeypatch.setattr(answer_limits, "MOST_S", MOST_S)


@pytest.fixture
def serve() -> Iterator[Callable[[str], str]]:
    """Starts a server with one of `ANSWERS`; its address."""
    servers = []

    def started(how: str) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=_serve, args=(server, ANSWERS[how]), daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield started
    for server in servers:
        server.close()


def _serve(server: socket.socket, answer: Callable[[Callable[[bytes], None]], None]) -> None:
    with suppress(OSError):
        while True:
            caller, _ = server.accept()
            with caller, suppress(OSError):
                caller.recv(2**16)
                answer(caller.sendall)


@pytest.mark.parametrize("how", ANSWERS)
def test_a_page_of_a_daemon_is_cut_off(how: str, serve: Callable[[str], str]) -> None:
    begun = time.monotonic()
    with pytest.raises(NO_ANSWER):
        fetch_json(f"http://{serve(how)}/jmx")
    assert time.monotonic() - begun < MOST_S + 5


@pytest.mark.parametrize("kerberos", [False, True])
@pytest.mark.parametrize("how", ANSWERS)
def test_an_answer_of_an_existing_cluster_is_cut_off(
    how: str, kerberos: bool, serve: Callable[[str], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(web, "TIMEOUT_S", MOST_S)  # of curl: until the end
    access = Access(str(tmp_path / "no-ticket"), "/etc/krb5.conf", "") if kerberos else OPEN
    begun = time.monotonic()
    with pytest.raises(StudyError, match="no answer"):
        web.get_json(serve(how), "/jmx", access=access)
    assert time.monotonic() - begun < 2 * MOST_S + 5


def test_a_proxy_changes_nothing(
    serve: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://{serve('body')}")
    with pytest.raises(requests.RequestException):
        web.session_of(OPEN).get("http://192.0.2.1/jmx", timeout=5)


@pytest.mark.parametrize("how", ["body", "chunks", "slow body"])
def test_the_monitor_of_a_daemon_knows_nothing_and_goes_on(
    how: str, serve: Callable[[str], str]
) -> None:
    poller = jmx.JmxPoller({"w1/regionserver": serve(how)}, 0.5)
    assert poller.read() == {"w1/regionserver": {}}
    assert poller.read() == {"w1/regionserver": {}}


def test_a_file_of_hdfs_may_not_be_large(tmp_path: Path) -> None:
    hdfs = Hdfs.__new__(Hdfs)
    hdfs.__dict__["_fs"] = Listed()
    with pytest.raises(OSError, match="at most"):
        hdfs.fetch("/history/x.jhist", tmp_path / "x.jhist")
    assert not list(tmp_path.iterdir())


class Listed:
    """A file system whose files are larger than any disk."""

    def info(self, path: str) -> dict[str, int]:
        return {"size": 2**60}

    def get_file(self, path: str, to: str) -> None:
        Path(to).write_bytes(b"a part of it")
