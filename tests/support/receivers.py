"""Real servers on loopback that receive messages and spans: HTTP and SMTP, well-behaved, failing, slow and
hanging."""

from __future__ import annotations

import base64
import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SLOW_S = 1.0
ENDLESS_S = 300.0


class Hook(ThreadingHTTPServer):
    """`how`: ok, slow (answers after a second), hang (never answers), drip (a header byte now and then), a
    status, or `drop` (closes the connection)."""

    daemon_threads = True
    read = staticmethod(json.loads)

    def __init__(self, how: str | int = "ok") -> None:
        super().__init__(("127.0.0.1", 0), _Post)
        self.how = how
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[Any] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Collector(Hook):
    """Of OpenTelemetry spans, by OTLP over HTTP."""

    read = staticmethod(ExportTraceServiceRequest.FromString)

    @property
    def requests(self) -> list[list[Any]]:
        """The spans of each request."""
        return [
            [span for of in body.resource_spans for scope in of.scope_spans for span in scope.spans]
            for body in self.bodies
        ]


class _Post(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        self.server.paths.append(self.path)
        self.server.headers.append(dict(self.headers))
        self.server.bodies.append(
            self.server.read(self.rfile.read(int(self.headers["Content-Length"])))
        )
        how = self.server.how
        if how == "drop":
            return
        if how == "slow":
            time.sleep(SLOW_S)
        if how == "hang":
            time.sleep(ENDLESS_S)
        if how == "drip":
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 600:
                self.wfile.write(bytes([byte]))
                time.sleep(0.2)
        self.send_response(how if isinstance(how, int) else 204)
        if how == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Mailbox(socketserver.ThreadingTCPServer):
    """An SMTP server that keeps what it gets. `how`: ok, refuse (550 for every recipient), hang (no
    greeting). `login`: the pair that AUTH must give, if it is used."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, how: str = "ok") -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.how = how
        self.mails: list[Message] = []
        self.recipients: list[str] = []
        self.logins: list[tuple[str, str]] = []

    @property
    def server_port(self) -> int:
        port: int = self.server_address[1]
        return port


class _Session(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as Python's smtplib uses."""

    server: Mailbox

    def handle(self) -> None:
        if self.server.how == "hang":
            time.sleep(ENDLESS_S)
        self._say("220 mailbox")
        for line in self.rfile:
            verb, _, rest = line.decode().strip().partition(" ")
            match verb.upper():
                case "EHLO":
                    self._say("250-mailbox", "250 AUTH PLAIN")
                case "AUTH":
                    _, login, password = base64.b64decode(rest.split()[1]).decode().split("\0")
                    self.server.logins.append((login, password))
                    self._say("235 ok" if password == "right-password" else "535 bad credentials")
                case "RCPT" if self.server.how == "refuse":
                    self._say("550 no such user")
                case "RCPT":
                    self.server.recipients.append(rest)
                    self._say("250 ok")
                case "DATA":
                    self._say("354 go")
                    body = b"".join(iter(self.rfile.readline, b".\r\n"))
                    self.server.mails.append(message_from_bytes(body))
                    self._say("250 kept")
                case "QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 ok")

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    """`server`, answering in a thread of its own."""
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
