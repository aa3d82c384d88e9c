"""All facts of a trial of Spark SQL, from what its program wrote of each query."""

from __future__ import annotations

from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import (
    MIB_S,
    Facts,
    Row,
    Rows,
    exact_sum,
    has_rates,
    if_all,
    metric,
    over,
    relative_error,
)
from density_study.workloads.sparksql.queries import QUERIES


def facts(rows: Rows) -> Facts:
    """throughput_sql and the seconds of each query; None if not known. The seconds are by a clock that nobody
    sets; the time of day is the check."""
    trial, found = rows.trial, {row["query"]: row for row in rows.of("sql_queries")}
    seconds = {name: found[name]["seconds"] if name in found else None for name in QUERIES}
    known = if_all(seconds.values())
    total_s = None if known is None else exact_sum(known)
    metrics: list[Row] = []
    if has_rates(trial):
        mib = None if trial["asked_bytes"] is None else len(QUERIES) * trial["asked_bytes"] / MIB
        metrics = [
            metric("throughput_sql", MIB_S, over(mib, total_s)),
            *(metric(f"sql_{name}", "s", value) for name, value in seconds.items()),
        ]
    by_day_s = exact_sum([row["end_epoch_s"] - row["start_epoch_s"] for row in found.values()])
    return Facts(
        metrics,
        {
            "work_share": len(found) / len(QUERIES),
            "rate_error": relative_error(by_day_s, total_s),
            "must_be_cold": True,
        },
    )
