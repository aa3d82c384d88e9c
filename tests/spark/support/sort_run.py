"""A run of the workload in `sort_package`, with made records. It needs that package on its path:
`python -m tests.spark.support.sort_run FOLDER` plans the study there, closes a record per trial, and analyses
it."""

from __future__ import annotations

import sys
from pathlib import Path

from density_study.jobs import pipeline
from density_study.workloads.base.values import ClientRun, Window
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record

STUDY = """
study: sorts
provider: same
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1, 2], handlers: [30, 60]}
workloads: [{sort: {rows: [1000]}}]
"""
BEGIN_S, LENGTH_S = 1_700_000_000.0, 10.0


def main(folder: Path) -> None:
    (folder / "sorts.yaml").write_text(STUDY)
    plan = plan_study(folder / "sorts.yaml", runs=folder / "runs").plan
    root = folder / "runs" / "sorts" / "20261126T000000Z"
    (root / "records").mkdir(parents=True)
    for step in plan.steps:
        if step.kind != "trial":
            continue
        topology = plan.topology_of(step.build)
        start_s = BEGIN_S + 100.0 * (step.order or 0)
        client = ClientRun(
            name="sort-1", node="c1", argv=("sort",), exit_code=0, stdout="raw/sort-1.out",
            stderr="raw/sort-1.err", start_epoch_s=start_s, end_epoch_s=start_s + LENGTH_S,
        )  # fmt: skip
        manifest = Manifest(
            study="sorts", run=root.name, trial=str(step.trial), repetition=step.repetition,
            build=step.build, order=step.order or 0, seed=1, state="complete", monitored=False,
            test_case_id="sort-1000", test_case=step.test_case, topology=topology,
            isolation=topology.isolation, clients=(client,),
            window=Window(start_epoch_s=start_s, end_epoch_s=start_s + LENGTH_S),
        )  # fmt: skip
        record = Record.open(root / "records", manifest)
        seconds = 2.0 / topology.variant.vms_per_host
        (record.raw / "sort-1.out").write_text(f"sorted 1000 of 1000 in {seconds} s\n")
        record.close(manifest)
    pipeline.analyse(root)
    print(root)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
