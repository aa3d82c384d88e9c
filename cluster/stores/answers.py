"""Answers of services: each check queries the state of a service; an open port proves nothing."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from density_study.cluster.machine.other_users.private_network import Connection, connect
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.stores.answer_limits import LimitedResponse

Fetch = Callable[[str], Any]
REQUEST_TIMEOUT_S = 1.0


@dataclass(frozen=True)
class Seen:
    """The answer of a service: whether it is ready, and a description for messages."""

    ready: bool
    state: str


Judge = Callable[[dict[str, Any], int], Seen]


@dataclass(frozen=True)
class Service:
    """`daemon` answers for the service, with its node if several have one; its log is shown when it does
    not."""

    name: str
    daemon: str
    check: Callable[[], Seen]


def answered(address: str, network: str, question: bytes, answer: bytes) -> Seen:
    """Whether what listens at `address` answers `question` with what begins with the pattern `answer`."""
    host, _, port = address.rpartition(":")
    try:
        with connect(network, (host, int(port)), REQUEST_TIMEOUT_S) as connection:
            connection.sendall(question)
            said = connection.recv(200)
    except OSError as error:
        return Seen(False, f"no answer from {address}: {why_unread(error)}")
    ready = re.match(answer, said, re.DOTALL) is not None
    return Seen(ready, f"answers {said.decode(errors='replace').strip()!r}")


def fetch_json(url: str, timeout_s: float = REQUEST_TIMEOUT_S, network: str = "") -> Any:
    """The answer of a web server of the `network`. OSError, HTTPException or ValueError if it gives none
    within the limits of `answer_limits`. timeout_s: of silence."""
    place = urlsplit(url)
    with closing(Connection(place.netloc, network, timeout_s)) as connection:
        connection.response_class = LimitedResponse
        # Hadoop's /conf goes by this header, HBase's by the parameter `format`
        wanted = {"Accept": "application/json"}
        connection.request("GET", place._replace(scheme="", netloc="").geturl(), headers=wanted)
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            raise http.client.HTTPException(f"HTTP {answer.status} {answer.reason}")
        return json.load(answer)


def fetching(fetch: Fetch | None, network: str) -> Fetch:
    """What asks in this network, unless something else is given."""
    return fetch or partial(fetch_json, network=network)


def queried(fetch: Fetch, url: str, judge: Judge, expected: int) -> Seen:
    try:
        return judge(fetch(url)["beans"][0], expected)
    except (OSError, http.client.HTTPException) as error:
        return Seen(False, f"no answer from {url}: {why_unread(error)}")
    except (LookupError, ValueError) as error:
        # The web server is up before the service has registered its metrics.
        return Seen(False, f"metrics not available yet at {url}: {why_unread(error)}")
