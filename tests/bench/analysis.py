"""The analysis: ingest beside Spark's own reader and a csv loop, a study of 100 trials, growth,
DuckDB.

Ratios of one run on one machine; the sides are measured alternately, `repeats` times.
"""

from __future__ import annotations

import csv
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram
from pyspark.sql import SparkSession

from density_study.jobs.facts.of_run import write_facts
from density_study.jobs.ingest import ingest
from density_study.jobs.spark.session import spark_session, tune
from density_study.workloads.rows.file_tables import log_tables
from density_study.workloads.rows.raw.manifest_rows import manifests_of
from density_study.workloads.rows.raw.raw_files import RawFile, raw_files_of
from tests.bench.made_run import Size, make_run
from tests.bench.measurement import Measurement, at_least, at_most, printed
from tests.spark.support.duckdb_oracle import HOSTS, LATENCIES, RATES, query

PROJECT = Path(__file__).parent.parent.parent
MILLION = 10**6
GROWTH = tuple(int(text) for text in os.environ.get("BENCH_SAMPLES", "1000000,10000000").split(","))
"""Samples of the growth benchmark; 100000000 takes 13 GB of disk, and ten minutes on two cores."""
_CSV = "epoch double, time string, usr double, sys double, idl double, wai double, stl double, \
read double, writ double, iread double, iwrit double, recv double, send double, used double, \
free double, cach double, avai double"


_DENSE = Size(trials=2, hosts=1, seconds=120, interval_s=1, rate=10_000)
"""Interval logs like the quickstart's: about 5,000 operations and 1,000 values each."""


_MILLIONS = 4
"""Samples of the ingest benchmark: enough to make the start of a job, 0.1 s, negligible."""


def bench(repeats: int) -> list[Measurement]:
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        root = Path(folder)
        return [
            *_ingest(
                make_run(root / "ingest", Size(trials=50 * _MILLIONS, hosts=10, seconds=2000)),
                repeats,
            ),
            *_study(make_run(root / "study", Size(trials=100)), repeats),
            *_hdr(make_run(root / "hdr", _DENSE), repeats),
            *_growth(root, repeats),
        ]


def _timed(act: Callable[[], object]) -> float:
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


def _dool_files(root: Path) -> list[RawFile]:
    files = [file for of in raw_files_of(root, manifests_of(root)).values() for file in of]
    return [file for file in files if file.kind == "dool"]


def _ingest(root: Path, repeats: int) -> list[Measurement]:
    """Four million samples: parse, provenance, quarantine, Parquet; and their sums, which the other
    sides do not compute."""
    spark, files = spark_session(), _dool_files(root)
    tune(spark, root)
    ours_s, spark_s, loop = [], [], []
    some = files[:: 2 * _MILLIONS]  # half a million: a second or two, before ours and after it
    few = files[::10]  # enough to start Spark's tasks
    _spark_csv(spark, few, root / "warm")
    ingest.ingest_files(spark_session, root, few)
    gc.freeze()  # the loop makes garbage; its collection must not scan our imports
    for _ in range(repeats):
        spark_s.append(_timed(lambda: _spark_csv(spark, files, root / "spark")))
        before = _timed(lambda: [_csv_loop(file) for file in some])
        ours_s.append(_timed(lambda: ingest.ingest_files(spark_session, root, files)))
        after = _timed(lambda: [_csv_loop(file) for file in some])
        loop.append((before + after) / 2 * len(files) / len(some))
    ratios = [own_s / other for own_s, other in zip(ours_s, spark_s, strict=True)]
    speed = [other / own_s for own_s, other in zip(ours_s, loop, strict=True)]
    return [
        at_most("ingest over Spark's read.csv to Parquet", "x", ratios, 2),
        at_least("ingest over a csv loop into numpy, rows a second", "x", speed, 4),
        printed("ingest, a million samples", "s", [own_s / _MILLIONS for own_s in ours_s]),
    ]


def _spark_csv(spark: SparkSession, files: list[RawFile], to: Path) -> None:
    frame = spark.read.schema(_CSV).csv([file.path for file in files])
    frame.write.mode("overwrite").parquet(str(to))


