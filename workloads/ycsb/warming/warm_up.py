"""Server warm-up before measured trials; it is not measured itself. (`WarmClient` warms up the client.)

Without it, the first trial on fresh RegionServers would pay for JIT compilation and empty block caches, and
the random order makes that a different trial at each density. A study chooses one of two rules:

- For a fixed time: the WARM_UP mix on each table after its snapshot. Where loads are measured, for the same
  time also inserts before a build's first load, into a table that is then dropped.
- Until steady: each mix, before a build's first trial of it, at full speed until the servers are warm (see
  `Warmth`). Inserts before a measured load write more rows than it, if that takes longer.

Both use the trials' keys and clients, and the most threads that any trial of the mix has: as much load as a
trial's, and the same in all builds whatever their first trial is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.workloads.base.client_run import GRACE_S, require_success, run_clients
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.knobs import REST_ESTIMATE_S
from density_study.workloads.ycsb.mixes import WARM_UP, WARM_UP_VARIANTS
from density_study.workloads.ycsb.properties import table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming.servers import look_at
from density_study.workloads.ycsb.warming.warmth import LEAST_SERVED, Warmth

# Longer than the estimate, which is rough: a limit that ends a warm-up too early spoils the trials behind it.
_LEEWAY = 3.0
# Of a drive with heads; HBase reads a block at once. Flash drives fill a cache sooner than the limit.
_DRIVE_READS_S = 100.0
_BLOCKS_PER_MIB = 16
# Builds the clients' commands from a test case, a name, and shares of operations (None: those of the mix).
Clients = Callable[[YcsbTestCase, str, Mapping[str, float] | None], Sequence[tuple[Node, Command]]]


def warmed_by(test_case: YcsbTestCase) -> str:
    """Name of the mix that warms up the servers for this test case: its own, or the common one."""
    return test_case.mix if test_case.until_steady else "mix"


def warm_up_inserts(
    context: TrialContext, test_case: YcsbTestCase, clients: Clients
) -> Mapping[str, float]:
    """Insert into the existing table. Returns `Warmth.facts`."""
    return _warm_up(
        context, test_case.model_copy(update={"mix": test_case.load_mix}), None, clients
    )


def warm_up_mix(
    context: TrialContext, test_case: YcsbTestCase, clients: Clients
) -> Mapping[str, float]:
    """Run the test case's own mix until steady, or the common mix for a fixed time. Returns
    `Warmth.facts`."""
    shares = WARM_UP if test_case.variants is None else WARM_UP_VARIANTS
    store = context.cluster.topology.store
    if store.write_once:
        shares = {"read": 1.0}
    elif not store.ordered:  # it has no scans
        shares = {**shares, "scan": 0.0, "read": shares["read"] + shares["scan"]}
    return _warm_up(
        context, test_case, _own(test_case) if test_case.until_steady else shares, clients
    )


def _warm_up(
    context: TrialContext,
    test_case: YcsbTestCase,
    shares: Mapping[str, float] | None,
    clients: Clients,
) -> Mapping[str, float]:
    longest_s = (
        limit_s(test_case, context.cluster)
        if test_case.until_steady
        else test_case.warm_up_daemons_s
    )
    work = test_case.model_copy(
        update={"duration_s": longest_s, "warm_up_client_s": 0.0, "threads": test_case.most_threads,
                "target_percent": None, "target_ops_s": None, "phase": None}
    )  # fmt: skip
    name = "warm-up-inserts" if shares is None else f"warm-up-{warmed_by(test_case)}"
    commands = clients(work, name, shares)
    logs = [f"logs/{command.name}.err" for _, command in commands]
    warmth = Warmth(partial(look_at, context, logs), jit=context.cluster.topology.jit)
    warmth()

    def is_enough() -> bool:
        return warmth() and test_case.until_steady

    begun_s = time.monotonic()
    ready_within_s = GRACE_S if test_case.clients > 1 else None
    runs = run_clients(
        context, commands, longest_s + GRACE_S, "logs", is_enough, ready_within_s=ready_within_s
    )
    if warmth.compiling_share is None:  # too short for a look in between
        warmth()
    if not (warmth.is_warm and test_case.until_steady):
        for run in runs:
            require_success(context, run, "server warm-up")
    context.journal.write(
        "daemons-warmed-up",
        name=name,
        table=table_of(test_case),
        seconds=round(time.monotonic() - begun_s, 1),
        steady=warmth.is_warm,
        **warmth.facts,
    )
    return warmth.facts


def _own(test_case: YcsbTestCase) -> Mapping[str, float]:
    """The mix with updates in place of inserts: to a RegionServer both are puts, and no rows are added."""
    shares = dict(test_case.mix_facts.shares)
    return {**shares, "insert": 0.0, "update": shares["update"] + shares["insert"]}


def limit_s(test_case: YcsbTestCase, cluster: Cluster) -> float:
    """Three times what compilers need on the host with the most servers per core, and what drives of 100
    reads/s need for as many requests as compilers need, and for blocks of 64 KiB in the servers' memory."""
    topology = cluster.topology
    servers = max(
        1, len(cluster.endpoints.all("regionserver.http") or cluster.endpoints.all("store"))
    )
    on_host, cores, memory_mib = dict[str, int](), dict[str, int](), 0
    for node in topology.workers:
        on_host[node.host] = on_host.get(node.host, 0) + max(1, node.regionservers)
        cores[node.host] = cores.get(node.host, 0) + node.cores
        memory_mib += node.memory_mib
    crowded = max((on_host[host] / max(1, cores[host]) for host in on_host), default=1.0)
    drives = max(servers, sum(len(node.disks) for node in topology.workers))
    cached_mib = min(test_case.data_mib, memory_mib or test_case.data_mib)
    reads = LEAST_SERVED[topology.jit] * servers + cached_mib * _BLOCKS_PER_MIB
    return _LEEWAY * (REST_ESTIMATE_S * max(1.0, crowded) + reads / drives / _DRIVE_READS_S)
