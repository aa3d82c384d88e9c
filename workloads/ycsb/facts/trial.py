"""All facts of a YCSB trial."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from density_study.workloads.base.rows import (
    OPS_S,
    Facts,
    Row,
    Rows,
    exact_sum,
    has_rates,
    if_all,
    known,
    metric,
    over,
)
from density_study.workloads.ycsb.facts.intervals import (
    closed_loop,
    drift,
    histogram_error,
    rates_after_ramp_up,
    together_checks,
)
from density_study.workloads.ycsb.facts.latency import latency_metrics
from density_study.workloads.ycsb.facts.littles_law import littles_law
from density_study.workloads.ycsb.facts.phases import phase_metrics
from density_study.workloads.ycsb.facts.recovery import lost_rows, recovery_metrics
from density_study.workloads.ycsb.facts.summary import WholeRun, whole_runs, work_checks

STEADY_PHASES = (None, "soak")
"""The phases in which the rate does not change with time on purpose."""


def facts(rows: Rows) -> Facts:
    """throughput (ops/s) of all clients together, of a search's answer also rate_at_slo; where several
    nodes are clients, client_throughput of each; latency; of a fault and of a changing load what became of
    them."""
    trial, clients = rows.trial, rows.of("clients")
    names = [one["client"] for one in clients]
    runs, intervals = whole_runs(rows), closed_loop(rows)
    after_ramp_up = rates_after_ramp_up(intervals, names)
    rates = _client_rates(trial, runs, after_ramp_up)
    metrics = [*_rates(trial, rates), *_by_client_node(rows, rates), *latency_metrics(rows)]
    if trial["fault_s"] is not None and has_rates(trial):
        metrics += recovery_metrics(rows, runs)
    if trial["phase"] is not None:
        metrics += phase_metrics(rows)
    faulted = trial["fault"] is not None
    work = work_checks(rows, runs)
    target = held_target(trial)
    return Facts(
        metrics,
        {
            **work,
            # with a fault, failures are a result
            "failed_operations": 0 if faulted else work["failed_operations"],
            # an act is compactions and splits; after a fault, they are its recovery
            **({"background_work": None} if faulted else {}),
            "faulted": faulted,
            "lost_rows": lost_rows(trial),
            "has_target": target is not None and not faulted,
            "target_share": over(_all(rates), target),
            "histogram_error": histogram_error(intervals, runs, names),
            # others drift on purpose
            "drift": drift(intervals) if trial["phase"] in STEADY_PHASES and not faulted else None,
            **littles_law(rows, intervals),
            **together_checks(rows, intervals),
        },
    )


def held_target(trial: Row) -> float | None:
    """The rate that the clients are held to, in ops/s. None without one, for a rate that changes with time,
    which is judged part by part, and for a probe that is not the answer of its search: searches reject
    probes because they miss their target, which is not their fault."""
    if trial["phase"] is not None or (trial["probe"] is not None and not trial["studied"]):
        return None
    target: float | None = trial["target_ops_s"]
    return target


def _client_rates(
    trial: Row, runs: Mapping[str, WholeRun], after_ramp_up: Mapping[str, float | None]
) -> Mapping[str, float | None]:
    """The rate of each client in ops/s. With a ramp-up: operations per second in the intervals after the
    ramp-up. Without: all successful operations over the run time of the slowest client."""
    if not has_rates(trial):
        return {}
    if trial["warm_up_s"] > 0:
        return after_ramp_up
    # Clients with a fixed amount of work end at different times: the sum of their rates was never reached.
    longest_s = max(known(run.run_s for run in runs.values()), default=None)
    return {
        client: None if run.run_s is None else over(run.succeeded, longest_s)
        for client, run in runs.items()
    }


def _rates(trial: Row, rates: Mapping[str, float | None]) -> Iterator[Row]:
    if has_rates(trial):
        yield metric("throughput", OPS_S, _all(rates))
        if trial["studied"] and trial["probe_kept"]:
            yield metric("rate_at_slo", OPS_S, _all(rates))


def _all(rates: Mapping[str, float | None]) -> float | None:
    """The rate of all clients together; None if a client has no rate."""
    whole = if_all(rates.values())
    return None if whole is None else exact_sum(whole)


def _by_client_node(rows: Rows, rates: Mapping[str, float | None]) -> Iterator[Row]:
    by_node: dict[str, dict[str, float | None]] = defaultdict(dict)
    for one in rows.of("clients"):
        if one["client"] in rates and one["node"] is not None:
            by_node[one["node"]][one["client"]] = rates[one["client"]]
    for node, own in by_node.items() if len(by_node) > 1 else ():
        yield metric("client_throughput", OPS_S, _all(own), scope=f"client:{node}")
