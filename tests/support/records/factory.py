"""Run directories in the real formats, from numbers a test knows: no cluster needed.

    factory = RunFactory(tmp_path / "runs" / "quickstart" / RUN)
    truth = factory.ycsb("b1-v1-flash", mix="scan95-insert5")
    factory.close()

Every trial is plausible by default; a test changes the values under test, and compares the tables
with `Truth`, computed by plain loops.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from density_study.cluster.model.cluster import Phase
from density_study.cluster.model.topology import Topology
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import (
    ClientRun,
    ClockOffset,
    ColdProof,
    MonitorRun,
    Window,
)
from density_study.workloads.pipeline.machine.files import COHORT, LOAD, STAGES, sample
from density_study.workloads.pipeline.test_case import PipelineTestCase
from density_study.workloads.planning.plan import Plan, Step, write_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.properties import threads_share
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import plan
from tests.support.topologies import with_variant
from tests.support.truth import MIB, PERIOD_S, StageTruth, Truth
from tests.support.truth_files import monitor_files, raw_files

RUN = "20261120T201530Z"
BEGIN_S = 1_795_200_000.0
BETWEEN_S = 120.0
OPERATIONS = {"load": {"INSERT": 1.0}, "read45-insert55": {"READ": 0.45, "INSERT": 0.55},
              "scan95-insert5": {"SCAN": 0.95, "INSERT": 0.05}}  # fmt: skip


class RunFactory:
    """Generates the records of one run. Trials are in the order of their addition."""

    def __init__(self, root: Path, **overrides: object) -> None:
        self.root = root
        self.plan = plan(**overrides)
        self.truths: list[Truth] = []
        self._builds: dict[str, str] = {}

    def topology(self, build: str) -> Topology:
        (one,) = (one for one in self.plan.built if one.name == self.plan.builds[build])
        return one

    def dfsio(self, build: str, mode: str = "read", window_s: float = 20.3, **knobs: Any) -> Truth:
        """A TestDFSIO trial: 6 maps, of which 4 run at once."""
        test_case = DfsioTestCase(
            **{"mode": mode, "files": 6, "file_size_mib": 64, "read_size_bytes": MIB, **knobs}
        )
        truth = self._truth(build, test_case, window_s)
        rng = random.Random(truth.trial)
        size = test_case.file_size_mib * MIB
        start_s = truth.start_s
        truth.job = (start_s + 2.0, start_s + 19.0)
        truth.maps = [
            (start_s + 6.0 + (i // 4) * 5.0, start_s + 10.0 + (i // 4) * 5.0 + i / 10)
            for i in range(test_case.files)
        ]
        truth.streams = [(size, rng.randint(1500, 2500)) for _ in range(test_case.files)]
        requested = test_case.files * size
        truth.cold = ColdProof(
            method="evict", evicted_bytes=requested,
            distinct_bytes_asked=requested if mode != "write" else None,
            physical_read_bytes=round(requested * 1.02), physical_write_bytes=requested,
        )  # fmt: skip
        return truth

    def ycsb(
        self,
        build: str,
        mix: str = "read45-insert55",
        seconds: int = 18,
        rate: int = 700,
        **knobs: Any,
    ) -> Truth:
        """A YCSB trial of `seconds` intervals of about `rate` operations, from 2.25 s after its start."""
        timed: dict[str, Any] = {} if mix == "load" else {"duration_s": 18.0, "warm_up_s": 5.0}
        fixed: dict[str, Any] = {"mix": mix, "records": seconds * rate, "threads": 8}
        test_case = YcsbTestCase(**{**fixed, **timed, **knobs})
        truth = self._truth(build, test_case, seconds + 4.3)
        rng = random.Random(truth.trial)
        truth.operations_start_s = truth.start_s + 2.25
        for operation, share in OPERATIONS[mix].items():
            per_second = round(rate * share)
            truth.latencies_us[operation] = [
                [round(rng.lognormvariate(6.5, 0.8)) for _ in range(per_second)]
                for _ in range(seconds)
            ]
            truth.returns[operation] = {"OK": per_second * seconds}
        return truth

    def pipeline(
        self, build: str, bases: int = 1_000_000, core_us: float = 0.8, **knobs: Any
    ) -> Truth:
        """A pipeline trial on w1, w2, ...: `core_us` per base of the reads in each stage of a genome."""
        fixed = {"bases": bases, "coverage": 10, "genomes": 4, "concurrent": 1, "threads": 1, "seed": 1,
                 "min_recall_percent": 80.0, "min_precision_percent": 95.0}  # fmt: skip
        test_case = PipelineTestCase(**{**fixed, **knobs})
        truth = self._truth(build, test_case, 60.5)
        rng = random.Random(truth.trial)
        for node, numbers in test_case.numbers(self.topology(build)):
            at_s = truth.start_s + 0.5
            names = [*(sample(number) for number in numbers), COHORT]
            of_cohort = (*STAGES[-1:], *([LOAD] if test_case.variant_load else []))
            for name in names:
                for stage in STAGES[:-1] if name != COHORT else of_cohort:
                    core_s = core_us * test_case.read_bases / 1e6 * rng.uniform(0.9, 1.1)
                    truth.stages.append(
                        StageTruth(node.name, name, stage, at_s, at_s + 2.0, round(core_s, 6),
                                   20_000 + bases // 100, 3 * MIB, MIB)
                    )  # fmt: skip
                    at_s += 2.0
        return truth

    def _truth(self, build: str, test_case: TestCase, window_s: float) -> Truth:
        number = len(self.truths)
        start_s = BEGIN_S + number * BETWEEN_S + 30.35
        trial = f"{build}-{number:03d}-{test_case.id}"
        truth = Truth(trial, test_case, start_s, start_s + window_s)
        self._builds[trial] = build
        rng = random.Random(trial)
        nodes = [node.name for node in self.topology(build).nodes]
        truth.dool = list(_dool(rng, start_s - 4.0, truth.end_s + 2.0))
        truth.ticks = list(_ticks(rng, nodes, start_s - 3.6, truth.end_s + 2.0))
        self.truths.append(truth)
        return truth

    def close(self) -> Path:
        """Writes every record, the plan and the journal. Returns the run's root."""
        self.root.mkdir(parents=True)
        write_plan(self._plan_as_made(), self.root / "plan.json")
        (self.root / "study.yaml").write_text("study: quickstart\nquestion: Is it so?\n")
        for order, truth in enumerate(self.truths):
            self.write(truth, order)
        journal = Journal(self.root / "journal.jsonl")
        journal.write(
            "run-opened",
            study="quickstart",
            run=RUN,
            tag="m",
            owner=Owner.of_dag_run("made").to_json(),
        )
        journal.write("run-ended", outcome="ok", message="")
        return self.root

    def _plan_as_made(self) -> Plan:
        """A plan with these trials."""
        steps = tuple(
            Step(index=order, kind="trial", repetition=1, build=self._builds[truth.trial], label=truth.trial,
                 trial=truth.trial, order=order, test_case=truth.test_case, estimate_s=1.0,
                 probe=truth.probe.number if truth.probe else None)
            for order, truth in enumerate(self.truths)
        )  # fmt: skip
        return self.plan.model_copy(update={"steps": steps})

    def write(self, truth: Truth, order: int) -> None:
        """One record, its manifest last."""
        record = self.root / "records" / truth.trial
        samples = monitor_files(truth) if truth.monitored else {}
        for name, text in {**samples, **raw_files(truth)}.items():
            path = record / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        manifest = self.manifest(truth, order)
        (record / "manifest.json").write_text(manifest.model_dump_json(indent=2))

    def manifest(self, truth: Truth, order: int) -> Manifest:
        build = self._builds[truth.trial]
        topology = self.topology(build)
        if truth.network:
            topology = with_variant(topology, levels={"network": "rate-100mbit"})
        begun = truth.state == "incomplete"  # a crash: only the planned values are known
        window = Window(start_epoch_s=truth.start_s, end_epoch_s=truth.end_s)
        offset_s = truth.measured_clock_s or 0.0
        clocks = tuple(
            ClockOffset(host=host, before_s=offset_s, after_s=offset_s, method="test")
            for host in dict.fromkeys(("here", *(host for host, _ in truth.devices)))
        )
        return Manifest(
            study="quickstart", run=RUN, trial=truth.trial, repetition=int(build[1]), build=build,
            order=order, seed=20130226, state=truth.state, reasons=truth.reasons,
            test_case_id=truth.test_case.id, test_case=truth.test_case,
            overhead_pair=truth.overhead_pair, monitored=truth.monitored, probe=truth.probe,
            topology=topology, isolation=topology.isolation,
            window=None if begun else window,
            clients=() if begun else _clients(truth),
            monitors=() if begun or not truth.monitored else tuple(_monitors(truth)),
            clock=clocks if truth.monitored and truth.measured_clock_s is not None else (),
            cold=truth.cold, caches=truth.caches, fault=truth.fault, state_after=_noted(truth),
            data_set_mib=384.0, total_ram_mib=24000.0,
            times_s={"prepare": 3.0, "measure": truth.window_s, "settle": 1.0},
            bring_up=(Phase(name="hdfs", seconds=9.0), Phase(name="hbase", seconds=11.5)),
            disclosure={"versions": {"hadoop": "3.4.2"},
                        "files": {"workers": {"text": str(topology.variant.vms_per_host)}},
                        **({"network": {"measured": truth.network}} if truth.network else {})},
        )  # fmt: skip


