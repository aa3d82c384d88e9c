"""Random reads by HBase's own PerformanceEvaluation (PE) and by the binding under YCSB.

They agree, or the step between them that is the reason is measured. One server; 8 threads on one
connection; as many rows of 1,000 bytes in one column, all in the block cache. PE has a table and keys of
its own. Each turn takes a quarter of a second, and all turns of a round are in one JVM, because whole runs
one after the other scatter by a third on this project's machines. A JVM's compilers differ from the next
one's: the interval is over JVMs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
import requests

from density_study.cluster.stack import classpath, ensure, find_java
from density_study.workloads.ycsb.distribution import KeyDistribution
from density_study.workloads.ycsb.faults import faults_of
from density_study.workloads.ycsb.properties import FAMILY, client_arguments, table_of
from density_study.workloads.ycsb.row import Row
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.peer.agreement import Agreement, Rounds, agreement
from tests.live.peer.evaluation_jar import evaluation_jars
from tests.live.support.java_client import YCSB
from tests.live.support.standalone import StandaloneHBase, standing

pytestmark = pytest.mark.timeout(1200)

JVMS, ROUNDS, SLICE_S, WARM_UP_S = 5, 36, 0.25, 20.0
"""Short turns: with six rounds of 1.2 s, the ends of the intervals were 7 to 16 % away."""
ROWS, VALUE_BYTES = 20_000, 1_000
THREADS = 8
REGIONS = 10
MOST_MISSED = 1e-4
JVM = ("-Xmx2g", "-XX:+UseSerialGC")
"""PE's histograms take half a GB with 8 threads."""
LOOPS = "org.densitystudy.ycsb.PeerLoops"
EVALUATION = "org.apache.hadoop.hbase.PerformanceEvaluation"
THEIR_TABLE = "TestTable"
JAVA = Path(__file__).parent / "java"
TURNS = Path(__file__).parents[2] / "bench/java/org/densitystudy/ycsb/Turns.java"
WAYS = (
    "PE randomRead: the blocking client",
    "PE asyncRandomRead: the asynchronous client",
    "a loop: nothing is measured",
    "the other table, its keys and all columns",
    "the binding",
    "YCSB around it, which measures",
)
"""Each differs from the one before in what its text names."""


def test_both_read_at_the_same_rate_or_the_reason_is_measured(tmp_path: Path) -> None:
    (tmp_path / "hbase").mkdir()
    with standing(tmp_path / "hbase") as hbase:
        # the jars of tests have a configuration of their own
        front = [str(hbase.conf), _compiled(tmp_path), *evaluation_jars()]
        _load(hbase, front, tmp_path)
        _rounds(hbase, front, tmp_path, rounds=1)  # warms up the server's compilers and caches
        with _all_cached(hbase):
            jvms = [_rounds(hbase, front, tmp_path) for _ in range(JVMS)]
    found = agreement(jvms)
    text = _table(found, jvms)
    print(f"\n{text}")
    assert found.holds, text


def _table(found: Agreement, jvms: list[Rounds]) -> str:
    steps = ["", *map(str, found.steps)]
    rates = [sorted(rates[way] for jvm in jvms for rates in jvm) for way in range(len(WAYS))]
    lines = [
        f"{rates[way][len(rates[way]) // 2]:9,.0f} reads/s  {steps[way]:24}  {name}"
        for way, name in enumerate(WAYS)
    ]
    reasons = ", ".join(WAYS[place + 1] for place in found.reasons) or "none needed"
    return "\n".join(
        (
            *lines,
            f"YCSB over randomRead: {found.whole}",
            f"its JVMs: {', '.join(f'{one:.3f}' for one in found.whole.of_jvms)}",
            f"reasons: {reasons}; without them: {found.remainder}",
        )
    )


def _compiled(folder: Path) -> str:
    path = ":".join((*evaluation_jars(), *classpath(ensure("ycsb"))))
    sources = [str(TURNS), *map(str, sorted(JAVA.rglob("*.java")))]
    javac, classes = find_java().command.with_name("javac"), folder / "classes"
    subprocess.run(
        [str(javac), "-nowarn", "-proc:none", "-cp", path, "-d", str(classes), *sources], check=True
    )
    return str(classes)


def _test_case(mix: str) -> YcsbTestCase:
    timed = None if mix == "load" else 24.0
    return YcsbTestCase(
        mix=mix,
        records=ROWS,
        row=Row(fields=1, field_length=f"{VALUE_BYTES} B"),
        threads=THREADS,
        duration_s=timed,
        request_distribution=KeyDistribution("uniform"),
    )


def _load(hbase: StandaloneHBase, front: list[str], root: Path) -> None:
    """As many rows in as many regions of both tables, in one file each."""
    case = _test_case("load")
    table = table_of(case)
    hbase.tool(f"create --table {table} --family {FAMILY} --regions {REGIONS}")
    argv = hbase.client_argv(YCSB, *client_arguments(case, f"{root}/ycsb-1-"))
    with (root / "ycsb-1.out").open("wb") as out, (root / "ycsb-1.err").open("wb") as err:
        subprocess.run(argv, stdout=out, stderr=err, check=True)
    assert faults_of(root, "ycsb-1", case) == ()
    options = f"--nomapred --oneCon=true --rows={ROWS // THREADS} --valueSize={VALUE_BYTES}"
    write = f"{options} --presplit={REGIONS} sequentialWrite {THREADS}"
    _output(hbase.client_argv(EVALUATION, *write.split(), front=":".join(front)))
    for name in (table, THEIR_TABLE):
        settled = hbase.tool(f"flush-compact-settle --table {name} + count --table {name}")
        assert settled["count"]["rows"] == ROWS
        assert settled["flush-compact-settle"]["store_files"] == REGIONS


def _rounds(hbase: StandaloneHBase, front: list[str], root: Path, rounds: int = ROUNDS) -> Rounds:
    """Rates of a JVM of its own, in reads per second."""
    words = client_arguments(_test_case("c"), f"{root}/ycsb-2-")
    db = words[words.index("-db") + 1]
    properties = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
    knobs = map(str, (THREADS, WARM_UP_S, rounds, SLICE_S))
    argv = hbase.client_argv(LOOPS, *knobs, db, *properties, jvm=JVM, front=":".join(front))
    return [list(map(float, line.split())) for line in _output(argv).splitlines() if line]


def _output(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "hbase-client: " not in done.stderr, done.stderr[-3000:]
    return done.stdout


@contextmanager
def _all_cached(hbase: StandaloneHBase) -> Iterator[None]:
    """All blocks are found in the block cache meanwhile, but for a few of HBase's own tables."""
    before = _hits_and_misses(hbase)
    yield
    hits, misses = (a - b for a, b in zip(_hits_and_misses(hbase), before, strict=True))
    assert hits > JVMS * ROUNDS * THREADS and misses < MOST_MISSED * hits, (hits, misses)


def _hits_and_misses(hbase: StandaloneHBase) -> tuple[int, int]:
    site = ElementTree.parse(hbase.conf / "hbase-site.xml")
    ports = {p.findtext("name"): p.findtext("value") for p in site.iter("property")}
    address = f"http://127.0.0.1:{ports['hbase.regionserver.info.port']}/jmx"
    query = {"qry": "Hadoop:service=HBase,name=RegionServer,sub=Server"}
    (bean,) = requests.get(address, query, timeout=30).json()["beans"]
    return bean["blockCacheHitCount"], bean["blockCacheMissCount"]
