"""How long the JIT compilers of a build's RegionServers have worked: what compiles is not warm yet.

Source: `java.lang:type=Compilation` of each JVM, by HBase's /jmx.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping

from cluster.lifecycle.readiness import Fetch, fetch_json
from cluster.model.cluster import Endpoints

_BEAN = "java.lang:type=Compilation"


def compiled_s(endpoints: Endpoints, fetch: Fetch = fetch_json) -> Mapping[str, float] | None:
    """Seconds that the compiler threads of each RegionServer have spent since its start, by the
    server's name. None if one of them does not answer in time: a machine at its limit may not."""
    try:
        return {
            name: fetch(f"http://{address}/jmx?qry={_BEAN}")["beans"][0]["TotalCompilationTime"]
            / 1000
            for name, address in endpoints.regionserver_http.items()
        }
    except (OSError, http.client.HTTPException, LookupError, ValueError):
        return None
