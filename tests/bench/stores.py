"""Bindings of the stores against a loop by hand on the same client: `StoreLoops`, in turns of seconds
within one JVM.

As for HBase (`binding`): both run at full speed, YCSB measures every operation, the loop measures nothing.
Beside them runs YCSB around a binding that does nothing: its time per operation is YCSB's own, which no
binding can win back. It matters where the store answers within microseconds, as RocksDB does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.store import LEVELS, store_named, stores
from density_study.cluster.model.transport import Command, Transport
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.stack import classpath, ensure
from density_study.cluster.stack.store_software import CLIENTS
from density_study.workloads.ycsb.mixes import Mix
from density_study.workloads.ycsb.properties import client_arguments, table_of
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.stores.store_tool import store_command
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.bench.binding import ROUNDS, SLICE_S, THREADS, WARM_UP_S
from tests.bench.measurement import Measurement, at_least, printed
from tests.live.support.builds import open_build, topology
from tests.live.support.java_client import YCSB, compiled

GOAL = 0.95
HEAP_MIB = 512
STORES: tuple[str, ...] = ("redis", "rocksdb", "accumulo", "cassandra", "kudu")
MIXES: tuple[Mix, ...] = ("c", "a")
RECORDS = 20_000
SHAPE = {"fieldcount": "10", "tablets": "4", "recordcount": str(RECORDS), "insertorder": "hashed"}
LOOPS = "org.densitystudy.stores.StoreLoops"
SOURCES = Path(__file__).parent / "java/org/densitystudy"
TIMEOUT_S = 600.0


def bench(repeats: int) -> list[Measurement]:
    """`repeats` JVMs of each mix on each store; each of their rounds is a run."""
    lines: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="density-bench-") as name:
        path = _compiled(Path(name))
        for store in STORES:
            folder = Path(name) / store
            folder.mkdir()
            with _standing(store, folder) as standing:
                for mix in MIXES:
                    lines += _compare(standing, path, mix, repeats)
    return lines


def _compiled(folder: Path) -> list[str]:
    loops = [path.relative_to(SOURCES) for path in sorted((SOURCES / "stores").rglob("*.java"))]
    names = ["ycsb/Turns", *(str(path.with_suffix("")) for path in loops)]
    return compiled(folder, *names, within=SOURCES, stack=CLIENTS)


class _Standing:
    """A store that is up, and runs programs on its client node."""

    def __init__(self, cluster: Cluster, transport: Transport, folder: Path) -> None:
        self.cluster, self._transport, self._folder = cluster, transport, folder

    def output_of(self, command: Command) -> str:
        """What the program prints; RuntimeError with its last lines if it fails, or an operation of it."""
        out, err = self._folder / f"{command.name}.out", self._folder / f"{command.name}.err"
        process = self._transport.start(self.cluster.topology.client, command, out, err)
        code, said = self._transport.wait(process, TIMEOUT_S), err.read_text()
        if code != 0 or "store-client: " in said:
            raise RuntimeError(f"{command.name} ended with {code}: {said[-2000:]}")
        return out.read_text()

    def arguments(self, mix: Mix) -> tuple[str, ...]:
        binding, test_case = binding_of(self.cluster), _test_case(mix)
        logs = f"{self._folder}/ycsb-1-"
        of_store = binding.properties
        return client_arguments(test_case, logs, db=binding.db, of_store=of_store)


@contextmanager
def _standing(store: str, folder: Path) -> Iterator[_Standing]:
    """A store with RECORDS rows on one worker, at the lowest durability that survives its servers."""
    level = next(one for one in LEVELS[1:] if one in stores()[store].acknowledged)
    placed = topology(folder, workers=1, store=store_named(store, level))
    site, journal = open_build(folder, os.getpid())
    try:
        cluster = bring_up(
            site, placed, ensure_stacks(placed.variant.versions, placed.store), journal
        )
        standing = _Standing(cluster, provider_named("local").transport(site, journal), folder)
        table = table_of(_test_case("load"))
        standing.output_of(store_command(cluster, "empty", table, "empty", shape=SHAPE))
        load = standing.arguments("load")
        standing.output_of(
            java_command(cluster, "load", classpath(ensure(CLIENTS)), YCSB, load, serial(HEAP_MIB))
        )
        standing.output_of(store_command(cluster, "settle", table, "settle", shape=SHAPE))
        yield standing
    finally:
        tear_down(site, journal)


def _compare(standing: _Standing, path: Sequence[str], mix: Mix, repeats: int) -> list[Measurement]:
    rounds = [entry for _ in range(repeats) for entry in _rounds(standing, path, mix)]
    binding, by_hand, around_nothing = (list(rates) for rates in zip(*rounds, strict=True))
    store = standing.cluster.topology.store.name
    ratios = [ours / hand for ours, hand in zip(binding, by_hand, strict=True)]
    # An operation's time in the binding is what YCSB does not take around it.
    own = [
        (1 / hand) / (1 / ours - 1 / nothing)
        for ours, hand, nothing in zip(binding, by_hand, around_nothing, strict=True)
    ]
    name = f"{store}, {mix}"
    return [
        at_least(f"binding over loop by hand, {name}", "ratio", ratios, GOAL),
        at_least(f"the same without YCSB's own time, {name}", "ratio", own, GOAL),
        printed(f"binding, {name}", "ops/s", binding),
        printed(f"loop by hand, {name}", "ops/s", by_hand),
        printed(f"YCSB around nothing, {name}", "ops/s", around_nothing),
    ]


def _rounds(standing: _Standing, path: Sequence[str], mix: Mix) -> list[tuple[float, float, float]]:
    """Operations per second of each round: the binding, the loop, YCSB alone."""
    words = standing.arguments(mix)
    db = words[words.index("-db") + 1]
    properties = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
    cluster = standing.cluster
    knobs = (str(THREADS), str(WARM_UP_S), str(ROUNDS), str(SLICE_S))
    words = (*knobs, db, cluster.topology.store.name, *properties)
    loops = java_command(cluster, f"loops-{mix}", path, LOOPS, words, serial(HEAP_MIB))
    lines = standing.output_of(loops).splitlines()
    found = [tuple(map(float, line.split())) for line in lines if line]
    return [(one, two, three) for one, two, three in found]


def _test_case(mix: Mix) -> YcsbTestCase:
    timed = None if mix == "load" else 24.0
    return YcsbTestCase(mix=mix, records=RECORDS, threads=THREADS, duration_s=timed)
