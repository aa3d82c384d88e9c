"""A Prometheus server that watches an existing cluster, queried by its HTTP API (prometheus.io/docs).

A query of a range selector answers with samples as they were scraped, at their own times. `query_range` would
repeat the last one at each of its steps: a rate of zero that nobody measured.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from requests import codes

from density_study.cluster.model.access import Access
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import Prometheus
from density_study.cluster.providers.existing.web import session_of
from density_study.cluster.state.plain_file import read_named, why_unread

MOST_SERIES, MOST_SAMPLES = 50_000, 5_000_000
"""Limits of one answer."""
_TIMEOUT_S = 30.0
_MOST_TOKEN_BYTES = 2**16
_MOST_WORDS = 300
_SHOWN = 5
_KEY = ("existing", "prometheus")


@dataclass(frozen=True)
class Scraped:
    """A series: its labels, and (epoch seconds by the server's clock, value) of each scrape. A sample that is
    not a finite number is left out."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]


def scraped(server: Prometheus, selector: str, start_s: float, end_s: float) -> list[Scraped]:
    """The series that the selector names, with their samples in (start_s, end_s], of its clock. StudyError if
    it does not answer so."""
    length_s = max(1, math.ceil(end_s - start_s))
    found = _result(server, "matrix", f"{selector}[{length_s}s]", end_s)
    try:
        series = [
            Scraped(_labels(one), tuple(_numbers(one["values"])))
            for one in found
            if isinstance(one, dict)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise _wrong(server, "an answer that is not a matrix of samples") from error
    if sum(len(one.samples) for one in series) > MOST_SAMPLES:
        raise _wrong(server, f"more than {MOST_SAMPLES:,} samples")
    return series


def lead_s(server: Prometheus) -> tuple[float, float]:
    """By how many seconds its clock leads this machine's, and the error of that. StudyError as `scraped`."""
    before_s = time.time()
    found = _result(server, "scalar", "time()")
    after_s = time.time()
    try:
        ((_, there_s),) = _numbers([found])
    except (TypeError, ValueError) as error:
        raise _wrong(server, "no time of its own") from error
    return there_s - (before_s + after_s) / 2, (after_s - before_s) / 2


def instances_of(server: Prometheus, hosts: Iterable[str]) -> dict[str, str]:
    """By each `instance` that it scrapes on one of the hosts (names or addresses): that host. StudyError as
    `scraped`, or if it scrapes none of them."""
    found = _result(server, "vector", "up")
    instances = sorted({_labels(one).get("instance", "") for one in found if isinstance(one, dict)})
    wanted = {known: host for host in hosts for known in (host.lower(), _address(host)) if known}
    matched = {
        instance: wanted[name]
        for instance in instances
        if (name := _matching(_host_of(instance), wanted))
    }
    if not matched:
        some = ", ".join(one[:60] for one in instances[:_SHOWN] if one.isprintable()) or "nothing"
        raise InputError(
            f"Prometheus scrapes no host of the cluster, but {some}.",
            server.url,
            "name the server that scrapes the node_exporter of the cluster's hosts.",
            _KEY,
        )
    return matched


def _address(host: str) -> str:
    """Empty if this machine cannot find it."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return ""


def _host_of(instance: str) -> str:
    """'h1.example.org' of 'h1.example.org:9100'."""
    host, _, port = instance.rpartition(":")
    return (host if port.isdigit() else instance).lower()


def _matching(name: str, wanted: Mapping[str, str]) -> str:
    """The known name that means the same host: equal, or the same short name where one has no domain."""
    if name in wanted:
        return name
    short = name.partition(".")[0]
    alike = [one for one in wanted if one == short or (one.partition(".")[0] == name)]
    return alike[0] if len(alike) == 1 else ""


def _result(server: Prometheus, kind: str, query: str, at_s: float | None = None) -> list[Any]:
    """The result of an instant query, by a POST, since selectors may be long."""
    form = {"query": query, **({"time": f"{at_s:.3f}"} if at_s is not None else {})}
    try:
        answer = session_of(Access(ca_file=server.ca_file)).post(
            f"{server.url.rstrip('/')}/api/v1/query",
            data=form,
            auth=_bearer(server),
            timeout=_TIMEOUT_S,
            allow_redirects=False,  # a token is for this server alone
        )
    except (requests.RequestException, OSError) as error:
        raise StudyError(
            f"Prometheus does not answer: {why_unread(error)}.",
            server.url,
            "check existing.prometheus.url, and that it can be reached; existing.prometheus.ca_file names "
            "the authorities of its certificate.",
        ) from error
    if answer.status_code in (codes.unauthorized, codes.forbidden):
        raise StudyError(
            f"Prometheus does not let us in (HTTP {answer.status_code}).",
            server.url,
            "name a file with a bearer token that it accepts in existing.prometheus.token_file.",
        )
    try:
        said = answer.json()
    except (ValueError, RecursionError) as error:
        raise _wrong(server, f"no JSON (HTTP {answer.status_code})") from error
    if not isinstance(said, dict) or said.get("status") != "success":
        why = said.get("error", "") if isinstance(said, dict) else ""
        raise _wrong(
            server, f"an error (HTTP {answer.status_code}): {_shortened(str(why)) or 'no reason'}"
        )
    data = said.get("data")
    if not isinstance(data, dict) or data.get("resultType") != kind:
        raise _wrong(server, f"no {kind}")
    found = data.get("result")
    if not isinstance(found, list) or len(found) > MOST_SERIES:
        raise _wrong(server, f"no list of at most {MOST_SERIES:,} series")
    return found


def _bearer(server: Prometheus) -> Any:
    """Adds the token to a request. Without one, it keeps requests from sending a login of ~/.netrc."""
    headers: dict[str, str] = {}
    if server.token_file:
        try:
            text = read_named(Path(server.token_file), _MOST_TOKEN_BYTES).decode("ascii").strip()
        except (OSError, ValueError) as error:
            raise _no_token(server, f"the file cannot be read: {why_unread(error)}") from error
        if not text.isprintable() or not text or " " in text:
            raise _no_token(server, "the file has no token of one word")
        headers = {"Authorization": f"Bearer {text}"}

    def add(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(headers)
        return request

    return add


def _no_token(server: Prometheus, why: str) -> InputError:
    return InputError(
        f"{why}.",
        server.token_file,
        "correct existing.prometheus.token_file.",
        (*_KEY, "token_file"),
    )


def _labels(series: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in series["metric"].items()}


def _numbers(samples: Iterable[Any]) -> Iterator[tuple[float, float]]:
    for at_s, text in samples:
        value = float(text)
        if math.isfinite(value):
            yield float(at_s), value


def _shortened(text: str) -> str:
    return " ".join(text.split())[:_MOST_WORDS].rstrip(".")


def _wrong(server: Prometheus, what: str) -> StudyError:
    return StudyError(
        f"Prometheus answers with {what}.",
        server.url,
        "check existing.prometheus.url: below it are /api/v1/query and the web pages of Prometheus.",
    )
