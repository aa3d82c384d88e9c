"""What Hadoop's own check says of its native libraries, once per build where the user brought some."""

from __future__ import annotations

import re

from density_study.cluster.clients.client_commands import hadoop_command, hadoop_versions
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import timeout_scale

KEY = "checknative"
_PROGRAM = "org.apache.hadoop.util.NativeLibraryChecker"
_DEADLINE_S = 60
_LINE = re.compile(r"([A-Za-z0-9-]{1,20}) *: +(true|false) *(.{0,200})")
UNKNOWN = {"hadoop": "unknown: the check printed nothing"}


def disclose_native(cluster: Cluster, journal: Journal) -> None:
    """Adds `checknative` to the build's disclosure: each library, and its path on the client's node or why it
    is missing."""
    topology = cluster.topology
    if not hadoop_versions(cluster).native or not topology.store.hadoop:
        return
    node, name = topology.client, KEY
    transport = provider_of(topology).transport(cluster.site, journal)
    logs = cluster.site.root / "logs" / node.name
    out, err = logs / f"{name}.out", logs / f"{name}.err"
    logs.mkdir(parents=True, exist_ok=True)
    process = transport.start(node, hadoop_command(cluster, name, _PROGRAM, ()), out, err)
    try:
        transport.wait(process, _DEADLINE_S * timeout_scale(cluster.site.tag, journal))
    except TimeoutError:
        pass  # what it printed until then counts
    finally:
        transport.stop(process)
        transport.collect(node, logs)
    cluster.disclosure[KEY] = parse_check(out.read_text(errors="replace"))


def parse_check(text: str) -> dict[str, str]:
    """Library -> its path, or `missing` with the reason; `UNKNOWN` for other text."""
    found = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            library, is_there, rest = match.groups()
            found[library] = rest if is_there == "true" else f"missing: {rest}"
    return found or dict(UNKNOWN)
