"""What daemons tell about themselves on their web pages (/jmx, /conf), openly or by Kerberos and TLS."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from density_study.cluster.model.access import OPEN
from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.existing.web import session_of, url_of
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.stores.answers import Fetch, fetch_json

NO_ANSWER = (OSError, http.client.HTTPException, LookupError, ValueError, TypeError)
"""What reading a page raises if the daemon does not answer, or answers something else."""
_TIMEOUT_S = 10.0  # /conf is large
_DATANODE = "Hadoop:service=DataNode,name="
_AT_ONCE = 16
R = TypeVar("R")


def fetch_page(endpoints: Endpoints, url: str, timeout_s: float = _TIMEOUT_S) -> Any:
    """The JSON of a page. Raises one of `NO_ANSWER`."""
    if endpoints.access == OPEN:
        return fetch_json(url, timeout_s, endpoints.network)
    answer = session_of(endpoints.access).get(url, timeout=timeout_s)
    answer.raise_for_status()
    return answer.json()


def of_each(pages: Mapping[str, str], read: Callable[[str, str], R]) -> dict[str, R]:
    """What `read(name, address)` returns for each page. Pages are read in parallel: 72 servers in sequence
    would take longer than a look may."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(pages, pool.map(read, pages, pages.values()), strict=True))


def datanode_counters(
    cluster: Cluster, beans: str, counters: Mapping[str, str], fetch: Fetch | None = None
) -> dict[str, dict[str, int]]:
    """DataNode -> its counters. `beans`: a pattern of the names of its beans; `counters`: our names ->
    Hadoop's. StudyError if one does not answer."""
    ask = fetch or partial(fetch_page, cluster.endpoints)
    every = cluster.endpoints.all("jmx")
    return of_each(
        {name: every[name] for name in every if name.endswith("/datanode")},
        lambda name, address: _counters(
            ask, name, f"{url_of(address)}/jmx?qry={_DATANODE}{beans}", counters
        ),
    )


def _counters(ask: Fetch, name: str, url: str, counters: Mapping[str, str]) -> dict[str, int]:
    try:
        known = {key: value for bean in ask(url)["beans"] for key, value in bean.items()}
        return {ours: int(known[its]) for ours, its in counters.items()}
    except NO_ANSWER as error:
        raise StudyError(
            f"{name} does not report its counters: {why_unread(error)}.", url, "read its log."
        ) from error
