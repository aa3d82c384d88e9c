"""The YCSB trial: bring the table into its initial state, then run the clients until they exit.

Every run that writes starts from the same table. It is loaded once per build, flushed, major-compacted and
saved as a snapshot, from which trials restore it (method 6). That takes only seconds. A restored table has
the same store files as a reloaded and compacted table. Its regions are on the servers where they were when
the snapshot was taken, which have their blocks.

The servers are warmed up first: see `workloads.ycsb.warming`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from density_study.cluster.clients.client_commands import java_command
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.stack import classpath, ensure
from density_study.workloads.base.client_run import (
    GRACE_S,
    Deed,
    require_success,
    run_clients,
    run_duet,
)
from density_study.workloads.base.cold import cold_proof, made_cold
from density_study.workloads.base.values import FIRST_TURN_AFTER_S, ClientRun, Turns
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.ycsb.copies.table_copy import keep_or_prove, put_back
from density_study.workloads.ycsb.fault_under_load.injection import fault_of, rows_after
from density_study.workloads.ycsb.faults import faults_of_all, unsent
from density_study.workloads.ycsb.loading import SLOWEST_COMPACTION_MIB_S, SLOWEST_COUNT_ROWS_S
from density_study.workloads.ycsb.noisy_neighbour.neighbour import (
    noise,
    noise_made,
    victims_servers,
)
from density_study.workloads.ycsb.properties import (
    CLIENT,
    FAMILY,
    KEY_DIGITS,
    MAIN,
    client_arguments,
    client_name,
    table_of,
    table_on,
)
from density_study.workloads.ycsb.stores import store_tool
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.stores.store_tool import rows_loaded
from density_study.workloads.ycsb.stores.store_warm_up import store_warmed_up
from density_study.workloads.ycsb.table_tool import table_tool
from density_study.workloads.ycsb.tables import Tables
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming.unthrottled import (
    is_worth_it,
    put_limit_back,
    unthrottled,
)
from density_study.workloads.ycsb.warming.warm_up import warm_up_inserts, warm_up_mix, warmed_by

BATCH_ROWS = 100
"""For a load that is not measured, for each thread. Rows of 1 KB then go in requests of 100 KB."""


class YcsbWorkload:
    """Saturation runs without a target, with closed-loop latency only, and latency runs at a target rate,
    which also record intended latency (method 10)."""

    def prepare(self, context: TrialContext, test_case: YcsbTestCase) -> Prepared:
        if not context.cluster.topology.store.restores:
            load = partial(_load_unmeasured, context, test_case)
            warmth = store_warmed_up(context, test_case, load, partial(_warm_up_clients, context))
            state = {"store": rows_loaded(context, test_case, load), **warmth}
            prepared = Prepared(data_set_mib=test_case.data_mib)
            if context.cluster.topology.store.write_once:
                prepared = made_cold(context, test_case.data_mib)
            return replace(prepared, state={**(prepared.state or {}), **state})
        put_limit_back(context)
        facts = _create(context, test_case) if test_case.is_load else _restore(context, test_case)
        tables = Tables.of(context.cluster)
        warmth = tables.warmth(table_of(test_case), warmed_by(test_case))
        state = {**_state(facts), **(tables.warmth_of_inserts if test_case.is_load else warmth)}
        return Prepared(data_set_mib=test_case.data_mib, state=state)

    def run(self, context: TrialContext, test_case: YcsbTestCase) -> tuple[ClientRun, ...]:
        with noise(context, test_case.neighbour_threads or 0), fault_of(context, test_case) as deed:
            clients = _run_all(context, test_case, "raw", deed)
        if test_case.fault is not None and not context.injected:
            raise StudyError(
                f"the clients ended before {test_case.fault.words}.",
                context.record.root.name,
                f"read the clients' output: {context.record.raw}.",
            )
        return clients

    def collect(
        self, context: TrialContext, test_case: YcsbTestCase, prepared: Prepared
    ) -> Collected:
        if not context.cluster.topology.store.restores:
            before, cold = (prepared.state or {}).get("store", {}), cold_proof(context, prepared)
            state, missing = store_tool.rows_after(context, test_case, before)
            faults = (*faults_of_all(context.record.raw, test_case), *missing)
            return Collected(faults=faults, cold=cold, state={"store": state})
        facts = table_tool(context, "table-after", ("state", *_table(context, test_case)))
        faults = faults_of_all(context.record.raw, test_case)
        tables = Tables.of(context.cluster)
        if test_case.is_load and not faults and tables.known(table_of(test_case)) == "there":
            tables.remember(table_of(test_case), "loaded")
        made = noise_made(context.record.raw)
        more = {"neighbour": made} if made else {}
        if test_case.fault is not None:
            more = {"rows": rows_after(context, test_case)}
        return Collected(faults=faults, state={**_state(facts), **more})


def in_turns(
    both: Sequence[tuple[TrialContext, Turns]], test_case: YcsbTestCase
) -> tuple[float, list[tuple[ClientRun, ...]]]:
    """Run the clients of two prepared trials: see `RunDuet`."""
    started = [
        (context, client_commands(context, test_case, "raw", turns=turns))
        for context, turns in both
    ]
    timeout_s = FIRST_TURN_AFTER_S + 2 * max(turns.own_s for _, turns in both) + GRACE_S
    return run_duet(started, timeout_s, test_case.warm_up_client_s + GRACE_S)


def _create(context: TrialContext, test_case: YcsbTestCase) -> list[dict[str, Any]]:
    """Create an empty table, pre-split along the real distribution of its keys."""
    servers = len(context.cluster.endpoints.all("regionserver.http"))
    regions = str(test_case.regions_per_server * servers)
    tables, name = Tables.of(context.cluster), table_of(test_case)
    known = tables.known(name)
    keys: tuple[str, ...] = ()
    if test_case.variants is not None:
        keys = ("--variants", test_case.variants.splits)
    elif test_case.insert_order == "ordered":
        keys = ("--ordered", f"{test_case.records},{KEY_DIGITS}")
    attributes = context.cluster.topology.configuration.table.arguments
    named = (*_table(context, test_case), "--family", FAMILY)
    create = ("create", *named, "--regions", regions, *keys, *attributes)
    # An existing cluster's switches are not ours: its tables may be moved, and `state` shows where regions
    # are.
    acts: list[tuple[str, ...]] = [] if context.cluster.topology.existing else [("balancer", "off")]
    if known is not None:
        acts.append(("drop", *_table(context, test_case)))
    elif _wants_warm_inserts(test_case) and not tables.inserts_are_warm:
        table_tool(context, "warm-up-table", *acts, create)
        tables.remember(name, "there")
        warmth = warm_up_inserts(context, test_case, partial(_warm_up_clients, context))
        tables.remember_warm_inserts(warmth)
        acts.append(("drop", *_table(context, test_case)))
    acts += [create, *_confined(context, test_case), ("state", *_table(context, test_case))]
    facts = table_tool(context, "table-before", *acts)
    if known != "snapshot":  # a snapshot survives its table, and contains the same rows
        tables.remember(name, "there")
    return facts


def _restore(context: TrialContext, test_case: YcsbTestCase) -> list[dict[str, Any]]:
    """Restore the loaded, compacted table from its snapshot, which is created first if necessary."""
    tables, name = Tables.of(context.cluster), table_of(test_case)
    snapshot = f"{table_on(context.cluster, test_case).replace(':', '-')}-loaded"
    if tables.known(name) in (None, "there"):
        _create(context, test_case)
        if not put_back(context, test_case):
            _load_unmeasured(context, test_case)
        tables.remember(name, "loaded")
    table = _table(context, test_case)
    acts: list[tuple[str, ...]] = []
    more_s = 0.0
    if tables.known(name) == "loaded":
        more_s = test_case.compaction_s(context.cluster.topology, SLOWEST_COMPACTION_MIB_S)
        acts = [("flush-compact-settle", *table)]
        is_long = is_worth_it(context.cluster.topology, test_case)
        copied = test_case.is_copied_on(context.cluster.topology)
        if is_long or copied:
            if copied:
                acts += [(verb, *table) for verb in ("count", "state")]
                more_s += test_case.records / SLOWEST_COUNT_ROWS_S
            with unthrottled(context) if is_long else nullcontext():
                facts = table_tool(context, "table-settled", *acts, more_s=more_s)
            if copied:
                keep_or_prove(context, test_case, facts)
            acts, more_s = [], 0.0
        # not before the proof: a table that has a snapshot is measured
        acts.append(("snapshot", snapshot, *table))
    if test_case.warms_up_daemons and not tables.is_warm(name, warmed_by(test_case)):
        if test_case.until_steady:
            acts.append(("restore", snapshot, *table, *tables.places(name)))
        if acts:
            facts = table_tool(context, "table-to-warm-up", *acts, more_s=more_s)
            _remember_snapshot(tables, name, acts, facts)
            acts, more_s = [], 0.0
        warmth = warm_up_mix(context, test_case, partial(_warm_up_clients, context))
        tables.remember_warm(name, warmed_by(test_case), warmth)
    acts.append(("restore", snapshot, *table, *tables.places(name)))
    acts += [*_confined(context, test_case), ("state", *table)]
    facts = table_tool(context, "table-before", *acts, more_s=more_s)
    _remember_snapshot(tables, name, acts, facts)
    return facts


def _remember_snapshot(
    tables: Tables, name: str, acts: Sequence[tuple[str, ...]], facts: Sequence[Mapping[str, Any]]
) -> None:
    """Remember that there is a snapshot, and the places of regions if one of `acts` took it. A restore beside
    it needs none: the tool returns regions to where it found them."""
    for act, fact in zip(acts, facts, strict=True):
        if act[0] == "snapshot":
            tables.remember_places(name, fact["places"])
    tables.remember(name, "snapshot")


def _wants_warm_inserts(test_case: YcsbTestCase) -> bool:
    """Whether inserts warm up the servers. An unmeasured load needs no warm servers, but where another is
    measured, a warm-up of fixed duration is the same in every build."""
    is_timed_for_load = test_case.beside_load and not test_case.until_steady
    return test_case.warms_up_daemons and (test_case.is_load or is_timed_for_load)


def _confined(context: TrialContext, test_case: YcsbTestCase) -> list[tuple[str, ...]]:
    """The command that moves a noisy-neighbour trial's whole table to the victim's node."""
    if not test_case.has_neighbour:
        return []
    return [("confine", *_table(context, test_case), "--info", victims_servers(context))]


def _load_unmeasured(context: TrialContext, test_case: YcsbTestCase) -> None:
    load = test_case.model_copy(
        update={"mix": test_case.load_mix, "duration_s": None, "fault": None, "phase": None, "warm_up_s": 0.0,
                "warm_up_client_s": 0.0, "target_percent": None, "target_ops_s": _limit_ops_s(context)}
    )  # fmt: skip
    batched = context.cluster.topology.store.restores  # HBase: other stores have no such client
    runs = _run_all(context, load, "logs", batch=BATCH_ROWS if batched else 1)
    for run in runs:
        require_success(context, run, "loading the table")
    faults = (
        *faults_of_all(context.record.root / "logs", load),
        *(fault for run in runs for fault in unsent(context.record.root / run.stderr)),
    )
    if faults:
        raise StudyError(
            f"loading the table: {'; '.join(faults)}.",
            f"table {table_of(test_case)}",
            f"read {context.record.root.name}/{runs[0].stderr} and the daemons' logs.",
        )


def _warm_up_clients(
    context: TrialContext, work: YcsbTestCase, name: str, shares: Mapping[str, float] | None
) -> list[tuple[Node, Command]]:
    return client_commands(context, work, "logs", name, shares)


def _run_all(
    context: TrialContext,
    test_case: YcsbTestCase,
    folder: str,
    deed: Deed | None = None,
    batch: int = 1,
) -> tuple[ClientRun, ...]:
    """Run the test case's clients; several start together. `deed`: done meanwhile. `batch`: rows that a
    thread of a load inserts together."""
    timeout_s = test_case.load_limit_on(context.cluster.topology)
    if test_case.duration_s is not None:
        timeout_s = test_case.warm_up_client_s + test_case.duration_s + GRACE_S
    ready_within_s = test_case.warm_up_client_s + GRACE_S if test_case.clients > 1 else None
    commands = client_commands(context, test_case, folder, batch=batch)
    return run_clients(
        context, commands, timeout_s, folder, ready_within_s=ready_within_s, deed=deed
    )


def client_commands(
    context: TrialContext,
    test_case: YcsbTestCase,
    folder: str,
    stem: str = CLIENT,
    shares: Mapping[str, float] | None = None,
    batch: int = 1,
    turns: Turns | None = None,
) -> list[tuple[Node, Command]]:
    """The client commands of a trial or its warm-up, named `stem` and a number, dealt out to the client nodes
    in turn, with interval logs in `folder` of the record."""
    nodes = context.cluster.topology.clients
    if test_case.target_ops_s is None:  # also in a warm-up
        test_case = test_case.model_copy(update={"target_ops_s": _limit_ops_s(context)})
    commands = []
    for number in range(1, test_case.clients + 1):
        node, name = nodes[(number - 1) % len(nodes)], client_name(number, stem)
        prefix, table = _prefix(context, node, folder, name), table_on(context.cluster, test_case)
        arguments = _arguments(context, test_case, prefix, number, shares, table, turns)
        arguments += ("-p", f"inserts.batch={batch}") if batch > 1 else ()
        commands.append((node, _command(context, test_case, node, name, arguments)))
    return commands


def _limit_ops_s(context: TrialContext) -> float | None:
    """The most that all clients may request together, of a cluster that serves others; None: no limit."""
    existing = context.cluster.topology.existing
    return existing.limits.ops_s if existing else None


def _prefix(context: TrialContext, node: Node, folder: str, name: str) -> str:
    return str(context.at(context.record.root / folder / f"{name}-", node))


def _command(
    context: TrialContext,
    test_case: YcsbTestCase,
    node: Node,
    name: str,
    arguments: tuple[str, ...],
) -> Command:
    stack = binding_of(context.cluster).stack
    path = classpath(ensure(stack, context.cluster.client_versions))
    memory = test_case.client.memory_flags(context.cluster.topology, node, test_case.clients)
    return java_command(context.cluster, name, path, MAIN, arguments, memory, node=node)


def _arguments(
    context: TrialContext,
    test_case: YcsbTestCase,
    prefix: str,
    number: int,
    shares: Mapping[str, float] | None = None,
    table: str | None = None,
    turns: Turns | None = None,
) -> tuple[str, ...]:
    binding = binding_of(context.cluster)
    return client_arguments(
        test_case, prefix, number, shares, table, binding.db, binding.properties, turns
    )


def _table(context: TrialContext, test_case: YcsbTestCase) -> tuple[str, str]:
    return ("--table", table_on(context.cluster, test_case))


def _state(facts: list[dict[str, Any]]) -> dict[str, Any]:
    """The table's state, which is the result of the last verb."""
    return {"hbase": facts[-1]}
