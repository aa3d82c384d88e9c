"""Warm-up of another store's servers that have JIT compilers, by the rules of `workloads.ycsb.warming`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.properties import table_of
from density_study.workloads.ycsb.stores.store_tool import rows_loaded, store_tool
from density_study.workloads.ycsb.tables import Tables
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming.warm_up import (
    Clients,
    warm_up_inserts,
    warm_up_mix,
    warmed_by,
)


def store_warmed_up(
    context: TrialContext, test_case: YcsbTestCase, load: Callable[[], None], clients: Clients
) -> Mapping[str, float]:
    """Before a build's first trial: inserts for a load, else the mix on a table that `load` has filled. What
    it wrote is removed when the trial's own rows are loaded.

    Returns how warm the servers were then; empty if that is not known.
    """
    store = context.cluster.topology.store
    if not store.compiled or not test_case.warms_up_daemons:
        return {}
    tables, name, by = Tables.of(context.cluster), table_of(test_case), warmed_by(test_case)
    if test_case.is_load:
        if not tables.inserts_are_warm:
            store_tool(context, test_case, "store-to-warm-up", "empty")
            tables.remember_warm_inserts(warm_up_inserts(context, test_case, clients))
        return tables.warmth_of_inserts
    if not tables.is_warm(name, by):
        if store.write_once:  # the trial reads the same rows
            rows_loaded(context, test_case, load)
        else:
            store_tool(context, test_case, "store-to-warm-up", "empty")
            load()
        tables.remember_warm(name, by, warm_up_mix(context, test_case, clients))
    return tables.warmth(name, by)
