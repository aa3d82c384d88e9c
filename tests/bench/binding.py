"""The binding against the best hand-written loop: `PairedLoops`, in turns of seconds within one
JVM.

Both run at full speed. YCSB measures every operation's latency, the time between two as well, and
the hand-written loop measures nothing: the ratio includes the cost of measuring. Whole runs one
after the other scattered by a third on this project's machines, neighbouring seconds do not.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from density_study.workloads.ycsb.faults import faults_of
from density_study.workloads.ycsb.mixes import Mix
from density_study.workloads.ycsb.properties import FAMILY, client_arguments, table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.bench.measurement import Measurement, at_least, printed
from tests.live.support.java_client import YCSB, compiled
from tests.live.support.standalone import StandaloneHBase, standing

SOURCES = Path(__file__).parent / "java/org/densitystudy/ycsb"
GOAL = 0.97
ROUNDS, SLICE_S, WARM_UP_S = 21, 1.0, 40.0
"""Rounds of each repeat; a slice is one variant's turn. The JIT has compiled all three variants by
then."""
RECORDS = 20_000
THREADS = 8
MAX_SCAN = 50
REGIONS = 10
JVM = ("-Xmx512m", "-XX:+UseSerialGC")
PAIRED = "org.densitystudy.ycsb.PairedLoops"
HANDS = ("blocking", "async")
MIXES: tuple[Mix, ...] = ("c", "scan95-insert5")


def bench(repeats: int) -> list[Measurement]:
    """`repeats` JVMs of each mix; each of their rounds is a run."""
    lines: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        root = Path(folder)
        classes = compiled(root, "Turns", "HandLoop", "PairedLoops", within=SOURCES)[0]
        (root / "hbase").mkdir()
        with standing(root / "hbase") as hbase:
            _load(hbase, root)
            for mix in MIXES:
                lines += _compare(hbase, classes, mix, repeats)
    return lines


def _compare(hbase: StandaloneHBase, classes: str, mix: Mix, repeats: int) -> list[Measurement]:
    """Against the faster hand-written client, in the median of all rounds."""
    rounds = [entry for _ in range(repeats) for entry in _rounds(hbase, classes, mix)]
    binding, *hands = (list(rates) for rates in zip(*rounds, strict=True))
    best = max(zip(HANDS, hands, strict=True), key=lambda hand: statistics.median(hand[1]))
    ratios = [ours / other for ours, other in zip(binding, best[1], strict=True)]
    return [
        at_least(f"binding over loop by hand ({best[0]}), {mix}", "ratio", ratios, GOAL),
        printed(f"binding, {mix}", "ops/s", binding),
        *(printed(f"loop by hand, {name}, {mix}", "ops/s", rates)
          for name, rates in zip(HANDS, hands, strict=True)),
    ]  # fmt: skip


def _rounds(hbase: StandaloneHBase, classes: str, mix: Mix) -> list[tuple[float, ...]]:
    """Operations per second of each round: the binding, then each of `HANDS`."""
    with tempfile.TemporaryDirectory(prefix="density-bench-") as logs:
        words = client_arguments(_test_case(mix), f"{logs}/ycsb-1-")
        db = words[words.index("-db") + 1]
        properties = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
        knobs = map(str, (THREADS, WARM_UP_S, ROUNDS, SLICE_S))
        argv = hbase.client_argv(PAIRED, *knobs, db, *properties, jvm=JVM, front=classes)
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode or "hbase-client: " in done.stderr:
        raise RuntimeError(f"PairedLoops, {mix}: {done.stderr[-2000:]}")
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines() if line]


def _test_case(mix: Mix) -> YcsbTestCase:
    # as long as a study's trials: YCSB draws keys from a range that grows with the time, until one
    # exists
    timed = None if mix == "load" else 24.0
    return YcsbTestCase(mix=mix, records=RECORDS, threads=THREADS, duration_s=timed,
                       max_scan_length=MAX_SCAN)  # fmt: skip


def _load(hbase: StandaloneHBase, root: Path) -> None:
    table = table_of(_test_case("load"))
    hbase.tool(f"create --table {table} --family {FAMILY} --regions {REGIONS}")
    _ycsb(hbase, root, "load")
    hbase.tool(f"flush-compact-settle --table {table}")


def _ycsb(hbase: StandaloneHBase, root: Path, mix: Mix) -> None:
    for path in root.glob("ycsb-1*"):
        path.unlink()
    test_case = _test_case(mix)
    words = client_arguments(test_case, f"{root}/ycsb-1-")
    argv = hbase.client_argv(YCSB, *words, jvm=JVM)
    with (root / "ycsb-1.out").open("wb") as out, (root / "ycsb-1.err").open("wb") as err:
        subprocess.run(argv, stdout=out, stderr=err, check=True)
    if faults := faults_of(root, "ycsb-1", test_case):
        raise RuntimeError("; ".join(faults))
