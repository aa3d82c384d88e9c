"""Web servers of existing clusters, by curl and by requests, asked at real servers on loopback."""

from __future__ import annotations

import json
import os
import socket
import ssl
import stat
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.existing.configuration import read_configuration
from density_study.cluster.providers.existing.login import ca_file
from density_study.cluster.providers.existing.web import beans, get_json, session_of, user_of
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.stack import find_java

PASSWORD = "truststore-password"


class Handler(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/moved":
            self.send_response(307)
            self.send_header("Location", f"/there?delegation=SECRET&{query}")
            self.end_headers()
            return
        status = int(path[1:]) if path[1:].isdigit() else 200
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        answer = {"method": self.command, "path": self.path, "body": body, "beans": [1]}
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_PUT(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def log_message(self, *words: Any) -> None:
        pass


def serve(context: ssl.SSLContext | None = None) -> HTTPServer:
    server = HTTPServer(("localhost", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = serve()
    yield f"localhost:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """trust.pkcs12, trust.jks and ca.pem, which trust the server's certificate in key.pem."""
    folder = tmp_path_factory.mktemp("store")
    keytool = find_java().command.with_name("keytool")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", str(folder / "own.pem"),
                    "-out", str(folder / "ca.pem")], check=True, capture_output=True)  # fmt: skip
    parts = [(folder / name).read_text() for name in ("own.pem", "ca.pem")]
    (folder / "key.pem").write_text("".join(parts))
    trusting = (keytool, "-importcert", "-noprompt", "-alias", "own", "-file", str(folder / "ca.pem"),
                "-storepass:env", "P")  # fmt: skip
    imports = [
        subprocess.Popen([*trusting, "-storetype", kind, "-keystore", str(folder / f"trust.{kind}")],
                         env={"P": PASSWORD})
        for kind in ("pkcs12", "jks")
    ]  # fmt: skip
    assert [one.wait() for one in imports] == [0, 0]
    return folder


@pytest.fixture(scope="module")
def secure(store: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(store / "key.pem")
    server = serve(context)
    yield f"https://localhost:{server.server_port}"
    server.shutdown()


def kerberos(folder: Path, ca: str = "") -> Access:
    return Access(str(folder / "no-ticket"), "/etc/krb5.conf", ca)


def test_curl_and_requests_give_the_same_answers(address: str, tmp_path: Path) -> None:
    for access in (OPEN, kerberos(tmp_path)):
        session = session_of(access)
        got = session.get(f"http://{address}/a b", params={"q": 'x "y"\\'})
        assert (got.status_code, got.json()["path"]) == (200, "/a%20b?q=x+%22y%22%5C")
        put = session.put(f"http://{address}/file", data=b'tag "1"\\\nline').json()
        assert (put["method"], put["body"]) == ("PUT", 'tag "1"\\\nline')
        assert session.delete(f"http://{address}/file").json()["method"] == "DELETE"
        assert session.get(f"http://{address}/404").status_code == 404
        moved = session.get(f"http://{address}/moved?op=OPEN")
        assert moved.json()["path"] == "/there?delegation=SECRET&op=OPEN"
        assert beans(address, "any", access) == [1]


def test_no_delegation_token_is_in_a_command_line_or_message(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curl = tmp_path / "bin" / "curl"
    curl.parent.mkdir()
    curl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/argv\nexec /usr/bin/curl "$@"\n')
    curl.chmod(curl.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{curl.parent}:{os.environ['PATH']}")
    session = session_of(kerberos(tmp_path))
    session.get(f"http://{address}/moved")
    answer = session.get(f"http://{address}/403?delegation=SECRET")
    with pytest.raises(requests.HTTPError) as refused:
        answer.raise_for_status()
    with pytest.raises(requests.ConnectionError) as silent:
        session.get("http://localhost:1/?delegation=SECRET")
    argv = (tmp_path / "argv").read_text()
    assert len(argv.splitlines()) == 4
    assert "SECRET" not in f"{argv} {refused.value} {silent.value}"


def test_a_server_that_rejects_the_ticket_is_one_error(address: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        get_json(address, "/401", access=kerberos(tmp_path))
    assert caught.value.what == (
        "no answer to /401: it rejects the Kerberos ticket (HTTP 401); the KDC must know HTTP/localhost."
    )


def test_certificates_are_checked(secure: str, store: Path, tmp_path: Path) -> None:
    for access in (OPEN, kerberos(tmp_path)):
        with pytest.raises(StudyError, match="certificate"):
            get_json(secure, "/jmx", access=access)
    with pytest.raises(StudyError, match="certificate"):
        get_json(secure, "/jmx", access=Access(ca_file=requests.certs.where()))
    ca = str(store / "ca.pem")
    for access in (Access(ca_file=ca), kerberos(tmp_path, ca)):
        assert get_json(secure, "/jmx", access=access)["method"] == "GET"


def test_no_word_of_pythons_libraries_is_in_an_error(address: str, secure: str) -> None:
    """It was "HTTPConnectionPool(host='h', port=1): Max retries exceeded with url: /jmx (Caused by ..."."""
    with socket.create_server(("localhost", 0)) as deaf:

        def hang_up() -> None:
            with deaf.accept()[0] as connection:
                connection.recv(2**16)

        threading.Thread(target=hang_up, daemon=True).start()
        for place, path, why in (
            ("localhost:1", "/jmx", "Connection refused"),
            (address, "/404", "HTTP 404"),
            (
                f"localhost:{deaf.getsockname()[1]}",
                "/jmx",
                "Remote end closed connection without response",
            ),
            (secure, "/jmx", "its certificate is not accepted: self-signed certificate"),
        ):
            with pytest.raises(StudyError) as caught:
                get_json(place, path)
            assert caught.value.what == f"no answer to {path}: {why}."


def test_a_ticket_says_who_asks(tmp_path: Path) -> None:
    assert user_of(kerberos(tmp_path)) == {}
    assert list(user_of(OPEN)) == ["user.name"]


@pytest.mark.parametrize("kind", ["pkcs12", "jks"])
def test_authorities_are_those_of_the_trust_store(store: Path, tmp_path: Path, kind: str) -> None:
    sites = {
        "core-site": {}, "hbase-site": {}, "hdfs-site": {"dfs.http.policy": "HTTPS_ONLY"},
        "ssl-client": {"ssl.client.truststore.location": str(store / f"trust.{kind}"),
                       "ssl.client.truststore.password": PASSWORD},
    }  # fmt: skip
    for site, properties in sites.items():
        (tmp_path / f"{site}.xml").write_text(configuration_xml(properties))
    configuration = read_configuration(tmp_path)
    path = ca_file(configuration, "", tmp_path)
    encoded = (store / "ca.pem").read_text().split()[2]
    assert encoded in Path(path).read_text()
    assert ca_file(configuration, str(store / "ca.pem"), tmp_path) == str(store / "ca.pem")
    with pytest.raises(InputError, match="cannot be read"):
        ca_file(configuration, str(tmp_path / "none"), tmp_path)
    (store / "damaged").write_text("x")
    sites["ssl-client"]["ssl.client.truststore.location"] = str(store / "damaged")
    (tmp_path / "ssl-client.xml").write_text(configuration_xml(sites["ssl-client"]))
    with pytest.raises(InputError, match=r"the trust store .*damaged cannot be read"):
        ca_file(configuration, "", tmp_path)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("kill -9 $$", "curl ended with exit code -9"),
        ("printf '\\377 broke\\n' >&2; exit 7", "\ufffd broke"),
        ("""echo "curl: unknown --write-out variable: 'header_json'" >&2""", "curl must be 7.83 or later"),
    ],
)  # fmt: skip
def test_a_curl_that_is_old_or_killed_is_named(
    script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "curl").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "curl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(requests.ConnectionError, match=words):
        session_of(kerberos(tmp_path)).get("http://localhost:1/")