def _dool(rng: random.Random, since_s: float, until_s: float) -> Any:
    at_s = since_s
    while at_s < until_s:
        at_s += PERIOD_S
        iowait, steal = (round(rng.uniform(1, 20), 3) for _ in range(2))
        user, system = (round(rng.uniform(1, 12), 3) for _ in range(2))  # like the nodes', about
        idle = round(100 - iowait - steal - user - system, 3)
        read, written = float(rng.randint(0, 60 * MIB)), float(rng.randint(0, 60 * MIB))
        yield round(at_s, 3), (user, system, idle, iowait, steal, read, written)


def _ticks(rng: random.Random, nodes: Sequence[str], since_s: float, until_s: float) -> Any:
    """Daemons ran before; the client and its ticks start within the window."""
    spent = {node: (rng.randint(500, 5000), rng.randint(100, 900)) for node in (*nodes, "monitor")}
    spent["c1"] = (0, 0)
    first = True
    at_s = since_s
    while at_s < until_s:
        at_s += PERIOD_S
        for node, (user, system) in spent.items():
            spent[node] = (user + rng.randint(0, 7), system + rng.randint(0, 3))
        visible = {node: ticks for node, ticks in spent.items() if node != "c1" or not first}
        first = False
        yield round(at_s, 3), visible


