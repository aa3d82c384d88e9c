"""Does twice the client processes at the same rate show that the client is the bottleneck, and only then?"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from density_study.workloads.ycsb.facts.latency import intended_ms
from density_study.workloads.ycsb.properties import client_arguments, client_name
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.bench.client_logs import log_rows
from tests.bench.clients import DOUBLED
from tests.known_answers.answer import Answer, KnownAnswer
from tests.live.support.java_client import YCSB, compiled, instead, java_argv

PAIRS = 3
# 80 % of what one connection with a request at a time can do, and 40 % of two.
SERVICE_US, RATE_OPS_S = 5000, 160.0
TEST_CASE = YcsbTestCase(mix="c", records=1000, threads=32, duration_s=15, warm_up_s=3,
                      target_ops_s=RATE_OPS_S)  # fmt: skip


def doubling() -> list[Answer]:
    with tempfile.TemporaryDirectory(prefix="density-doubling-") as name:
        folder = Path(name)
        path = compiled(folder, "AnsweringDb", "NarrowDb")
        wide, narrow = (_ratio(folder, path, narrow) for narrow in (False, True))
    what = f"p95 with one client over p95 with two, each at {RATE_OPS_S:g} ops/s together: "
    return [
        Answer(f"{what}the client is no bottleneck", f"at most {DOUBLED:g}", f"{wide:.2f}",
               wide <= DOUBLED),
        Answer(f"{what}the client's one connection is", f"more than {DOUBLED:g}", f"{narrow:.2f}",
               narrow > DOUBLED),
    ]  # fmt: skip


def _ratio(folder: Path, path: list[str], narrow: bool) -> float:
    pairs = [
        [
            _p95_ms(folder / f"{narrow}-{pair}-{clients}", path, narrow, clients)
            for clients in (1, 2)
        ]
        for pair in range(PAIRS)
    ]
    return statistics.median(one / two for one, two in pairs)


def _p95_ms(folder: Path, path: list[str], narrow: bool, clients: int) -> float:
    folder.mkdir()
    test_case = TEST_CASE.model_copy(update={"clients": clients})
    own = ("-p", f"narrow.us={SERVICE_US}", "-p", f"narrow={str(narrow).lower()}")
    started, names = [], [client_name(number) for number in range(1, clients + 1)]
    for number, name in enumerate(names, 1):
        words = client_arguments(test_case, f"{folder}/{name}-", number)
        words = (*instead(words, "-db", "org.densitystudy.ycsb.NarrowDb"), *own)
        argv = java_argv(path, YCSB, *words)
        started.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    if codes := [code for one in started if (code := one.wait(timeout=120))]:
        raise RuntimeError(f"a client exited with {codes[0]}")
    first_s = {name: _first_s(folder, name) for name in names}
    begun_s = {name: at_s + test_case.warm_up_s for name, at_s in first_s.items()}
    found_ms = intended_ms(log_rows(folder, begun_s), "READ", 95)
    if found_ms is None:
        raise RuntimeError("too few operations for a p95")
    return found_ms


def _first_s(folder: Path, client: str) -> float:
    return float(
        log_rows(folder, {client: 0.0}).arrays("ycsb_histograms", "begun_s")["begun_s"].min()
    )


KNOWN = (
    KnownAnswer(
        "client-doubling", "Does doubling the clients find a client that is the bottleneck, and no other?",
        doubling, quick=False,
    ),
)  # fmt: skip
