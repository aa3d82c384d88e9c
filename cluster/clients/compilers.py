"""JIT compilation time of a build's RegionServers: a server that still compiles is not warm.

Source: `java.lang:type=Compilation` of each JVM, by HBase's /jmx.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping

from cluster.lifecycle.readiness import Fetch, fetch_json
from cluster.model.cluster import Endpoints

_BEAN = "java.lang:type=Compilation"


def compiled_s(endpoints: Endpoints, fetch: Fetch = fetch_json) -> Mapping[str, float] | None:
    """Compilation time of each RegionServer since its start, in seconds, by the server's name. None if
    a server does not answer in time, as on an overloaded machine."""
    try:
        return {
            name: fetch(f"http://{address}/jmx?qry={_BEAN}")["beans"][0]["TotalCompilationTime"]
            / 1000
            for name, address in endpoints.regionserver_http.items()
        }
    except (OSError, http.client.HTTPException, LookupError, ValueError):
        return None
