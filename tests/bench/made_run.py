"""A run of any size in the tools' own formats, for measuring: nothing in it was ever executed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from density_study.cluster.model.cluster import Phase
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.workloads.base.values import ClientRun, ClockOffset, MonitorRun, Window
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.records import texts

BEGIN_S = 1_795_200_000
WARM_UP_S = 60


@dataclass(frozen=True)
class Size:
    """dool samples: trials x hosts x seconds. interval_s: of the .hdr logs; None: warm-up, and rest.
    rate: operations per second, half of them reads."""

    trials: int
    hosts: int = 5
    seconds: int = 600
    interval_s: int | None = None
    rate: int = 400

    @property
    def samples(self) -> int:
        return self.trials * self.hosts * self.seconds


def make_run(root: Path, size: Size) -> Path:
    """Records of `size`, trials alternating between two topologies. Returns the root."""
    maker = _Maker(size)
    for order in range(size.trials):
        maker.trial(root / "records", order)
    (root / "study.yaml").write_text("study: made\n")
    Journal(root / "journal.jsonl").write(
        "run-opened", study="made", run=root.name, tag="m", owner=Owner.of_dag_run("made").to_json()
    )
    return root


class _Maker:
    def __init__(self, size: Size) -> None:
        self._size = size
        self._dice = np.random.default_rng(20130226)
        self._topologies = [_topology(size.hosts, density) for density in (1, 2)]
        # the same histograms in every trial: encoding one takes longer than writing a record
        self._intervals = {name: self._hdr(name) for name in ("READ", "INSERT")}

    def trial(self, records: Path, order: int) -> None:
        topology = self._topologies[order % 2]
        build = f"b{order // 10 + 1}-{topology.name}"
        start_s = BEGIN_S + order * (self._size.seconds + 60)
        trial = f"{build}-{order:05d}-mixed"
        record = records / trial
        for host in topology.hosts:
            self._monitors(record, topology, host.name, start_s)
        (record / "raw").mkdir()
        for name, text in self._intervals.items():
            begun = f"{start_s + 0.4:.3f}"
            (record / "raw" / f"ycsb-1-{name}.hdr").write_text(text.replace("1000.000", begun))
        seconds = float(self._size.seconds)
        half = self._half_operations()
        summary = texts.ycsb_summary(seconds, {"READ": {"OK": half}, "INSERT": {"OK": half}})
        (record / "raw" / "ycsb-1.out").write_text(summary)
        (record / "raw" / "ycsb-1.err").write_text(
            texts.ycsb_status([self._size.rate] * (self._size.seconds // 10))
        )
        manifest = _manifest(trial, build, order, topology, start_s, self._size.seconds)
        (record / "manifest.json").write_text(manifest.model_dump_json())

    def _monitors(self, record: Path, topology: Topology, host: str, start_s: int) -> None:
        (record / "monitor").mkdir(parents=True, exist_ok=True)
        seconds = self._size.seconds + 5
        epoch_s = (
            start_s - 2 + np.arange(seconds) + np.round(self._dice.uniform(0, 0.3, seconds), 3)
        )
        (record / f"monitor/{host}.dool.csv").write_bytes(self._dool(epoch_s))
        nodes = [node.name for node in topology.nodes if node.host == host]
        (record / f"monitor/{host}.nodecpu.csv").write_bytes(self._nodecpu(host, nodes, epoch_s))

    def _dool(self, epoch_s: np.ndarray) -> bytes:
        head, _, _ = texts.dool([(float(epoch_s[0]), (0.0,) * 7)]).rpartition(
            "\n" + f"{epoch_s[0]:.3f}"
        )
        shares = np.round(self._dice.uniform(1, 20, (4, len(epoch_s))), 3)
        idle = np.round(100 - shares.sum(axis=0), 3)
        bytes_s = self._dice.integers(0, 2**30, (2, len(epoch_s)))
        counts = self._dice.integers(0, 10_000, (8, len(epoch_s)))
        clock = [time.strftime("%b-%d %H:%M:%S", time.gmtime(at)) for at in epoch_s]
        cells = [np.round(epoch_s, 3), clock, shares[0], shares[1], idle, shares[2], shares[3],
                 *bytes_s, *counts]  # fmt: skip
        return head.encode() + b"\n" + _csv(cells)

    def _nodecpu(self, host: str, nodes: list[str], epoch_s: np.ndarray) -> bytes:
        names = [*nodes, "monitor"]
        shape = (len(epoch_s), len(names))
        user = self._dice.integers(0, 200, shape).cumsum(axis=0)
        system = self._dice.integers(0, 50, shape).cumsum(axis=0)
        cells = [np.repeat(np.round(epoch_s, 3), len(names)), names * len(epoch_s),
                 user.ravel(), system.ravel(), np.full(user.size, 3)]  # fmt: skip
        title = f"# nodecpu format 1, host={host}, ticks_per_s=100, cores=16\n"
        return (title + "epoch_s,node,user_ticks,system_ticks,processes\n").encode() + _csv(cells)

    def _hdr(self, name: str) -> str:
        """StartTime 1000.000 is replaced by each trial's own."""
        step_s = self._size.interval_s
        measured_s = self._size.seconds - WARM_UP_S
        lengths = (
            [WARM_UP_S, measured_s] if step_s is None else [step_s] * (self._size.seconds // step_s)
        )
        intervals = [
            (float(length), self._latencies(length * self._size.rate // 2)) for length in lengths
        ]
        return texts.hdr(name, 1000.0, intervals)

    def _latencies(self, count: int) -> list[int]:
        """Distributed like the quickstart's reads: half of them between 0.3 and 0.6 ms, 1 % above
        2.6 ms. A second of 5,000 has a thousand different values, and a payload of 1 KB."""
        drawn: list[int] = np.maximum(1, self._dice.lognormal(6.0, 0.6, count)).astype(int).tolist()
        return drawn

    def _half_operations(self) -> int:
        return self._size.seconds * self._size.rate // 2


def _csv(cells: list[object]) -> bytes:
    table = pa.table({f"c{n}": pa.array(values) for n, values in enumerate(cells)})
    sink = BytesIO()
    pacsv.write_csv(table, sink, pacsv.WriteOptions(include_header=False, quoting_style="none"))
    return sink.getvalue()


def _topology(hosts: int, density: int) -> Topology:
    disk = Disk("/data", "flash")
    machines = tuple(
        Host(f"h{n}", f"192.0.2.{n}", 16, 65536, (disk,), usd_per_hour=0.5)
        for n in range(1, hosts + 1)
    )
    workers = [
        Node(
            f"w{h.name[1:]}-{n}",
            h.name,
            h.address,
            ("worker",),
            65536 // density,
            16 // density,
            disk,
        )
        for h in machines
        for n in range(density)
    ]
    first = machines[0]
    nodes = (
        Node("m1", first.name, first.address, ("master",), 4096, 4),
        *workers,
        Node("c1", machines[-1].name, machines[-1].address, ("client",), 4096, 4),
    )
    return Topology(
        f"v{density}-flash",
        provider_named("physical"),
        machines,
        nodes,
        Isolation.HOST,
        Variant(density, 1, "flash"),
        2,
    )


def _manifest(
    trial: str, build: str, order: int, topology: Topology, start_s: int, seconds: int
) -> Manifest:
    end_s = start_s + seconds + 1.0
    test_case = YcsbTestCase(mix="read45-insert55", records=1_000_000, threads=8,
                          duration_s=float(seconds), warm_up_s=float(WARM_UP_S))  # fmt: skip
    monitors = tuple(
        MonitorRun(kind=kind, host=host.name, file=f"monitor/{host.name}.{kind}.csv", period_s=1.0,
                   started_epoch_s=start_s - 2.0, stopped_epoch_s=end_s + 2)
        for host in topology.hosts for kind in ("dool", "nodecpu")
    )  # fmt: skip
    client = ClientRun(
        name="ycsb-1", node="c1", argv=("java", "-t", "-p", "operationcount=2000000000"), exit_code=0,
        stdout="raw/ycsb-1.out", stderr="raw/ycsb-1.err", start_epoch_s=start_s, end_epoch_s=end_s,
    )  # fmt: skip
    return Manifest(
        study="made", run="made", trial=trial, repetition=int(build[1 : build.index("-")]), build=build,
        order=order, seed=1, state="complete", test_case_id=test_case.id, test_case=test_case,
        topology=topology, isolation=topology.isolation,
        window=Window(start_epoch_s=start_s, end_epoch_s=end_s), clients=(client,), monitors=monitors,
        clock=tuple(ClockOffset(host=h.name, before_s=0.01, after_s=0.02, method="ping")
                    for h in topology.hosts),
        times_s={"prepare": 3.0, "measure": end_s - start_s, "settle": 1.0},
        bring_up=(Phase(name="hdfs", seconds=9.0),),
    )  # fmt: skip
