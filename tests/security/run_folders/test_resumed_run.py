"""`study run` resumes this user's own runs, and carries out only plans that their studies give."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle.reap import Swept, claim
from density_study.cluster.model.dividing.sizing import Sizing, sizing_before
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Login
from density_study.cluster.state import own_runs
from density_study.cluster.state.owner import Owner
from density_study.dags.stages import opening as dag_opening
from density_study.workloads.execution import opening
from density_study.workloads.execution.opening import RunRequest, open_run, reopen_run
from density_study.workloads.execution.run import Run, end_run, load_run
from density_study.workloads.planning.plan import Plan, make_plan, plan_text, read_plan
from density_study.workloads.planning.replanned import check_follows
from density_study.workloads.planning.resolve import assumed_hosts, planned_hosts
from density_study.workloads.study.shipped import FOLDER
from density_study.workloads.study.study_file import parse_study, read_study
from tests.support.drafts import QUICKSTART


@pytest.fixture(autouse=True)
def nothing_real(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("acquire", "release", "abandon", "check_free"):
        monkeypatch.setattr(opening.lease, name, lambda *_: None)
    monkeypatch.setattr(opening, "preflight", lambda *_: None)
    monkeypatch.setattr(opening, "resolve_hosts", planned_hosts)
    ids = (f"2026112{n}T000000Z" for n in range(10))
    monkeypatch.setattr(opening, "next_run_id", lambda _: next(ids))
    yield


def forget(run: Run) -> None:
    """As if the registry were lost."""
    own_runs.forget(own_runs.key_of(run.root))


def rewritten(run: Run, change: dict[str, Any]) -> None:
    """Another plan, with these keys of its first topology's first host, or of itself."""
    path = run.root / "plan.json"
    plan = json.loads(path.read_text())
    for name, value in change.items():
        *above, last = name.split("/")
        place = plan
        for key in above:
            place = place[int(key)] if key.isdigit() else place[key]
        place[int(last) if last.isdigit() else last] = value
    path.write_text(json.dumps(plan))


