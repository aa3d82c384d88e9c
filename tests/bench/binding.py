"""The binding against the best loop by hand: paired runs on one HBase, in turns, same keys and threads.

Both are asked for as much as they can do. YCSB measures every operation's latency and the loop by
hand measures nothing, so that the ratio holds the price of measuring too.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.measurement import Measurement, at_least, printed
from tests.live.java_client import YCSB, compiled
from tests.live.standalone import StandaloneHBase, standing
from workloads.settings import Mix, YcsbSetting
from workloads.ycsb.faults import faults_of
from workloads.ycsb.hdr import parse_hdr
from workloads.ycsb.mixes import MIXES
from workloads.ycsb.properties import FAMILY, client_arguments, table_of

GOAL = 0.97
LEAST_PAIRS = 5
RECORDS = 20_000
THREADS = 8
WARM_UP_S, MEASURED_S = 8, 9
MAX_SCAN = 50
REGIONS = 10
JVM = ("-Xmx512m", "-XX:+UseSerialGC")
HAND = "org.densitystudy.ycsb.HandLoop"
COMPARED: dict[Mix, str] = {"c": "blocking", "scan95-insert5": "async"}
"""The API that did better by hand: HBase's asynchronous client opens a scan with its first rows."""


def bench(repeats: int) -> list[Measurement]:
    """`repeats` pairs of each mix, at least five."""
    lines: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        root = Path(folder)
        classes = compiled(root, "HandLoop")[0]
        (root / "hbase").mkdir()
        with standing(root / "hbase") as hbase:
            _load(hbase, root)
            for mix in COMPARED:
                lines += _compare(hbase, root, classes, mix, max(repeats, LEAST_PAIRS))
    return lines


def _compare(
    hbase: StandaloneHBase, root: Path, classes: str, mix: Mix, pairs: int
) -> list[Measurement]:
    """In turns, each first in every other pair: what changes with time meets both alike."""
    rates: dict[str, list[float]] = {"binding": [], "hand": []}
    runs: dict[str, Callable[[], float]] = {
        "binding": lambda: _binding(hbase, root, mix),
        "hand": lambda: _hand(hbase, classes, mix),
    }
    for run in runs.values():
        run()  # warms the server up for both
    for pair in range(pairs):
        for name in sorted(runs, reverse=bool(pair % 2)):
            rates[name].append(runs[name]())
    ratios = [ours / best for ours, best in zip(rates["binding"], rates["hand"], strict=True)]
    return [
        at_least(f"binding over loop by hand, {mix}", "ratio", ratios, GOAL),
        printed(f"binding, {mix}", "ops/s", rates["binding"]),
        printed(f"loop by hand, {mix}", "ops/s", rates["hand"]),
    ]


def _setting(mix: Mix) -> YcsbSetting:
    timed = None if mix == "load" else float(WARM_UP_S + MEASURED_S)
    return YcsbSetting(mix=mix, records=RECORDS, threads=THREADS, duration_s=timed,
                       max_scan_length=MAX_SCAN)  # fmt: skip


def _load(hbase: StandaloneHBase, root: Path) -> None:
    table = table_of(_setting("load"))
    hbase.tool(f"create --table {table} --family {FAMILY} --regions {REGIONS}")
    _ycsb(hbase, root, "load")
    hbase.tool(f"flush-compact-settle --table {table}")


def _binding(hbase: StandaloneHBase, root: Path, mix: Mix) -> float:
    """Operations a second after the warm-up, from the interval logs."""
    _ycsb(hbase, root, mix)
    rows = [
        row
        for path in root.glob("ycsb-1-*.hdr")
        if "CLEANUP" not in path.name
        for row in parse_hdr(path.read_bytes(), path.name).rows
    ]
    begun_s = min(row.start_epoch_s for row in rows)
    late = [row for row in rows if row.start_epoch_s >= begun_s + WARM_UP_S]
    seconds = max(r.start_epoch_s + r.length_s for r in late) - min(r.start_epoch_s for r in late)
    return sum(row.operations for row in late) / seconds


def _ycsb(hbase: StandaloneHBase, root: Path, mix: Mix) -> None:
    for path in root.glob("ycsb-1*"):
        path.unlink()
    setting = _setting(mix)
    words = client_arguments(setting, f"{root}/ycsb-1-")
    argv = hbase.client_argv(YCSB, *words, jvm=JVM)
    with (root / "ycsb-1.out").open("wb") as out, (root / "ycsb-1.err").open("wb") as err:
        subprocess.run(argv, stdout=out, stderr=err, check=True)
    if faults := faults_of(root, "ycsb-1", setting):
        raise RuntimeError("; ".join(faults))


def _hand(hbase: StandaloneHBase, classes: str, mix: Mix) -> float:
    shares = MIXES[mix]
    words = [COMPARED[mix], table_of(_setting(mix)), FAMILY, THREADS, WARM_UP_S, MEASURED_S, RECORDS,
             shares["read"], shares["insert"], shares["scan"], MAX_SCAN]  # fmt: skip
    argv = hbase.client_argv(HAND, *map(str, words), jvm=JVM, front=classes)
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return float(done.stdout)