def _csv_loop(file: RawFile) -> np.ndarray:  # type: ignore[type-arg]
    """Data rows by the csv module, without times."""
    with Path(file.path).open(newline="") as stream:
        rows = [row for row in csv.reader(stream) if len(row) == 17 and row[0][:1].isdigit()]
    return np.array([[float(cell) for cell in (row[0], *row[2:])] for row in rows])


def _study(root: Path, repeats: int) -> list[Measurement]:
    """100 trials x 5 nodes x 10 min to summary.json, in its own process: session start counts."""
    seconds = []
    for _ in range(repeats):
        for folder in ("tables", "report"):
            shutil.rmtree(root / folder, ignore_errors=True)
        command = [sys.executable, "-m", "tests.bench.to_summary", str(root)]
        seconds.append(_timed(lambda: subprocess.run(command, cwd=PROJECT, check=True)))  # noqa: B023
    return [
        at_most("100 trials x 5 nodes x 10 min to summary.json", "s", seconds, 25),
        *_duckdb(root, repeats),
    ]


def _duckdb(root: Path, repeats: int) -> list[Measurement]:
    spark = spark_session()
    tune(spark, root)
    ours, reference_s = [], []
    for _ in range(repeats):
        ours.append(_timed(lambda: write_facts(spark_session, root)))
        reference_s.append(_timed(lambda: [query(root, sql) for sql in (HOSTS, RATES, LATENCIES)]))
    return [
        printed("facts of 100 trials, rates by second included", "s", ours),
        printed("host CPU and disks, rates, percentiles of them by DuckDB", "s", reference_s),
    ]


def _hdr(root: Path, repeats: int) -> list[Measurement]:
    """Interval logs of 1 s, to their table, against the Python library's reader in two measures.

    The reader is `hdrh`. Our table contains values with their counts, which `hdrh` returns by an
    iterator in Python: the goal is compared with that, as equal work. Its `decode` alone is C and leaves
    counts in an array by index, without values; the ratio to it is only printed.
    """
    files = [file for of in raw_files_of(root, manifests_of(root)).values() for file in of]
    logs = [file for file in files if file.kind == "ycsb-hdr"]
    payloads = [
        line.rpartition(",")[2]
        for file in logs
        for line in Path(file.path).read_text().splitlines()
        if "HIST" in line
    ]
    few = payloads[: len(payloads) // 10]
    ratios, listed, each_ms = [], [], []
    for _ in range(repeats):
        ours = _timed(lambda: [list(log_tables(file)) for file in logs])
        decode_s = _timed(lambda: [HdrHistogram.decode(payload) for payload in payloads])
        ratios.append(decode_s / ours)
        each_ms.append(ours / len(payloads) * 1000)
        iterate_s = _timed(lambda: [_recorded(payload) for payload in few])
        listed.append(iterate_s / len(few) * len(payloads) / ours)
    return [
        at_least("histograms a second over hdrh's, values with counts", "x", listed, 10),
        printed("histograms a second over hdrh's decode alone (C)", "x", ratios),
        printed("a histogram", "ms", each_ms),
    ]


def _recorded(payload: str) -> list[tuple[int, int]]:
    """Values and their counts."""
    iterator = HdrHistogram.decode(payload).get_recorded_iterator()
    return [(step.value_iterated_to, step.count_added_in_this_iter_step) for step in iterator]


def _growth(folder: Path, repeats: int) -> list[Measurement]:
    """Ingest and metrics of a growing number of samples."""
    spark = spark_session()
    costs: dict[int, list[float]] = {}
    for samples in GROWTH:
        root = make_run(
            folder / str(samples), Size(trials=samples // 20_000, hosts=10, seconds=2000)
        )
        tune(spark, root)
        costs[samples] = []
        for _ in range(repeats if samples < 10 * MILLION else 1):
            shutil.rmtree(root / "tables", ignore_errors=True)
            seconds = _timed(partial(ingest.ingest, spark_session, root))
            seconds += _timed(partial(write_facts, spark_session, root))
            costs[samples].append(seconds / (samples / MILLION))
        shutil.rmtree(root)
    first = float(np.median(costs[GROWTH[0]]))
    growth = [float(np.median(cost)) / first for cost in costs.values()]
    return [
        *(printed(f"a million samples, of {s:,}", "s", cost) for s, cost in costs.items()),
        at_most("the dearest million over the first one's", "x", [max(growth)], 1.2),
    ]
