"""One trial of a workload on a cluster of the test's own, with a record as a study closes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.state.journal import Journal
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientRun, Window
from density_study.workloads.base.workload import Collected, TrialContext, Workload
from density_study.workloads.record.record import Record
from tests.support.drafts import draft


def run_trial(
    root: Path,
    cluster: Cluster,
    journal: Journal,
    trial: str,
    spec: TestCase,
    workload: Workload[Any],
) -> tuple[Collected, ClientRun]:
    opening = draft(trial).model_copy(
        update={"test_case": spec, "test_case_id": spec.id, "topology": cluster.topology}
    )
    record = Record.open(root / "records", opening)
    transport = provider_named("local").transport(cluster.site, journal)
    bench = TrialContext(cluster, transport, record, journal)
    prepared = workload.prepare(bench, spec)
    (client,) = workload.run(bench, spec)
    collected = workload.collect(bench, spec, prepared)
    window = Window(start_epoch_s=client.start_epoch_s, end_epoch_s=client.end_epoch_s)
    record.close(
        opening.model_copy(
            update={
                "state": "failed" if collected.faults else "complete",
                "window": window,
                "clients": (client,),
                "cold": collected.cold,
                "state_after": collected.state or {},
            }
        )
    )
    return collected, client
