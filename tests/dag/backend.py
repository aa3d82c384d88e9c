"""A simulated backend without clusters: the real plan, journal, steps and records, with fake
daemons.

`install()` patches `workloads` and `jobs` in this process; tests/dag/dagfolder/ does so in
Airflow's own. A cluster is a file, builds/<build>/standing; the file stands.log of the runs folder
shows whether two ever stood at once. The file faults.json in the study's folder of runs specifies
failures, keyed by a step's label or a stage's name: {"up b1-v1-flash": "fail", "trial ...": "sleep
3", "trial ...": "die"}. Every act is one line of the run's order.log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import psutil

from density_study import jobs
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import BringUpError, StudyError, TearDownError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.state.tags import tagged
from density_study.jobs.run_folder import point_to_newest
from density_study.workloads.execution import opening, steps
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.execution.trial import draft_manifest
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record
from density_study.workloads.study.study import Study

SMALL = """\
study: small
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{disk_type: flash}]}
factors: {vms_per_host: [1, 2]}
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 1 MiB}
"""
STUDY = """\
study: tiny
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{disk_type: flash}]}
factors: {vms_per_host: [1, 2]}
workloads:
  - testdfsio: {modes: [write, read, random], files: 2, file_size: 1 MiB}
  - ycsb: {records: [1000], mixes: [load, a], threads: [1], duration: 2 s, warm_up: 1 s}
"""
DUET = """\
study: tiny
hosts:
  - {name: here, memory: 8 GiB, roles: [master, worker, client], disks: [{disk_type: flash}]}
factors:
  vms_per_host: [1]
  configuration: {a: {}, b: {hbase-site: {hbase.regionserver.handler.count: 40}}}
workloads:
  - ycsb: {records: [1000], mixes: [a, c], threads: [1], duration: 12 s, warm_up: 1 s}
duet: 3 s
questions: []
repetitions: 2
"""

T = TypeVar("T")


def install() -> None:
    """From now on this process builds nothing real: it needs no Java, no ports, no disk."""
    opening.resolve_hosts = hosts
    opening.preflight = lambda *_: None
    nodes: Any = SimpleNamespace(check_leases=lambda *_: None)  # no host is asked
    opening.provider_of = lambda _: nodes
    steps.ensure_stacks = lambda *_: None
    steps.bring_up = bring_up
    steps.tear_down = tear_down
    steps.run_trial = run_trial
    steps.run_duet = run_duet
    steps._cluster = lambda *_: SimpleNamespace(topology=None, site=None, processes=())
    provider: Any = SimpleNamespace(transport=lambda *_: SimpleNamespace(dead=lambda _: []))
    steps.provider_of = lambda _: provider
    sys.modules["density_study.jobs.pipeline"] = jobs.pipeline = sys.modules[__name__]


def hosts(study: Study, _: Path) -> tuple[Host, ...]:
    return tuple(
        Host(spec.name, spec.address, 2, int(spec.memory), (Disk("/nowhere", "flash"),), spec.roles)
        for spec in study.hosts
    )


def bring_up(site: Site, *_: Any, **__: Any) -> None:
    root, label = site.root.parents[1], f"up {site.root.name}"
    site.root.mkdir(parents=True)
    (site.root / "standing").touch()
    standing = sorted(path.parent.name for path in root.parents[1].glob("*/*/builds/*/standing"))
    with (root.parents[1] / "stands.log").open("a") as log:
        log.write(f"{' '.join(standing)}\n")
    if fault := _act(root, label):
        raise BringUpError(fault, "node w1", "see its log.", daemon="datanode", log_tail="boom")


def tear_down(site: Site, *_: Any) -> None:
    """Like the real one: it ends every process of the run, also a client whose trial was killed. Idempotent:
    a cluster that was never up needs no act."""
    root, label = site.root.parents[1], f"down {site.root.name}"
    end_clients(root)
    if not (site.root / "standing").exists():
        return
    if fault := _act(root, label):
        raise TearDownError(fault, "node w1", "kill it.")
    (site.root / "standing").unlink()
    site.root.rmdir()


def run_trial(run: Run, step: Step, *_: Any) -> Manifest:
    record = Record.open(run.records, draft_manifest(run, step))
    fault = _act(run.root, step.label)
    state = {"state": "failed", "reasons": (fault,)} if fault else {"state": "complete"}
    manifest = record.draft.model_copy(update=state)
    record.close(manifest)
    run.journal.write("trial-state", trial=step.trial, state="closed", outcome=manifest.state)
    return manifest


def run_duet(run: Run, both: Any) -> list[Manifest]:
    return [run_trial(run, step) for step, *_ in both]


def note(root: Path, act: str) -> None:
    with (root / "order.log").open("a") as log:
        log.write(act + "\n")


def order(root: Path) -> list[str]:
    return (root / "order.log").read_text().splitlines()


def most_standing(runs: Path) -> int:
    """The largest number of clusters that stood at once below the folder."""
    log = runs / "stands.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return max((len(line.split()) for line in lines), default=0)


def break_down(study_runs: Path, faults: Mapping[str, str]) -> None:
    """study_runs: the folder of the study's runs."""
    study_runs.mkdir(parents=True, exist_ok=True)
    (study_runs / "faults.json").write_text(json.dumps(faults))


def _act(root: Path, name: str) -> str:
    """Notes the act and applies its fault from faults.json; returns the reason of a failure, or
    nothing.

    The fault is read first: a test that sees the note may write another faults.json for later acts.
    """
    faults = root.parent / "faults.json"
    fault = str(json.loads(faults.read_text()).get(name, "")) if faults.exists() else ""
    note(root, name)
    act, _, argument = fault.partition(" ")
    if act == "die":
        os._exit(9)
    if act == "sleep":
        _client(root, argument)
        return ""
    return fault and f"{name}: as faults.json says"


def end_clients(root: Path) -> None:
    """Those of the run in the folder `root`; their trials end at once."""
    for process in tagged(f"{root.parent.name}/{root.name}"):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(process.pid).kill()


def _client(root: Path, seconds: str) -> None:
    """A workload's process, tagged like a real one, in a session of its own."""
    tag = f"{root.parent.name}/{root.name}/b1"
    environment = {"STUDY_TAG": tag, "PATH": os.environ["PATH"]}
    subprocess.run(["sleep", seconds], env=environment, start_new_session=True, check=False)


# --- jobs.pipeline ---


STAGES = ("ingest", "metrics", "verdicts", "series", "report")


def prepare() -> None:
    """Starts no Spark."""


def import_libraries() -> None:
    """Imports nothing."""


def run_stage(name: str, root: Path) -> None:
    _stage(root, name)
    if name == "report":
        page = root / "report" / "index.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text("<p>a report</p>")
        point_to_newest(root)


def _stage(root: Path, name: str) -> None:
    run = load_run(root)
    run.journal.write("analysis-started", stage=name)
    if _act(root, name):
        raise StudyError(f"{name} could not be done.", str(root), "see the log.")
    run.journal.write("analysis-ended", stage=name)


def expected_order(run: Run) -> list[str]:
    """Content of order.log after a run without faults."""
    return [*(step.label for step in run.plan.steps), *STAGES]


def wait_until(true: Callable[[], T], seconds: float, event: str) -> T:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := true():
            return value
        time.sleep(0.1)
    raise TimeoutError(f"not within {seconds} s: {event}")
