"""Runs StoreTool (Java) on a store other than HBase, and brings its rows into their initial state.

Every trial begins with rows that were loaded just before: nothing of the trial before it is left, in whatever
order they run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from density_study.cluster.clients.client_commands import java_command
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command
from density_study.cluster.render.jvm import FAST_START
from density_study.cluster.stack import classpath, ensure
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.properties import KEY_DIGITS, table_of
from density_study.workloads.ycsb.setting import YcsbSetting
from density_study.workloads.ycsb.stores.bindings import binding_of

MAIN = "org.densitystudy.stores.StoreTool"
TIMEOUT_S = 600.0
HEAP_MIB = 128
ONE_FIELD: Mapping[str, str] = MappingProxyType({"fieldcount": "1"})


def store_command(
    cluster: Cluster, name: str, table: str, *commands: str, rows: Mapping[str, str] = ONE_FIELD
) -> Command:
    """The command that runs StoreTool's `commands` in order. `rows`: what `empty` makes the table for."""
    binding = binding_of(cluster)
    known = {"store": cluster.topology.store.name, "db": binding.db, "table": table, **rows}
    pairs = (f"{key}={value}" for key, value in {**known, **binding.properties(cluster)}.items())
    path = classpath(ensure(binding.stack))
    arguments = (*pairs, "+", *commands)
    return java_command(
        cluster, name, path, MAIN, arguments, heap_mib=HEAP_MIB, jvm_flags=FAST_START
    )


def store_tool(
    context: TrialContext, setting: YcsbSetting, name: str, *commands: str
) -> dict[str, Any]:
    """Run `commands` in order; returns the result of the last. StudyError if one fails.

    The record keeps the output as logs/<name>.out and .err.
    """
    rows = {
        "fieldcount": str(setting.row.fields),
        "recordcount": str(setting.records),
        "insertorder": setting.insert_order,
        "zeropadding": str(KEY_DIGITS if setting.insert_order == "ordered" else 1),
        "tablets.per.server": str(setting.regions_per_server),
    }
    command = store_command(context.cluster, name, table_of(setting), *commands, rows=rows)
    run = run_client(context, command, TIMEOUT_S, folder="logs")
    require_success(context, run, f"preparing the store ({', '.join(commands)})")
    lines = (context.record.root / run.stdout).read_text(encoding="utf-8").splitlines()
    results = [json.loads(line)["result"] for line in lines if line.startswith("{")]
    last: dict[str, Any] = results[-1]
    return last


def rows_loaded(
    context: TrialContext, setting: YcsbSetting, load: Callable[[], None]
) -> dict[str, Any]:
    """The store's state before the trial: empty for a load, else with all rows. `load` writes them."""
    if setting.is_load:
        return store_tool(context, setting, "store-before", "empty", "check", "state")
    store_tool(context, setting, "store-empty", "empty")
    load()
    state = store_tool(context, setting, "store-before", "settle", "state")
    if state["rows"] != setting.records:
        raise StudyError(
            f"the store has {state['rows']:,} rows after a load of {setting.records:,}.",
            context.cluster.topology.store.facts.title,
            "report it as a bug, with the record: the store acknowledged rows that it does not have.",
        )
    return state


def rows_after(context: TrialContext, setting: YcsbSetting) -> tuple[dict[str, Any], list[str]]:
    """The store's state after the trial, and its faults: acknowledged rows that are not there."""
    state = store_tool(context, setting, "store-after", "state")
    short = state["rows"] < setting.records
    fault = f"{state['rows']:,} rows in the store, {setting.records:,} were acknowledged"
    return state, [fault] if short else []
