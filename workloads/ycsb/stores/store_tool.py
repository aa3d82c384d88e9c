"""Runs StoreTool (Java) on a store without snapshots, and brings its rows into their initial state.

Every trial begins with rows that were loaded just before: nothing of the trial before it is left, in whatever
order they run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.java_tools import TOOL_HEAP_MIB, results_of
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.existing.endpoint_tool import STORE_TOOL
from density_study.cluster.providers.provider import node_paths
from density_study.cluster.render.jvm import FAST_START
from density_study.cluster.stack import classpath, ensure
from density_study.cluster.stores.store import store_of
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.properties import KEY_DIGITS, table_of
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.test_case import YcsbTestCase

EMPTY_LIMIT_S = 600.0
LIMIT_DEVIATIONS = 5.0
"""Standard deviations of the rows of one shard. Chance exceeds it in a millionth of all loads."""


def store_command(
    cluster: Cluster, name: str, table: str, *commands: str, shape: Mapping[str, str] | None = None
) -> Command:
    """The command that runs StoreTool's `commands` in order. `shape`: that of the table that `empty`
    makes."""
    binding = binding_of(cluster)
    known = {"admin": binding.admin, "db": binding.db, "table": table}
    known |= shape or {"fieldcount": "1"}
    pairs = (f"{key}={value}" for key, value in {**known, **binding.properties}.items())
    path = classpath(ensure(binding.stack))
    arguments = (*pairs, "+", *commands)
    return java_command(
        cluster, name, path, STORE_TOOL, arguments, serial(TOOL_HEAP_MIB), FAST_START
    )


def store_tool(
    context: TrialContext, test_case: YcsbTestCase, name: str, *commands: str
) -> dict[str, Any]:
    """Run `commands` in order; returns the result of the last. StudyError if one fails.

    The record keeps the output as logs/<name>.out and .err.
    """
    shape = _shape(test_case, len(context.cluster.topology.workers))
    command = store_command(context.cluster, name, table_of(test_case), *commands, shape=shape)
    limit_s = EMPTY_LIMIT_S + test_case.settling_limit_s(context.cluster.topology)
    run = run_client(context, command, limit_s, folder="logs")
    require_success(context, run, f"preparing the store ({', '.join(commands)})")
    stdout = (context.record.root / run.stdout).read_text(encoding="utf-8")
    last: dict[str, Any] = results_of(stdout)[-1]
    if logged := store_of(context.cluster.topology).logs_background_work(last):
        last["background_runs"] = _lines(context, *logged)
    return last


def _lines(context: TrialContext, daemon: str, texts: Sequence[str]) -> int:
    """Lines with one of the texts in the logs of the workers' daemons."""
    cluster = context.cluster
    places = node_paths(cluster.site, cluster.topology)
    return sum(
        context.transport.act(node, "count-lines", str(places.log(node, daemon, "log")), [*texts])
        for node in cluster.topology.workers
    )


def _shape(test_case: YcsbTestCase, workers: int) -> dict[str, str]:
    """In YCSB's properties; `tablets`: as many as HBase's table has regions."""
    return {
        "fieldcount": str(test_case.row.fields),
        "tablets": str(test_case.regions_per_server * workers),
        "recordcount": str(test_case.records),
        "insertorder": test_case.insert_order,
        "zeropadding": str(KEY_DIGITS),
    }


def rows_loaded(
    context: TrialContext, test_case: YcsbTestCase, load: Callable[[], None]
) -> dict[str, Any]:
    """The store's state before the trial: empty for a load, else with all rows and at rest. `load` writes
    them, unless an earlier trial or the warm-up did and none can change them."""
    if test_case.is_load:
        return store_tool(context, test_case, "store-before", "empty", "check", "state")
    has_rows = (
        context.cluster.topology.store.write_once
        and store_tool(context, test_case, "store-there", "state")["rows"] == test_case.records
    )
    if not has_rows:
        store_tool(context, test_case, "store-empty", "empty")
        load()
    state = store_tool(context, test_case, "store-before", "settle", "state")
    if state["rows"] != test_case.records:
        raise StudyError(
            f"the store has {state['rows']:,} rows after a load of {test_case.records:,}.",
            context.cluster.topology.store.title,
            "report it as a bug, with the record: the store acknowledged rows that it does not have.",
        )
    if fault := uneven(state):
        raise StudyError(
            fault,
            context.cluster.topology.store.title,
            "report it as a bug, with the record: the slots were divided in equal parts.",
        )
    return state


def uneven(state: Mapping[str, Any]) -> str:
    """How the rows of shards differ from equal parts by more than chance explains; empty if they do not, or
    if there are no shards. Keys are hashed, so that the rows of a shard are binomial."""
    rows, shards = state["rows"], state.get("shards", 1)
    share = 1 / shards
    expected, deviation = rows * share, sqrt(rows * share * (1 - share))
    for held in (state.get("rows_of_fewest", rows), state.get("rows_of_most", rows)):
        if abs(held - expected) > LIMIT_DEVIATIONS * deviation:
            return f"one of {shards} shards has {held:,} of {rows:,} rows."
    return ""


def rows_after(
    context: TrialContext, test_case: YcsbTestCase, before: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The store's state after the trial, and its faults: acknowledged rows that are missing, and servers
    of an existing store that have changed since `before`."""
    state, faults = store_tool(context, test_case, "store-after", "state"), []
    if state["rows"] < test_case.records:
        faults = [f"{state['rows']:,} rows in the store, {test_case.records:,} were acknowledged"]
    if state.get("servers") != before.get("servers"):
        faults.append("a server of the store restarted, or was replaced")
    return state, faults
