"""A trial on an existing cluster, as what its Prometheus told is gathered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from density_study.cluster.model.existing import Prometheus
from density_study.workloads.base.values import ExportedSeries
from density_study.workloads.base.workload import RecordFolder
from density_study.workloads.monitors.prometheus.reading import Moment, exported_between


def exported_trial(
    server: Prometheus | None, folder: Path, hosts: Sequence[str], begin_s: float, end_s: float
) -> ExportedSeries | None:
    """What was scraped of the hosts, with its files in the record `folder`."""
    (folder / "monitor").mkdir(exist_ok=True)
    daemons = {f"{host}/regionserver": f"{host}:16030" for host in hosts}
    cluster = SimpleNamespace(
        topology=SimpleNamespace(
            existing=SimpleNamespace(prometheus=server, watched=(), endpoint=None)
        ),
        endpoints=SimpleNamespace(all=lambda service: daemons if service == "others.jmx" else {}),
    )
    context: Any = SimpleNamespace(cluster=cluster, record=RecordFolder(folder))
    return exported_between(Moment(context, begin_s), Moment(context, end_s))
