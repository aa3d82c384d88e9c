"""YCSB clients on two hosts: they start together, write disjoint keys, and their logs are merged.

The hosts are namespaces (`tests.hosts`): a master, a worker, and two that are only clients.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.validity.judge import judge
from density_study.cluster.model.cluster import read_cluster
from density_study.cluster.providers.provider import provider_of
from density_study.jobs.facts.trial import trial_facts
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import RecordFolder, TrialContext
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.rows.record_rows import record_rows
from density_study.workloads.rows.trial_rows import TrialRows
from density_study.workloads.ycsb.output.summary import operation_counts, parse_summary
from density_study.workloads.ycsb.table_tool import table_tool
from tests.hosts.fixture import Hosts
from tests.live.support.client_hosts import NAMES, client_hosts_spec
from tests.live.support.over_ssh import controlling, lab, left_on

pytestmark = pytest.mark.timeout(900)

RECORDS = 6_000
SPEC = """
study: live-clients
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0]}
workloads:
  - ycsb: {records: [6_000], mixes: [load, read45-insert55, c], threads: [4], duration: 15 s, warm_up: 3 s,
           warm_up_client: 8 s, warm_up_daemons: off, regions_per_server: 4}
seed: 7
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if os.getuid() != 0:
        pytest.skip("several client hosts were not tested: only root makes network namespaces")
    with lab(tmp_path_factory.mktemp("lab"), NAMES) as made:
        yield made


@pytest.fixture
def run(hosts: Hosts, tmp_path: Path) -> Iterator[Run]:
    with controlling(hosts, tmp_path):
        run = open_run(client_hosts_spec(hosts, SPEC, tmp_path / "spec.yaml"), tmp_path / "runs")
        try:
            yield run
        finally:
            close_run(run)


def test_two_hosts_share_a_load_and_a_killed_client_is_named(hosts: Hosts, run: Run) -> None:
    """Load, a mix with inserts, and a mix whose second client is killed, on one cluster."""
    rows = {}
    for step in steps_left(run):
        killed = step.test_case is not None and step.test_case.mode_name == "c"
        ended = _with_a_kill(hosts, run, step) if killed else carry_out(run, step)
        assert ended.outcome == "ok" or killed, ended.message
        if step.kind == "trial" and not killed:
            rows[str(step.trial)] = _rows(run, step)
    close_run(run)
    records = closed_records(run.records)
    for step in run.plan.trials:
        trial = str(step.trial)
        if step.test_case is not None and step.test_case.mode_name == "c":
            _check_killed(run, trial, records[trial])
        else:
            _check_shared(run, trial, records[trial], rows[trial])
    for name in hosts.names:
        assert left_on(hosts, name) == [], name


def _check_shared(run: Run, trial: str, manifest: Manifest, rows: int) -> None:
    assert manifest.state == "complete", manifest.reasons
    clients = [client for client in manifest.clients if isinstance(client, ClientRun)]
    assert [client.node for client in clients] == ["c1", "c2"]
    assert len({client.begin_epoch_s for client in clients}) == 1
    counts = [_counts(run, trial, client.name) for client in clients]
    inserted = sum(one.get("INSERT", 0) for one in counts)
    if manifest.test_case.mode_name == "load":
        assert [one["INSERT"] for one in counts] == [RECORDS // 2] * 2
        assert rows == inserted == RECORDS
    else:  # every inserted key is a new one
        assert inserted > 0 and rows == RECORDS + inserted
    read = record_rows(manifest, run.records / trial)
    assert sum(row["operations"] for row in _logged(read)) == sum(
        sum(one.values()) for one in counts
    )
    known = trial_facts(read).checks
    assert known["started_together"] and known["client_late_s"] < 2.0
    verdict = judge(known)
    assert verdict.verdict == "valid", (verdict, known)


def _check_killed(run: Run, trial: str, manifest: Manifest) -> None:
    assert manifest.state == "failed"
    assert any(reason.startswith("ycsb-2 exited with") for reason in manifest.reasons)
    verdict = judge(trial_facts(record_rows(manifest, run.records / trial)).checks)
    assert verdict.verdict == "invalid"
    assert any("ycsb-2 exited with" in reason for reason in verdict.reasons), verdict


def _logged(read: TrialRows) -> list[dict[str, Any]]:
    return [
        row
        for row in read.of("ycsb_histograms", "kind", "counted", "operations")
        if row["kind"] == "closed-loop" and row["counted"] is not None
    ]


def _counts(run: Run, trial: str, client: str) -> dict[str, int]:
    """Successful operations of one client, by kind."""
    summary = parse_summary((run.records / trial / "raw" / f"{client}.out").read_bytes(), client)
    counts = operation_counts(summary.rows)
    return {name: count.ok for name, count in counts.items() if name != "CLEANUP"}


def _rows(run: Run, step: Step) -> int:
    """Rows of the table after the trial."""
    cluster = read_cluster(run.site(step.build).root)
    transport = provider_of(cluster.topology).transport(cluster.site, run.journal)
    folder = RecordFolder(run.root / "counts" / str(step.trial))
    context = TrialContext(cluster, transport, folder, run.journal)
    counted = table_tool(context, "count", ("count", "--table", f"usertable_{RECORDS}"))
    return int(counted[-1]["rows"])


def _with_a_kill(hosts: Hosts, run: Run, step: Step) -> Any:
    """The step; the second host's client is killed in the middle of its trial."""

    def strike() -> None:
        running = f'"trial":"{step.trial}"'
        while not any(
            running in line.replace(" ", "") and '"running"' in line
            for line in (run.root / "journal.jsonl").read_text().splitlines()
        ):
            time.sleep(0.2)
        time.sleep(16)  # beyond the warm-up and the barrier
        hosts.on("k2", "pkill", "-9", "-f", "WarmClient")

    thread = threading.Thread(target=strike, daemon=True)
    thread.start()
    return carry_out(run, step)