def _clients(truth: Truth) -> tuple[ClientRun, ...]:
    if isinstance(truth.test_case, DfsioTestCase):
        return (_client(truth, "testdfsio", ("java", "x")),)
    if isinstance(truth.test_case, PipelineTestCase):
        nodes = dict.fromkeys(stage.node for stage in truth.stages)
        clients = (_client(truth, f"pipeline-{node}", ("python", "x")) for node in nodes)
        return tuple(
            one.model_copy(update={"node": one.name.removeprefix("pipeline-")}) for one in clients
        )
    load = truth.test_case.mix == "load"
    argv = ("java", "-load" if load else "-t", "-p", f"recordcount={truth.test_case.records}",
            "-p", "operationcount=2000000000", "-threads")  # fmt: skip
    clients = []
    for number in range(1, truth.test_case.clients + 1):
        threads = str(threads_share(truth.test_case, number))
        clients.append(_client(truth, f"ycsb-{number}", (*argv, threads)))
    return tuple(clients)


def _client(truth: Truth, name: str, argv: tuple[str, ...]) -> ClientRun:
    return ClientRun(
        name=name, node="c1", argv=argv, exit_code=truth.exit_code, stdout=f"raw/{name}.out",
        stderr=f"raw/{name}.err", start_epoch_s=truth.start_s, end_epoch_s=truth.end_s,
        begin_epoch_s=truth.operations_start_s - truth.late_s
        if getattr(truth.test_case, "clients", 1) > 1
        else None,
    )  # fmt: skip


def _noted(truth: Truth) -> dict[str, Any]:
    return truth.state_after | ({"rows": truth.rows} if truth.rows else {})


def _monitors(truth: Truth) -> list[MonitorRun]:
    return [
        MonitorRun(
            kind=kind, host=host, file=f"monitor/{host}.{kind}.csv", period_s=PERIOD_S,
            started_epoch_s=truth.start_s - 5, stopped_epoch_s=truth.end_s + 3,
        )
        for host, kind in (("here", "dool"), ("here", "nodecpu"), *truth.devices)
    ]  # fmt: skip
