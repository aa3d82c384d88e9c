"""Polls the JMX metrics of daemons over HTTP, by TLS and Kerberos if they want it. Standard library only: it
runs on hosts.

A daemon that does not answer within the period, as in a long pause, has an empty round: unknown, not zero.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from density_study.workloads.monitors.devices import declarations

MOST_BYTES = 2**24
"""Limit of one answer; a cut answer is not JSON."""
COOKIE = "hadoop.auth="
LOGIN_S = 10.0
Bean = tuple[str, Sequence[Sequence[Any]]]
"""A query, and of each attribute its name, the column that it adds to, and the factor if that is not 1."""


class JmxPoller:
    """daemons: address of each daemon (<node>/<daemon>), with https:// before it if it speaks TLS. Daemons of
    other kinds are left out. ca_file: PEM file of their authorities; empty: those of this machine. wanted:
    columns; only beans with one of them are queried. Default: all."""

    def __init__(
        self,
        daemons: Mapping[str, str],
        timeout_s: float,
        ca_file: str = "",
        wanted: Collection[str] = (),
    ) -> None:
        self._timeout_s = timeout_s
        self._daemons = [
            _Daemon(name, _Page(address, timeout_s, ca_file), beans)
            for name, address in sorted(daemons.items())
            if (beans := beans_of(name, wanted))
        ]

    def read(self) -> dict[str, Mapping[str, float]]:
        """The columns of each daemon, all queried at once; none of one that does not answer in time."""
        threads = [daemon.ask() for daemon in self._daemons]
        for thread in threads:
            thread.join(self._timeout_s)
        return {daemon.name: daemon.answer for daemon in self._daemons}


def beans_of(daemon: str, wanted: Collection[str] = ()) -> list[Bean]:
    """The beans to query of a daemon: `w1/regionserver-2` is a regionserver. wanted: columns."""
    role = daemon.rpartition("/")[2].partition("-")[0]
    return [
        (bean["query"], bean["attributes"])
        for bean in declarations()["jmx"]["beans"]
        if bean["role"] == role
        and (not wanted or any(column in wanted for _, column, *_ in bean["attributes"]))
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
    def __init__(self, name: str, page: _Page, beans: Sequence[Bean]) -> None:
        self.name = name
        self._page, self._beans = page, beans
        self._thread: threading.Thread | None = None
        self.answer: Mapping[str, float] = {}
        """The last answer; empty while a question is open."""

    def ask(self) -> threading.Thread:
        """Ask in a thread; while an earlier round's question is open, only wait for that."""
        if self._thread is None or not self._thread.is_alive():
            self.answer = {}
            self._thread = threading.Thread(target=self._ask, daemon=True)
            self._thread.start()
        return self._thread

    def _ask(self) -> None:
        try:
            answers = [self._page.get(query) for query, _ in self._beans]
            self.answer = columns_of(answers, self._beans)
        except (OSError, http.client.HTTPException, ValueError, TypeError, AttributeError):
            self._page.close()  # no answer, or not one of a Hadoop daemon


class _Page:
    """/jmx of one daemon, over one connection. Where it asks who we are, curl logs in by the Kerberos ticket
    ($KRB5CCNAME), once: Hadoop's and HBase's servers then know us by a cookie for hours."""

    def __init__(self, address: str, timeout_s: float, ca_file: str) -> None:
        self._base = address if "://" in address else f"http://{address}"
        self._timeout_s, self._ca_file, self._cookie = timeout_s, ca_file, ""
        address = self._base.partition("://")[2]
        if self._base.startswith("https://"):
            trusted = ssl.create_default_context(cafile=ca_file or None)
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                address, timeout=timeout_s, context=trusted
            )
        else:
            self._connection = http.client.HTTPConnection(address, timeout=timeout_s)

    def get(self, query: str) -> Mapping[str, Any]:
        """Raises OSError, HTTPException or ValueError without an answer in JSON."""
        path = f"/jmx?qry={quote(query, safe=':=,*')}"
        status, body = self._once(path)
        if status == http.client.UNAUTHORIZED:
            self._cookie = self._log_in(path)
            status, body = self._once(path)
        if status != http.client.OK:
            raise http.client.HTTPException(f"status {status}")
        answer: Mapping[str, Any] = json.loads(body)
        return answer

    def close(self) -> None:
        self._connection.close()

    def _once(self, path: str) -> tuple[int, bytes]:
        self._connection.request(
            "GET", path, headers={"Cookie": self._cookie} if self._cookie else {}
        )
        answer = self._connection.getresponse()
        return answer.status, answer.read(MOST_BYTES)

    def _log_in(self, path: str) -> str:
        """The cookie; OSError if there is none."""
        trusted = ("--cacert", self._ca_file) if self._ca_file else ()
        words = ("curl", "-q", "--silent", "--negotiate", "--user", ":", "--output", os.devnull,
                 "--dump-header", "-", "--max-time", f"{LOGIN_S:g}", *trusted, self._base + path)  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        for line in done.stdout.splitlines():
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie" and value.strip().startswith(COOKIE):
                return value.partition(";")[0].strip()
        raise OSError("it does not let us in")
