"""Load from two client hosts against load from one, where the client is the bottleneck.

One cluster on namespaced hosts (`tests.hosts`, root). The JVM of each client may use SHARE of a core (its
cgroup's quota) once it has warmed up: one host cannot offer more, and the servers could serve both. Trials
with one and with two clients alternate, with the same threads in total.

The doubling check has clients without a quota, and a rate that is half of what one reached: twice the client
processes at this rate must have the same latency, or a client process is the bottleneck.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.model.cluster import read_cluster
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.ssh.channel import close_channels
from density_study.cluster.providers.ssh.options import IDENTITY
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.saturation import measured_ops_s
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.execution.trial import run_trial
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.record_rows import record_rows
from density_study.workloads.ycsb.facts.latency import intended_ms
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.bench.measurement import Measurement, at_least, at_most, printed
from tests.hosts.fixture import Hosts
from tests.live.support.client_hosts import NAMES, client_hosts_spec
from tests.support.repeating import repeating

GOAL = 1.7
DOUBLED = 1.1
"""Of one client's p95 over that of two at the same rate: above, the client is the bottleneck."""
SHARE = 0.2
PERIOD_US = 20_000
WARM_UP_S = 14.0
CPU = Path("/sys/fs/cgroup/cpu")
UNIFIED = Path("/sys/fs/cgroup")
SPEC = """
study: bench-clients
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0]}
workloads:
  - ycsb: {records: [5_000], mixes: [c], threads: [8], duration: 20 s, warm_up: 6 s, warm_up_client: 14 s,
           warm_up_daemons: off, regions_per_server: 4}
"""


def bench(repeats: int) -> list[Measurement]:
    """`repeats` pairs of trials on one cluster, and one more that warms up the servers."""
    pairs = []
    with tempfile.TemporaryDirectory(prefix="density-bench-") as name, _running(Path(name)) as run:
        _rate_of_limited(run, 0, clients=2)
        for number in range(1, repeats + 1):
            one = _rate_of_limited(run, 2 * number, clients=1)
            pairs.append((one, _rate_of_limited(run, 2 * number + 1, clients=2)))
    ones, twos = zip(*pairs, strict=True)
    ratios = [two / one for one, two in pairs]
    return [
        at_least("two client hosts over one", "ratio", ratios, GOAL),
        printed(f"one client host, {SHARE:.0%} of a core", "ops/s", list(ones)),
        printed(f"two client hosts, {SHARE:.0%} of a core each", "ops/s", list(twos)),
    ]


def doubling(repeats: int) -> list[Measurement]:
    """`repeats` pairs of trials at the same rate, with one client and with two."""
    pairs = []
    with tempfile.TemporaryDirectory(prefix="density-bench-") as name, _running(Path(name)) as run:
        half_ops_s = _rate(run, _trial(run, 0, clients=1)) / 2
        for number in range(1, repeats + 1):
            pair = (_trial(run, 2 * number + more, 1 + more, half_ops_s) for more in (0, 1))
            pairs.append([_p95_ms(run, one) for one in pair])
    ones, twos = zip(*pairs, strict=True)
    return [
        at_most("p95 of one client over two", "ratio", [a / b for a, b in pairs], DOUBLED),
        printed(f"p95 of one client, {half_ops_s:,.0f} ops/s", "ms", list(ones)),
        printed(f"p95 of two clients, {half_ops_s:,.0f} ops/s", "ms", list(twos)),
    ]


@contextmanager
def _running(folder: Path) -> Iterator[Run]:
    """A run whose cluster is up."""
    os.environ["DENSITY_STUDY_RUNTIME"] = str(folder / "runtime")
    hosts = Hosts(folder / "hosts", NAMES)
    os.environ[IDENTITY] = str(hosts.identity)
    try:
        with hosts.inside():
            run = open_run(client_hosts_spec(hosts, SPEC, folder / "spec.yaml"), folder / "runs")
            try:
                up = next(iter(steps_left(run)))
                ended = carry_out(run, up)
                if up.kind != "up" or ended.outcome != "ok":
                    raise RuntimeError(f"{up.kind}: {ended.message}")
                yield run
            finally:
                close_run(run)
                close_channels()
    finally:
        hosts.close()


def _rate_of_limited(run: Run, number: int, clients: int) -> float:
    with _clients_limited():
        return _rate(run, _trial(run, number, clients))


def _rate(run: Run, manifest: Manifest) -> float:
    return measured_ops_s(run.records / manifest.trial, manifest)


def _trial(run: Run, number: int, clients: int, target_ops_s: float | None = None) -> Manifest:
    planned = run.plan.trials[0]
    assert isinstance(planned.test_case, YcsbTestCase)
    updates = {"clients": clients, "target_ops_s": target_ops_s}
    test_case = planned.test_case.model_copy(update=updates)
    step = Step(index=1000 + number, kind="trial", repetition=1, build=planned.build, label="bench",
                trial=f"bench-{number}", order=1000 + number, test_case=test_case,
                estimate_s=1.0)  # fmt: skip
    cluster = read_cluster(run.site(planned.build).root)
    transport = provider_named("physical").transport(cluster.site, run.journal)
    manifest = run_trial(run, step, cluster, transport)
    if manifest.state != "complete":
        raise RuntimeError("; ".join(manifest.reasons))
    return manifest


def _p95_ms(run: Run, manifest: Manifest) -> float:
    found_ms = intended_ms(record_rows(manifest, run.records / manifest.trial), "READ", 95)
    if found_ms is None:
        raise RuntimeError("too few operations for a p95")
    return found_ms


@contextmanager
def _clients_limited() -> Iterator[None]:
    """Gives each client JVM a cgroup with SHARE of a core, when it is WARM_UP_S old."""
    groups: dict[int, Path] = {}

    def limit() -> None:
        for pid, age_s in _clients():
            if age_s >= WARM_UP_S and pid not in groups:
                groups[pid] = _limited(pid)

    try:
        with repeating(limit, 0.1):
            yield
    finally:
        for group in groups.values():
            group.rmdir()


def _clients() -> Iterator[tuple[int, float]]:
    """(pid, age in s) of YCSB's clients in trials of this bench."""
    up_s = float(Path("/proc/uptime").read_text().split()[0])
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            ours = any(b"/records/bench-" in word for word in words)
            if b"org.densitystudy.ycsb.WarmClient" in words and ours:
                ticks = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
                yield int(folder.name), up_s - ticks / os.sysconf("SC_CLK_TCK")


def _limited(pid: int) -> Path:
    quota_us = round(SHARE * PERIOD_US)
    if CPU.exists():  # cgroup v1
        group = CPU / f"density-bench-{pid}"
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota_us))
    else:
        group = UNIFIED / f"density-bench-{pid}"
        group.mkdir()
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
    (group / "cgroup.procs").write_text(str(pid))
    return group
