"""Traces of Nextflow as profiles: by process, with what nobody measured."""

# ruff: noqa: E501  lines of a trace
from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.analysis.capacity.traces.profiled import profile_of, write_profile
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.offers import host, offers
from tests.unit.analysis.capacity.planning import plan

TRACE = (
    "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n"
    "1\taa/1\t11\tWGS:ALIGN (s1)\tCOMPLETED\t0\t2026-01-01 00:00:00.000\t2h 10m\t2h\t780.0%\t6.5 GB\t9 GB\t40 GB\t90 GB\n"
    "2\taa/2\t12\tWGS:ALIGN (s2)\tCOMPLETED\t0\t2026-01-01 00:00:05.000\t2h 10m\t2h\t780.0%\t7 GB\t9 GB\t40 GB\t90 GB\n"
    "3\taa/3\t13\tWGS:SORT_BAM (s1)\tFAILED\t1\t2026-01-01 02:20:00.000\t5s\t1s\t10.0%\t-\t-\t-\t-\n"
    "4\taa/4\t14\tWGS:SORT_BAM (s1)\tCOMPLETED\t0\t2026-01-01 02:21:00.000\t31m\t30m\t150.0%\t14 GB\t15 GB\t90 GB\t90 GB\n"
    "5\taa/5\t15\tWGS:SORT_BAM (s2)\tCACHED\t0\t2026-01-01 02:21:00.000\t31m\t1800000\t150.0%\t14 GB\t15 GB\t-\t90 GB\n"
)


def profile_from(folder: Path, text: str, genomes: int = 1) -> Profile:
    path = folder / "trace.txt"
    path.write_text(text)
    return profile_of(read_traces([path]), genomes, "x", "t")


def test_a_nextflow_trace_becomes_a_profile(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(TRACE)
    assert len(write_profile([trace], 2, tmp_path / "mine.yaml").profile.stages) == 2
    profile = read_profile(str(tmp_path / "mine.yaml"))
    align, sort = profile.stages
    assert (align.name, sort.name, sort.after) == ("align", "sort-bam", ("align",))
    assert align.core_hours is not None
    assert align.core_hours.value == pytest.approx(2 * 7.8)
    assert align.core_hours.tag == "measured"
    assert (align.cores_per_task, align.tasks) == (8, 1)
    assert align.cpu_efficiency is not None
    assert align.cpu_efficiency.value == pytest.approx(7.8 / 8)
    assert sort.core_hours is not None
    assert sort.core_hours.value == pytest.approx(
        0.75, rel=1e-4
    )  # and the second of the attempt that failed
    assert sort.ram_gib is not None
    assert sort.ram_gib.value == 14
    assert align.demands["hdfs_read"].value == pytest.approx(40 * 1024)


@pytest.mark.parametrize(
    "text",
    ["", "name\tstatus\n", TRACE.splitlines()[0] + "\n", TRACE.replace("2h\t780", "soon\t780")],
)
def test_an_invalid_trace_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        profile_from(tmp_path, text)
    with pytest.raises(InputError, match="number of genomes is 0"):
        profile_from(tmp_path, TRACE, 0)


def test_a_plan_repeats_what_nobody_measured() -> None:
    wild = Path(__file__).parents[4] / "samples" / "wild" / "traces"
    for name, what in (
        ("n22-made-example-without-cpu.txt", "CPU unknown"),
        ("n21-made-example-without-memory.txt", "memory unknown"),
    ):
        profile = profile_of(read_traces([wild / name]), 2, "wild", name)
        found = plan(20, profile=profile, hosts=offers(host("one", 1.0, 9000)))
        for stage in ("align", "sort-markdup", "haplotypecaller"):
            assert any(line.startswith(f"stage {stage}: {what}") for line in found.warnings)


@pytest.mark.parametrize(
    ("names", "stages"),
    [
        (("A:SORT", "B:SORT"), ("a-sort", "b-sort")),
        (("W:A:SORT", "W:B:SORT", "W:B:INDEX"), ("a-sort", "b-sort", "index")),
        (("A_B", "A-B"), ("a-b", "a-b-2")),
        (("X:SORT", "SORT"), ("x-sort", "sort")),
        (("ü", "ö"), ("stage", "stage-2")),
    ],
)
def test_processes_of_the_same_name_are_stages_of_their_own(
    tmp_path: Path, names: tuple[str, ...], stages: tuple[str, ...]
) -> None:
    head = "name\tstatus\trealtime\t%cpu\n"
    text = head + "".join(f"{name} (s1)\tCOMPLETED\t1h\t100%\n" for name in names)
    profile = profile_from(tmp_path, text)
    assert tuple(stage.name for stage in profile.stages) == stages


def test_tasks_without_cpu_count_as_the_others_and_are_no_measurement(tmp_path: Path) -> None:
    text = "name\tstatus\trealtime\t%cpu\nA (1)\tCOMPLETED\t1h\t200%\nA (2)\tCOMPLETED\t3h\t-\n"
    (stage,) = profile_from(tmp_path, text).stages
    assert stage.core_hours is not None
    assert (stage.core_hours.value, stage.core_hours.tag) == (8.0, "calculated")


def test_counters_that_nobody_read_are_unknown(tmp_path: Path) -> None:
    head = "name\tstatus\trealtime\t%cpu\tpeak_rss\trchar\twchar\n"
    text = head + "A (1)\tCOMPLETED\t1h\t0.0%\t0\t0\t0\nA (2)\tCOMPLETED\t1h\t0.0%\t0\t0\t0\n"
    profile = profile_from(tmp_path, text)
    (stage,) = profile.stages
    assert (stage.core_hours, stage.ram_gib, stage.demands) == (None, None, {})
    for what in ("CPU unknown", "memory unknown", "hdfs_read unknown", "hdfs_write unknown"):
        assert any(what in line for line in profile.left_out())
