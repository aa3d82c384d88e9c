"""A study's TestDFSIO entries become test cases with distinct names, or are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from density_study.analysis.summarise.analysed_run import labels
from density_study.cluster.model.dividing.sizing import sizing_of
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, DiskType, Host, IoLimits
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.preflight import disk_need_mib
from density_study.workloads.testdfsio.hdfs_policies import maps_at_once, units_of
from density_study.workloads.testdfsio.job import job_arguments
from density_study.workloads.testdfsio.test_case import JOB_START_ESTIMATE_S, DfsioTestCase
from tests.support.drafts import plan, study
from tests.support.topologies import layout_of

ALL = ["write", "read", "random", "backward", "skip", "append", "truncate"]


def workload_entries(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"testdfsio": {"modes": ["read"], "files": 6, "file_size": "64 MiB", **e}} for e in entries
    ]


def cases(*entries: dict[str, Any]) -> tuple[DfsioTestCase, ...]:
    expanded = study(workloads=workload_entries(*entries)).test_cases()
    return tuple(test_case for test_case in expanded if isinstance(test_case, DfsioTestCase))


def planned(*entries: dict[str, Any], **overrides: object) -> Plan:
    return plan(workloads=workload_entries(*entries), **overrides)


def refused(*entries: dict[str, Any], **overrides: object) -> str:
    with pytest.raises(InputError) as caught:
        planned(*entries, **overrides)
    assert caught.value.exit_code == 2
    return str(caught.value)


def arguments(test_case: DfsioTestCase) -> str:
    return " ".join(job_arguments(test_case, "/base", "r.log"))


def test_each_mode_gives_one_test_case_and_reads_one_per_number_of_readers() -> None:
    all_modes = cases({"modes": ALL, "readers": [1, 3]})
    assert [(test_case.mode, test_case.readers) for test_case in all_modes] == [
        ("write", None),
        *((mode, readers) for mode in ("read", "random", "backward", "skip") for readers in (1, 3)),
        ("append", None),
        ("truncate", None),
    ]


VARIED = (
    {"modes": ALL, "readers": [1, 2, 3]},
    {"modes": ["write", "read"], "compression": "gzip", "readers": [1, 3]},
    {"modes": ["write", "read"], "compression": "snappy"},
    {"modes": ["read", "skip"], "read_size": "64 KiB", "skip_size": "1 MiB"},
    {"modes": ["write"], "buffer_size": "4 KiB"},
    {"modes": ["write", "read"], "storage_policy": "HOT"},
    {"modes": ["write", "read"], "storage_policy": "HOT", "files": 7},
)


def test_ids_and_labels_of_test_cases_are_distinct() -> None:
    varied = cases(*VARIED)
    assert len({test_case.id for test_case in varied}) == len(varied)
    shown = labels({test_case.id: test_case for test_case in varied})
    assert len(set(shown.values())) == len(shown) == len(varied)
    assert all(
        test_case.id.replace("-", "").isalnum() and test_case.id.islower() for test_case in varied
    )


def test_test_cases_share_files_only_if_the_files_are_identical() -> None:
    folders: dict[str, set[str]] = {}
    for test_case in cases(*VARIED):
        folders.setdefault(test_case.data_set, set()).add(test_case.mode)
    assert folders["n6-64m"] == {"write", "read", "random", "backward", "skip"}
    assert {"append"} in folders.values() and {"truncate"} in folders.values()
    assert folders["n6-64m-gzip"] == folders["n6-64m-hot"] == {"write", "read"}


def test_a_write_precedes_only_the_reads_of_its_files() -> None:
    write, read, append = cases({"modes": ["write", "read", "append"]})
    (zipped,) = cases({"compression": "gzip"})
    assert write.writes_for(read)
    assert not write.writes_for(append) and not write.writes_for(zipped)


def test_sizes_on_the_command_line_have_their_unit() -> None:
    """`-skipSize 1048576` would mean this number of MB, and `-size 1M` is refused."""
    (skip,) = cases({"modes": ["skip"], "skip_size": "1 MiB"})
    words = arguments(skip)
    assert "-read -skip -nrFiles 6 -size 33554432B -bufferSize 1048576 -skipSize 1048576B" in words
    (truncate,) = cases({"modes": ["truncate"]})
    assert "-truncate -nrFiles 6 -size 33554432B" in arguments(truncate)


def test_readers_apply_only_to_reads_and_policies_only_to_created_files() -> None:
    write, read = cases({"modes": ["write", "read"], "readers": [3], "storage_policy": "HOT"})
    assert "-D mapreduce.job.running.map.limit=3" in arguments(read)
    assert "running.map.limit" not in arguments(write)
    assert "-storagePolicy HOT" in arguments(write)
    assert "-storagePolicy" not in arguments(read)
    (coded,) = cases({"modes": ["write"], "erasure_coding": "XOR-2-1-1024k"})
    assert "-erasureCodePolicy XOR-2-1-1024k" in arguments(coded)
    (zipped,) = cases({"compression": "gzip"})
    assert "-compression org.apache.hadoop.io.compress.GzipCodec" in arguments(zipped)


def test_a_write_has_the_buffer_size_and_a_read_the_read_size() -> None:
    write, read = cases({"modes": ["write", "read"], "buffer_size": "4 KiB"})
    assert "-bufferSize 4096" in arguments(write) and "-bufferSize 1048576" in arguments(read)


@pytest.mark.parametrize(
    ("entry", "why"),
    (
        ({"modes": ["random"], "compression": "gzip"}, "compression gzip excludes mode random"),
        ({"modes": ["truncate"], "compression": "gzip"}, "cannot seek"),
        ({"modes": ["append"], "erasure_coding": "RS-6-3-1024k"}, "TestDFSIO cannot append"),
        ({"erasure_coding": "RS-6-3-1024k", "storage_policy": "WARM"}, "HDFS ignores it"),
        ({"readers": [7]}, "7 readers exceed the 6 files"),
        ({"modes": ["write"], "readers": [3]}, "lists none of them"),
        ({"skip_size": "1 MiB"}, "skip_size needs the mode skip"),
        ({"read_size": "65 MiB"}, "every read would be short"),
        ({"buffer_size": "1 GiB"}, "does not fit into a map's heap"),
        ({"erasure_coding": "RS-7-7"}, "RS-6-3-1024k"),
        ({"compression": "zstd"}, "'snappy'"),
        ({"storage_policy": "WARMISH"}, "'HOT'"),
        ({"readers": [0]}, "it must be 1 or more"),
    ),
)
def test_incompatible_options_are_refused_with_the_reason(entry: dict[str, Any], why: str) -> None:
    assert why in refused(entry)


def test_readers_are_limited_by_the_number_of_containers() -> None:
    study_plan = planned({"files": 99})
    most = min(maps_at_once(topology) for topology in study_plan.topologies.values())
    assert most >= 3
    assert planned({"files": 99, "readers": [most]}).trials
    assert f"{most} map containers" in refused({"files": 99, "readers": [most + 1]})


def test_erasure_coding_needs_one_datanode_per_unit() -> None:
    coded = {"erasure_coding": "XOR-2-1-1024k"}
    assert "has 2, so blocks would lack parity" in refused(coded, **{"factors.vms_per_host": [2]})
    assert planned(coded, **{"factors.vms_per_host": [3]}).trials
    assert "to 9 DataNodes" in refused({"erasure_coding": "RS-6-3-1024k"})


@pytest.mark.parametrize("policy", ("COLD", "HOT", "LAZY_PERSIST", "PROVIDED"))
def test_an_unsatisfiable_storage_policy_is_refused(policy: str) -> None:
    assert f"storage policy {policy} requires" in refused({"storage_policy": policy})
    assert planned({"storage_policy": "ALL_SSD"}).trials  # the hosts' disks are flash


def test_the_second_replica_of_a_policy_counts_too() -> None:
    two = {"factors.vms_per_host": [2], "stack.replication": 2}
    assert planned({"storage_policy": "ONE_SSD"}).trials
    assert "DISK and SSD" in refused({"storage_policy": "ONE_SSD"}, **two)


def need_mib(*entries: dict[str, Any], **overrides: object) -> int:
    return disk_need_mib(study(workloads=workload_entries(*entries), **overrides))


def test_the_disk_need_counts_each_set_of_files_once_with_its_copies() -> None:
    one_copy_mib = 6 * 64
    base = need_mib({}) - one_copy_mib
    assert need_mib({"modes": ["write", "read", "skip"], "readers": [1, 3]}) == base + one_copy_mib
    assert need_mib({"modes": ["read", "append"]}) == base + one_copy_mib + 2 * one_copy_mib
    assert need_mib({}, {"compression": "gzip"}) == base + 2 * one_copy_mib
    two = {"factors.vms_per_host": [3], "stack.replication": 2}
    assert need_mib({}, **two) == base + 2 * one_copy_mib
    assert need_mib({"erasure_coding": "RS-6-3-1024k"}, **two) == base + 1.5 * one_copy_mib


def test_a_policys_name_states_its_units() -> None:
    assert units_of("RS-LEGACY-6-3-1024k") == (6, 3)
    assert units_of("XOR-2-1-1024k") == (2, 1)


def test_own_data_are_written_first_within_the_time_estimate() -> None:
    write, append = cases({"modes": ["write", "append"]})
    assert append.estimate_s == 2 * write.estimate_s
    single, three = cases({"readers": [1, 3]})
    assert single.estimate_s > three.estimate_s


def test_maps_are_checked_against_the_topologies() -> None:
    topology: Topology = next(iter(planned({}).topologies.values()))
    containers = sum(worker.container_mib for worker in topology.workers) // 256
    assert maps_at_once(topology) == containers - 1


@pytest.mark.parametrize(
    ("mode", "files", "file_size", "longer_than_s"),
    [
        ("write", 288, "7.5 GiB", 4 * 3600),  # 2.1 TiB at 150 MiB/s
        ("read", 72, "1 GiB", 3600),
        ("write", 2, "16 MiB", 300),  # YARN may take minutes to start on a busy machine
    ],
)
def test_the_limit_of_a_job_follows_from_the_plan(
    mode: str, files: int, file_size: str, longer_than_s: float
) -> None:
    made = planned({"modes": [mode], "files": files, "file_size": file_size})
    topology, one = next(iter(made.topologies.values())), made.trials[0].test_case
    assert isinstance(one, DfsioTestCase)
    limit_s = one.job_limit_on(topology)
    assert limit_s > max(longer_than_s, 10 * one.estimate_on(topology))
    assert one.limit_on(topology) >= limit_s


def of_equal_hosts(hosts: int, drives: int, disk: Disk, cores: int) -> Topology:
    """A master, and so many workers without VMs."""
    disks = tuple(replace(disk, path=f"/d{number}") for number in range(drives))
    every = [Host(f"h{n}", f"192.0.2.{n}", cores, 250_000, disks) for n in range(hosts + 1)]
    every[0] = replace(every[0], roles=("master", "client"))
    variant = Variant(0, 1, disk.disk_type, sizing=sizing_of(every))
    (topology,) = place(every, [variant], layout_of("physical", replication=3))
    assert isinstance(topology, Topology)
    return topology


@pytest.mark.parametrize(
    ("hosts", "cores", "disk", "mib_s"),
    [
        (1, 2, Disk("/d", "flash"), 60),
        (9, 64, Disk("/d", "flash"), 150),
        (9, 64, Disk("/d", "hdd"), 100),
        (9, 64, Disk("/d", "hdd", emulated=True, limits=IoLimits(read_mib_s=20)), 20),
    ],
)
def test_one_reader_is_estimated_by_its_drive(
    hosts: int, cores: int, disk: Disk, mib_s: float
) -> None:
    (one,) = cases({"modes": ["read"], "files": 9, "file_size": "8 GiB", "readers": [1]})
    estimate_s = one.estimate_on(of_equal_hosts(hosts, 12, disk, cores))
    assert estimate_s == pytest.approx(JOB_START_ESTIMATE_S + 9 * 8192 / mib_s)


def test_a_larger_cluster_is_estimated_to_write_and_read_sooner() -> None:
    """288 files of 8 GiB: 4.4 hours at 150 MiB/s, whatever the cluster was."""
    (write, read) = cases({"modes": ["write", "read"], "files": 288, "file_size": "8 GiB"})

    def hours(hosts: int, drives: int, disk_type: DiskType = "flash", cores: int = 64) -> float:
        topology = of_equal_hosts(hosts, drives, Disk("/d", disk_type), cores)
        return sum(one.estimate_on(topology) for one in (write, read)) / 3600

    assert hours(9, 12) < 0.4, "bounded by ten gigabit per second and replicas"
    assert 2 < hours(3, 12) / hours(9, 12) < 4
    assert hours(9, 1) > 2 * hours(9, 12), "by one drive per host"
    assert hours(9, 1, "hdd") > 3 * hours(9, 1), "by heads"
    assert hours(9, 12, cores=2) > 1.5 * hours(9, 12), "by few cores"


def test_small_reads_with_seeks_are_estimated_by_seeks() -> None:
    large, small = (
        cases({"modes": ["random"], "files": 4, "file_size": "1 GiB", "read_size": size})[0]
        for size in ("1 MiB", "4 KiB")
    )
    assert small.estimate_s > 10 * large.estimate_s
