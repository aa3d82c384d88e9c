"""Web servers of an existing cluster, queried as its configuration requires: by TLS, by Kerberos, or
plainly."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import responses
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import codes
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from density_study.cluster.machine.other_users.private_network import connect
from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.ssh.bounded import TooMuchError, bounded_bytes
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.stores.answer_limits import MOST_BYTES, LimitedResponse

TIMEOUT_S = 10.0
PATIENT_S = 60.0
"""Seconds that a request without a limit of its own may take."""
CURL_S = 10.0
"""For curl to begin, and to end by itself."""
_BODIES = ("PUT", "POST")


def session_of(access: Access, network: str = "") -> requests.Session:
    """Raises requests.RequestException if a server does not answer within the limits of `answer_limits`.
    `network`: as in `Endpoints`."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Limited())
    if network:
        session.mount("http://", _Inside(network))
    if access.ticket_cache:
        session.mount("http://", _Curl(access))
        session.mount("https://", _Curl(access))
    elif access.ca_file:
        session.mount("https://", _Trusting(access))
    return session


def user_of(access: Access) -> dict[str, str]:
    """Parameters of a WebHDFS request that say who asks. By Kerberos, the ticket does."""
    return {} if access.ticket_cache else {"user.name": getpass.getuser()}


def url_of(address: str) -> str:
    """The URL of a web server whose address is in `Endpoints`."""
    return address if "://" in address else f"http://{address}"


def get_json(
    address: str, path: str, parameters: Mapping[str, str] | None = None, access: Access = OPEN
) -> Any:
    """StudyError if the web server does not answer with JSON."""
    try:
        url = f"{url_of(address)}{path}"
        answer = session_of(access).get(url, params=parameters, timeout=TIMEOUT_S)
        answer.raise_for_status()
        return answer.json()
    except (requests.RequestException, ValueError) as error:
        raise StudyError(
            f"no answer to {path}: {why_unread(error)}.",
            address,
            "check the address, and that it can be reached.",
        ) from error


def beans(address: str, query: str, access: Access = OPEN) -> list[dict[str, Any]]:
    """The beans of a daemon's /jmx that match `query`. StudyError if it does not answer."""
    with understood(address):
        found: list[dict[str, Any]] = get_json(address, "/jmx", {"qry": query}, access)["beans"]
    return found