def test_a_strangers_run_of_the_same_study_is_not_resumed(
    runs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = open_run(QUICKSTART, runs)
    copy = first.root.with_name("20991231T000000Z")
    shutil.copytree(first.root, copy)
    shutil.rmtree(first.root)
    second = open_run(QUICKSTART, runs)
    assert second.root not in (first.root, copy)
    assert str(copy) in caplog.text and "left alone" in caplog.text and "--claim" in caplog.text
    with pytest.raises(InputError, match="left alone"):
        reopen_run(load_run(copy), second_owner(), "d/r", ())


def second_owner() -> Owner:
    return Owner.of_dag_run("dag/run")


def test_a_claimed_run_is_resumed_if_its_plan_is_that_of_its_study(runs: Path) -> None:
    first = open_run(QUICKSTART, runs)
    forget(first)
    claim(first.root)
    assert not own_runs.has_known_plan(first.root)
    assert open_run(QUICKSTART, runs).root == first.root
    assert own_runs.has_known_plan(first.root)
    end_run(first, "ok")
    longer = open_run(QUICKSTART, runs, request=RunRequest(add_repetitions=2))
    forget(longer)
    claim(longer.root)
    assert open_run(QUICKSTART, runs, request=RunRequest(add_repetitions=2)).plan == longer.plan


TOPOLOGY = "topologies/v1-flash"
CHANGES: list[dict[str, Any]] = [
    {f"{TOPOLOGY}/configuration": {"jvm": {"datanode": ["-agentpath:/tmp/evil.so"]}}},
    {f"{TOPOLOGY}/hosts/0/disks/0/path": "/etc/../root"},
    {f"{TOPOLOGY}/hosts/0/address": "-oProxyCommand=id"},
    {f"{TOPOLOGY}/nodes/0/disk": {"path": "/root", "disk_type": "flash"}},
    {f"{TOPOLOGY}/hosts/0/cores": -1},
    {"seed": 7},
    {"steps/1/test_case/files": 10**6},
    {"repetitions": 2},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_changed_plan_is_never_carried_out(runs: Path, change: dict[str, Any]) -> None:
    first = open_run(QUICKSTART, runs)
    rewritten(first, change)
    with pytest.raises(StudyError) as caught:
        open_run(QUICKSTART, runs)
    assert "plan" in str(caught.value)
    forget(first)
    claim(first.root)
    with pytest.raises(StudyError) as caught:
        open_run(QUICKSTART, runs)
    assert "plan" in str(caught.value) and caught.value.remedy
    assert open_run(QUICKSTART, runs, request=RunRequest(fresh=True)).root != first.root


@pytest.mark.parametrize("spec", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_plan_of_a_shipped_study_is_made_again_equal(spec: Path) -> None:
    study = read_study(spec).study
    plan = make_plan(study, assumed_hosts(study))
    runs = Path("/" if study.provider == "libvirt" else "/auto")
    check_follows(study, plan, runs / study.study / "r")
    wrong = partial(check_follows, study, root=runs / study.study / "r")
    with pytest.raises(InputError, match="not the plan of its study"):
        wrong(plan.model_copy(update={"steps": plan.steps[:-1]}))


def test_a_claimed_run_of_a_version_with_other_estimates_is_resumed(runs: Path) -> None:
    first = open_run(QUICKSTART, runs)
    rewritten(first, {"steps/1/estimate_s": 52.0})
    forget(first)
    claim(first.root)
    assert open_run(QUICKSTART, runs).root == first.root


PHYSICAL = """
study: s
provider: physical
ssh: {user: me}
hosts:
  - {name: h1, address: 192.0.2.1, cores: 8, memory: 32 GiB, roles: [master, client], disks: []}
  - {name: h2, address: 192.0.2.2, cores: 8, memory: 32 GiB, roles: [worker],
     disks: [{path: /data, disk_type: flash}]}
workloads: [{testdfsio: {modes: [write], files: 2, file_size: 64 MiB}}]
factors: {vms_per_host: [0]}
"""


def test_a_claimed_run_has_the_folder_on_hosts_that_it_was_planned_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_HOST_FOLDER", "/srv/study")
    study = parse_study(PHYSICAL, "s.yaml").study
    login = Login("me", 22, "/r/s/known_hosts", folder="/srv/study")
    plan = make_plan(study, [replace(host, login=login) for host in assumed_hosts(study)])
    check_follows(study, plan, Path("/r/s/run"))


def test_the_digest_is_that_of_the_written_plan(runs: Path) -> None:
    run = open_run(QUICKSTART, runs)
    assert plan_text(read_plan(run.root / "plan.json")) == (run.root / "plan.json").read_text()
    assert own_runs.has_known_plan(run.root) and own_runs.refusal(run.root) == ""


def test_files_of_a_run_are_the_users_alone_to_write_whatever_the_umask(runs: Path) -> None:
    before = os.umask(0)
    try:
        run = open_run(QUICKSTART, runs)
        (run.root / "builds").mkdir()
        assert own_runs.refusal(run.root) == ""
    finally:
        os.umask(before)


def test_a_lost_dag_run_of_a_stranger_is_not_reaped(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reaped: list[Path] = []

    def reap(folder: Path, **_: object) -> Swept:
        reaped.append(folder)
        return Swept()

    monkeypatch.setattr(dag_opening, "reap", reap)
    run = open_run(QUICKSTART, runs, owner=second_owner(), dag_run="dag/run")
    forget(run)
    for expected in ([], [runs]):
        for path in run.root.iterdir():
            os.utime(path, (0, 0))
        dag_opening._reap_lost(runs, run.study.study, ("dag/run",))
        assert reaped == expected
        claim(run.root)


LARGE = """
study: large
provider: physical
ssh: {user: nobody}
hosts:
  - {name: m, address: 192.0.2.1, cores: 16, memory: 64 GiB, roles: [master, client]}
  - {name: w, address: 192.0.2.2, cores: 64, memory: WORKER GiB, disks: [{path: /data/1, disk_type: flash}]}
factors: {vms_per_host: [0]}
workloads:
  - ycsb: {records: [1000], mixes: [load, c], threads: [8], duration: 60 s, warm_up: 5 s}
"""


@pytest.mark.parametrize("worker_gib, region_mib", [(30, 16), (256, 32)])
def test_a_plan_without_sizes_keeps_those_of_its_version(
    worker_gib: int, region_mib: int, tmp_path: Path
) -> None:
    """It was recorded before daemons got sizes by the memory of hosts; its builds stay alike."""
    study = parse_study(LARGE.replace("WORKER", str(worker_gib)), "large.yaml").study
    hosts, root = assumed_hosts(study), Path("/auto") / study.study / "r"
    before = sizing_before(max(host.memory_mib for host in hosts))
    assert (before.g1_region_mib, before.whole_heap) == (region_mib, True)
    path = tmp_path / "plan.json"

    def recorded(sizing: Sizing | None) -> Plan:
        value = json.loads(plan_text(make_plan(study, hosts, (), sizing)))
        for topology in value["topologies"].values():
            del topology["sizing"]
        path.write_text(json.dumps(value))
        return read_plan(path)

    plan = recorded(before)
    assert {one.variant.sizing for one in plan.built} == {before}
    check_follows(study, plan, root)
    if worker_gib > 32:
        with pytest.raises(InputError, match="not the plan of its study"):
            check_follows(study, recorded(None), root)  # which has today's, under the old name
