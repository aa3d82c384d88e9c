"""What a trial does after its job: how long the job may take, and what of a write is not on disk."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.providers.existing.placing import existing_topology
from density_study.workloads.testdfsio import workload as module
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.testdfsio.workload import DfsioWorkload
from tests.support.drafts import host
from tests.support.topologies import local


def case(mode: Any = "write", files: int = 4, file_size_mib: int = 64) -> DfsioTestCase:
    return DfsioTestCase(mode=mode, files=files, file_size_mib=file_size_mib, read_size_bytes=2**20)


@pytest.fixture
def acts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What the workload did, in order."""
    done: list[tuple[str, Any]] = []
    writing = SimpleNamespace(unwritten_bytes=7 * 2**30, seconds=lambda: 21.5)
    monkeypatch.setattr(module, "_command", lambda *_: None)
    monkeypatch.setattr(
        module, "run_client", lambda _, command, limit_s, **more: done.append(("job", limit_s))
    )
    monkeypatch.setattr(
        module, "begin_write_out", lambda *_: done.append(("write out", None)) or writing
    )
    return done


def context(tmp_path: Path, existing: Any = None) -> Any:
    topology = existing_topology(existing, host()) if existing else local(2)
    return SimpleNamespace(
        cluster=SimpleNamespace(topology=topology),
        transport=None,
        record=SimpleNamespace(root=tmp_path),
        timeout_scale=1.0,
    )


def test_a_job_that_is_planned_for_four_hours_may_take_them(
    acts: list[tuple[str, Any]], tmp_path: Path
) -> None:
    long = case("read", files=288, file_size_mib=7680)
    assert long.estimate_s > 4 * 3600
    trial = context(tmp_path)
    DfsioWorkload().run(trial, long)
    ((_, limit_s),) = acts
    assert limit_s > 4 * 3600
    assert limit_s > 2 * long.estimate_on(trial.cluster.topology)


@pytest.mark.parametrize("mode", ["write", "append"])
def test_what_a_write_left_in_memory_is_written_out_at_once_and_timed(
    acts: list[tuple[str, Any]], tmp_path: Path, mode: str
) -> None:
    workload = DfsioWorkload()
    workload.run(context(tmp_path), case(mode))
    assert [act for act, _ in acts] == ["job", "write out"]
    found = workload._unwritten()
    assert found == {"unwritten": {"bytes": 7 * 2**30, "write_out_s": 21.5}}


@pytest.mark.parametrize("mode", ["read", "random", "backward", "skip", "truncate"])
def test_other_modes_leave_nothing_to_write(
    acts: list[tuple[str, Any]], tmp_path: Path, mode: str
) -> None:
    workload = DfsioWorkload()
    workload.run(context(tmp_path), case(mode))
    assert [act for act, _ in acts] == ["job"] and workload._unwritten() == {}


def test_of_an_existing_cluster_nobody_sees_the_page_caches(
    acts: list[tuple[str, Any]], tmp_path: Path
) -> None:
    workload = DfsioWorkload()
    workload.run(context(tmp_path, ExistingCluster.__new__(ExistingCluster)), case())
    assert [act for act, _ in acts] == ["job"] and workload._unwritten() == {}
