"""The same metrics by another engine: DuckDB's SQL over the same Parquet."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd

from density_study.workloads.tables import TABLES

_WINDOWS = """
    SELECT trial, window_start_epoch_s AS start_s, window_end_epoch_s AS end_s, warm_up_s
    FROM trials WHERE window_end_epoch_s > window_start_epoch_s
"""
HOSTS = f"""
    WITH spans AS (
        SELECT s.*, s.epoch_s - coalesce(m.clock_offset_s, 0) AS until_s, m.period_s, w.end_s,
            w.start_s + w.warm_up_s AS from_s
        FROM host_samples s
        JOIN monitors m ON m.trial = s.trial AND m.host = s.host AND m.kind = 'dool'
        JOIN ({_WINDOWS}) w ON w.trial = s.trial
        WHERE NOT s.since_boot
        QUALIFY row_number() OVER (PARTITION BY s.trial, s.host, s.epoch_s ORDER BY s.line) = 1
    ), weighted AS (
        SELECT *, least(until_s, end_s) - greatest(until_s - period_s, from_s) AS weight_s FROM spans
    )
    SELECT trial, 'host:' || host AS scope,
        100 - sum((cpu_idle + cpu_iowait + cpu_steal) * weight_s) / sum(weight_s) AS cpu_used,
        sum(disk_read_bytes_s * weight_s) / sum(weight_s) / 1048576 AS disk_read,
        sum(disk_write_bytes_s * weight_s) / sum(weight_s) / 1048576 AS disk_write
    FROM weighted WHERE weight_s > 0 GROUP BY ALL
"""
_INTERVALS = f"""
    SELECT h.*, w.start_s, w.warm_up_s, h.start_epoch_s - coalesce(c.clock_offset_s, 0) AS begun_s
    FROM ycsb_histograms h
    JOIN clients c ON c.trial = h.trial AND c.client = h.client
    JOIN ({_WINDOWS}) w ON w.trial = h.trial
    WHERE h.operation NOT IN ('CLEANUP', 'THINK') AND h.outcome IS NULL
      AND (w.warm_up_s = 0 OR begun_s >= w.start_s + w.warm_up_s)
"""
RATES = f"""
    SELECT trial, sum(CASE WHEN operation = 'READ-MODIFY-WRITE' THEN -operations ELSE operations END)
        / (max(begun_s + length_s) - min(begun_s)) AS throughput
    FROM ({_INTERVALS}) WHERE kind = 'closed-loop' AND warm_up_s > 0 GROUP BY trial
"""
LATENCIES = f"""
    WITH buckets AS (
        SELECT trial, operation, kind AS latency_kind, unnest(value_us) AS value_us, unnest(counts) AS n
        FROM ({_INTERVALS})
    ), merged AS (
        SELECT trial, operation, latency_kind, value_us, sum(n) AS n FROM buckets GROUP BY ALL
    ), ranked AS (
        SELECT *, sum(n) OVER (PARTITION BY trial, operation, latency_kind ORDER BY value_us) AS reached,
            sum(n) OVER (PARTITION BY trial, operation, latency_kind) AS total
        FROM merged
    ), wanted(percentile, thousandths) AS (
        VALUES (50.0, 500), (90.0, 900), (95.0, 950), (99.0, 990), (99.9, 999)
    )
    SELECT trial, operation, latency_kind, percentile, min(value_us) / 1000 AS latency
    FROM ranked, wanted
    WHERE reached * 1000 >= total * thousandths AND total * (1000 - thousandths) >= 10 * 1000
    GROUP BY ALL
"""


def query(run_root: Path, sql: str) -> pd.DataFrame:
    """Result of the query on the run's tables."""
    connection = duckdb.connect()
    for name in TABLES:
        files = run_root / "tables" / name / "*.parquet"
        if list(files.parent.glob("*.parquet")):
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{files}')")
    return connection.execute(sql).df()