@contextmanager
def understood(address: str) -> Iterator[None]:
    """StudyError for an answer that lacks what is read from it, because a daemon is starting, or something
    else is at its address."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        why = why_unread(error if isinstance(error, KeyError) else TypeError())
        raise StudyError(
            f"its answer lacks what a daemon of Hadoop says: {why}.",
            address,
            "check that the daemon has started, and that this is the address of its web server.",
        ) from error


class _Connection(HTTPConnection):
    response_class = LimitedResponse


class _SecureConnection(HTTPSConnection):
    response_class = LimitedResponse


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS = {"http": _Pool, "https": _SecurePool}


class _Limited(HTTPAdapter):
    """Reads an answer within the limits, also when it is unpacked."""

    def init_poolmanager(self, *words: Any, **given: Any) -> None:
        super().init_poolmanager(*words, **given)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *words: Any, **given: Any) -> Any:
        manager = super().proxy_manager_for(*words, **given)
        manager.pool_classes_by_scheme = _POOLS
        return manager

    def send(self, *words: Any, **given: Any) -> requests.Response:
        answer = super().send(*words, **{**given, "stream": True})
        pieces, size = list[bytes](), 0
        for piece in answer.iter_content(2**16):
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                answer.close()
                raise requests.ConnectionError(f"its answer has more than {MOST_BYTES >> 20} MiB")
        answer._content = b"".join(pieces)
        return answer


class _Trusting(_Limited):
    """Trusts the authorities of `ca_file` alone, whatever REQUESTS_CA_BUNDLE says."""

    def __init__(self, access: Access) -> None:
        super().__init__()
        self._access = access

    def send(
        self, request: requests.PreparedRequest, *words: Any, **given: Any
    ) -> requests.Response:
        return super().send(request, *words, **{**given, "verify": self._access.ca_file})


class _Inside(_Limited):
    """Connects to addresses of a private network, whatever HTTP_PROXY says."""

    def __init__(self, network: str) -> None:
        self._network = network
        super().__init__()

    def init_poolmanager(self, *words: Any, **given: Any) -> None:
        super().init_poolmanager(*words, **given)
        network = self._network

        class Connection(_Connection):
            def connect(self) -> None:
                timeout_s = self.timeout if isinstance(self.timeout, int | float) else None
                self.sock = connect(network, (self.host, self.port or 80), timeout_s)

        class Pool(HTTPConnectionPool):
            ConnectionCls = Connection

        self.poolmanager.pool_classes_by_scheme = {"http": Pool}

    def send(
        self, request: requests.PreparedRequest, *words: Any, **given: Any
    ) -> requests.Response:
        return super().send(request, *words, **{**given, "proxies": {}})


class _Curl(HTTPAdapter):
    """Sends requests by curl, which speaks SPNEGO.

    It reads URLs from its standard input, since those of DataNodes hold delegation tokens: they are in no
    command line, and in no message.
    """

    def __init__(self, access: Access) -> None:
        super().__init__()
        self._access = access

    def send(  # type: ignore[override]  # curl takes neither client certificates nor proxies from us
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | None = None,
        **given: Any,
    ) -> requests.Response:
        within_s = timeout or PATIENT_S
        try:
            done = bounded_bytes(
                ("curl", "-q", "--config", "-"),
                within_s + CURL_S,
                "\n".join(self._options(request, within_s)),
                MOST_BYTES,
                {**os.environ, **self._access.env, "LC_ALL": "C"},
            )
        except TooMuchError as error:
            large = f"its answer has more than {MOST_BYTES >> 20} MiB"
            raise requests.ConnectionError(large) from error
        except subprocess.TimeoutExpired as error:
            raise requests.ConnectionError(f"it did not end within {within_s:g} s") from error
        words = done.stderr.decode(errors="replace")
        if done.returncode != 0:
            ended = f"curl ended with exit code {done.returncode}"
            raise requests.ConnectionError((words.splitlines() or [ended])[0])
        try:
            said = json.loads(words)
        except ValueError as error:
            old = f"curl must be 7.83 or later, to report headers; it prints {words[:200]!r}"
            raise requests.ConnectionError(old) from error
        if said["status"] == codes.unauthorized:
            host = urlsplit(str(request.url)).hostname
            raise requests.ConnectionError(
                f"it rejects the Kerberos ticket (HTTP 401); the KDC must know HTTP/{host}"
            )
        headers = {name: ", ".join(values) for name, values in said["headers"].items()}
        raw = HTTPResponse(
            body=BytesIO(done.stdout),
            headers=headers,
            status=said["status"],
            reason=responses.get(said["status"], ""),
            preload_content=False,
        )
        answer = self.build_response(request, raw)
        answer.url = str(request.url).partition("?")[0]
        return answer

    def _options(self, request: requests.PreparedRequest, timeout_s: float) -> list[str]:
        options = [
            "silent",
            "show-error",
            "negotiate",
            'user = ":"',
            f"max-time = {timeout_s:g}",
            f"url = {_quoted(str(request.url))}",
            f"request = {request.method}",
            r'write-out = "%{stderr}{\"status\": %{http_code}, \"headers\": %{header_json}}"',
        ]
        if request.method in _BODIES:
            body = request.body or ""
            text = body.decode() if isinstance(body, bytes) else str(body)
            options += [
                'header = "Content-Type: application/octet-stream"',
                f"data-raw = {_quoted(text)}",
            ]
        if self._access.ca_file:
            options.append(f"cacert = {_quoted(self._access.ca_file)}")
        return options


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
