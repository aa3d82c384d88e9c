"""Polls the JMX metrics of daemons over HTTP. Standard library only: it runs on hosts.

A daemon that does not answer within the period, as in a long pause, has an empty round: unknown, not zero.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from density_study.workloads.monitors.devices import declarations

MOST_BYTES = 2**24
"""Of one answer; what it cuts off is no JSON."""
Bean = tuple[str, Sequence[Sequence[Any]]]
"""A query, and of each attribute its name, the column that it adds to, and the factor if that is not 1."""


class JmxPoller:
    """daemons: address of each daemon (<node>/<daemon>). Daemons of other kinds are left out."""

    def __init__(self, daemons: Mapping[str, str], timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._daemons = [
            _Daemon(name, address, timeout_s, beans)
            for name, address in sorted(daemons.items())
            if (beans := beans_of(name))
        ]

    def read(self) -> dict[str, Mapping[str, float]]:
        """The columns of each daemon, all asked at once; none of one that does not answer in time."""
        threads = [daemon.ask() for daemon in self._daemons]
        for thread in threads:
            thread.join(self._timeout_s)
        return {daemon.name: daemon.answer for daemon in self._daemons}


def beans_of(daemon: str) -> list[Bean]:
    """What a daemon of this name is asked for: `w1/regionserver-2` is a regionserver."""
    role = daemon.rpartition("/")[2].partition("-")[0]
    return [
        (bean["query"], bean["attributes"])
        for bean in declarations()["jmx"]["beans"]
        if bean["role"] == role
    ]


def columns_of(answers: Sequence[Mapping[str, Any]], beans: Sequence[Bean]) -> dict[str, float]:
    """The columns from /jmx's answers to the beans' queries. An attribute that is missing, negative or no
    number makes its column unknown."""
    found: dict[str, float] = {}
    unknown = set()
    for answer, (_, attributes) in zip(answers, beans, strict=True):
        for attribute, column, *factor in attributes:
            values = [bean[attribute] for bean in answer.get("beans", ()) if attribute in bean]
            if not values or not all(_is_count(value) for value in values):
                unknown.add(column)
            else:
                found[column] = found.get(column, 0.0) + sum(values) * (factor or [1])[0]
    return {column: value for column, value in found.items() if column not in unknown}


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < 2**53  # NaN is neither


class _Daemon:
    def __init__(self, name: str, address: str, timeout_s: float, beans: Sequence[Bean]) -> None:
        self.name = name
        self._address, self._timeout_s, self._beans = address, timeout_s, beans
        self._connection: http.client.HTTPConnection | None = None
        self._thread: threading.Thread | None = None
        self.answer: Mapping[str, float] = {}
        """Empty while a question is open."""

    def ask(self) -> threading.Thread:
        """Ask in a thread; while an earlier round's question is open, only wait for that."""
        if self._thread is None or not self._thread.is_alive():
            self.answer = {}
            self._thread = threading.Thread(target=self._ask, daemon=True)
            self._thread.start()
        return self._thread

    def _ask(self) -> None:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._address, timeout=self._timeout_s)
        try:
            answers = [self._get(self._connection, query) for query, _ in self._beans]
            self.answer = columns_of(answers, self._beans)
        except (OSError, http.client.HTTPException, ValueError, TypeError, AttributeError):
            self._connection.close()  # no answer, or not one of a Hadoop daemon

    def _get(self, connection: http.client.HTTPConnection, query: str) -> Mapping[str, Any]:
        connection.request("GET", f"/jmx?qry={quote(query, safe=':=,*')}")
        answer: Mapping[str, Any] = json.loads(connection.getresponse().read(MOST_BYTES))
        return answer
