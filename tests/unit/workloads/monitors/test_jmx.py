"""JMX over HTTP: columns of beans, and daemons that answer late, wrongly or not at all."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from density_study.workloads.monitors.devices import declarations, devices
from density_study.workloads.monitors.jmx import JmxPoller, beans_of, columns_of


def test_every_attribute_adds_to_a_declared_column() -> None:
    beans = declarations()["jmx"]["beans"]
    columns = {column for bean in beans for _, column, *_ in bean["attributes"]}
    assert columns == set(devices()["jmx"].columns)


def test_columns_are_sums_of_attributes() -> None:
    beans = [("q", [("hit", "hits"), ("hit", "lookups"), ("miss", "lookups"), ("size", "bytes")])]
    answer = {"beans": [{"name": "x", "hit": 3, "miss": 4, "size": 2.5}]}
    assert columns_of([answer], beans) == {"hits": 3, "lookups": 7, "bytes": 2.5}


def test_misses_of_the_second_block_cache_count_once() -> None:
    """HBase counts each of them twice, and those of a heap's cache once."""
    bean = beans_of("w1/regionserver-1")[0]
    zero = {attribute: 0 for attribute, *_ in bean[1]}
    for second, lookups in ((0, 17), (10, 12)):
        seen = zero | {
            "blockCacheHitCount": 7,
            "blockCacheMissCount": 10,
            "l2CacheMissCount": second,
        }
        assert columns_of([{"beans": [seen]}], [bean])["cache_lookups"] == lookups


@pytest.mark.parametrize("value", (None, "12", float("nan"), -1, 2**60))
def test_what_is_no_count_makes_its_column_unknown(value: object) -> None:
    beans = [("q", [("hit", "hits"), ("hit", "lookups"), ("miss", "lookups")])]
    assert columns_of([{"beans": [{"hit": 3, "miss": value}]}], beans) == {"hits": 3}
    assert columns_of([{"beans": []}], beans) == {}


def test_a_daemon_is_asked_by_its_role() -> None:
    assert len(beans_of("w1/regionserver-2")) == 4
    assert {query for query, _ in beans_of("w1/datanode")} >= {
        "Hadoop:service=DataNode,name=DataNodeActivity*"
    }
    assert beans_of("w1/nodemanager") == []
    ((_, attributes),) = beans_of("w1/datanode", ("blocked_threads",))
    assert ["ThreadsBlocked", "blocked_threads"] in attributes
    assert len(beans_of("w1/regionserver-2", ("calls", "blocked_threads"))) == 2


class Server(ThreadingHTTPServer):
    status = 200
    cookie = ""
    asked: list[str]
    may_answer: threading.Event


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server: Any = self.server
        if server.cookie and self.headers["Cookie"] != server.cookie:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Negotiate")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        (query,) = parse_qs(urlsplit(self.path).query)["qry"]
        server.asked.append(query)
        server.may_answer.wait(30)
        body = json.dumps({"beans": [{"name": query, "ritCount": len(server.asked)}]}).encode()
        self.send_response(server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if server.status == 200 else b"x" * len(body))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as made:
        made.asked, made.may_answer = [], threading.Event()
        made.may_answer.set()
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()


def address(server: Server) -> str:
    return f"127.0.0.1:{server.server_port}"


def test_daemons_are_polled_again_and_again(server: Server) -> None:
    poller = JmxPoller({"m1/hmaster": address(server), "m1/resourcemanager": "127.0.0.1:1"}, 5.0)
    assert poller.read() == {"m1/hmaster": {"regions_in_transition": 1}}
    assert poller.read() == {"m1/hmaster": {"regions_in_transition": 2}}
    assert set(server.asked) == {"Hadoop:service=HBase,name=Master,sub=AssignmentManager"}


def test_a_daemon_that_fails_is_unknown_and_hinders_no_other(server: Server) -> None:
    poller = JmxPoller({"m1/hmaster": address(server), "m2/hmaster": "127.0.0.1:1"}, 5.0)
    assert poller.read() == {"m1/hmaster": {"regions_in_transition": 1}, "m2/hmaster": {}}
    server.status = 500
    assert poller.read()["m1/hmaster"] == {}
    server.status = 200
    assert poller.read()["m1/hmaster"] == {"regions_in_transition": 3}


def test_a_round_does_not_wait_for_a_late_answer(server: Server) -> None:
    server.may_answer.clear()
    poller = JmxPoller({"m1/hmaster": address(server)}, 0.1)
    assert poller.read() == {"m1/hmaster": {}}
    assert poller.read() == {"m1/hmaster": {}}
    server.may_answer.set()
    deadline = time.monotonic() + 30
    while not (found := poller.read()["m1/hmaster"]):
        assert time.monotonic() < deadline
    assert found["regions_in_transition"] <= len(server.asked)


@pytest.fixture
def curl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Logs in as curl with a ticket does. The file of its command lines."""
    program, said = tmp_path / "bin" / "curl", tmp_path / "argv"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {said}\nprintf "HTTP/1.1 200 OK\\r\\n'
        'Set-Cookie: hadoop.auth=\\"u=me\\"; Path=/; HttpOnly\\r\\n\\r\\n"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return said


def test_a_daemon_that_wants_kerberos_is_logged_in_to_once(server: Server, curl: Path) -> None:
    server.cookie = 'hadoop.auth="u=me"'
    poller = JmxPoller({"m1/hmaster": address(server)}, 5.0, "/ca.pem")
    for count in (1, 2, 3):
        assert poller.read() == {"m1/hmaster": {"regions_in_transition": count}}
    (argv,) = curl.read_text().splitlines()
    assert argv.startswith("-q --silent --negotiate --user : ")
    assert f"--cacert /ca.pem http://{address(server)}/jmx?qry=Hadoop:service=HBase" in argv


def test_a_daemon_that_does_not_let_us_in_is_unknown(server: Server, curl: Path) -> None:
    server.cookie = "hadoop.auth=another"
    assert JmxPoller({"m1/hmaster": address(server)}, 5.0).read() == {"m1/hmaster": {}}
    assert server.asked == []


def test_a_daemon_is_asked_by_tls_if_its_authority_is_trusted(tmp_path: Path) -> None:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", str(tmp_path / "key.pem"),
                    "-out", str(tmp_path / "ca.pem")], check=True, capture_output=True)  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    with Server(("localhost", 0), Handler) as made:
        made.asked, made.may_answer = [], threading.Event()
        made.may_answer.set()
        made.socket = context.wrap_socket(made.socket, server_side=True)
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        daemons = {"m1/hmaster": f"https://localhost:{made.server_port}"}
        trusting = JmxPoller(daemons, 5.0, str(tmp_path / "ca.pem"))
        assert trusting.read() == {"m1/hmaster": {"regions_in_transition": 1}}
        assert JmxPoller(daemons, 5.0).read() == {"m1/hmaster": {}}
        made.shutdown()
