"""Profiles, catalogues and Nextflow traces: shipped ones are valid, errors are named."""

# ruff: noqa: E501  lines of a trace
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, read_catalogue
from density_study.analysis.capacity.inputs.nextflow import parse_trace, read_trace
from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.analysis.capacity.inputs.ranged import UncertainValue
from density_study.analysis.capacity.inputs.traced import profile_of, write_profile
from density_study.cluster.model.errors import InputError
from tests.support.capacity import example_points
from tests.unit.analysis.capacity.offers import host, offers
from tests.unit.analysis.capacity.planning import plan

TRACE = (
    "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n"
    "1\taa/1\t11\tWGS:ALIGN (s1)\tCOMPLETED\t0\t2026-01-01 00:00:00.000\t2h 10m\t2h\t780.0%\t6.5 GB\t9 GB\t40 GB\t90 GB\n"
    "2\taa/2\t12\tWGS:ALIGN (s2)\tCOMPLETED\t0\t2026-01-01 00:00:05.000\t2h 10m\t2h\t780.0%\t7 GB\t9 GB\t40 GB\t90 GB\n"
    "3\taa/3\t13\tWGS:SORT_BAM (s1)\tFAILED\t1\t2026-01-01 02:20:00.000\t5s\t1s\t10.0%\t-\t-\t-\t-\n"
    "4\taa/4\t14\tWGS:SORT_BAM (s1)\tCOMPLETED\t0\t2026-01-01 02:21:00.000\t31m\t30m\t150.0%\t14 GB\t15 GB\t90 GB\t90 GB\n"
    "5\taa/5\t15\tWGS:SORT_BAM (s2)\tCACHED\t0\t2026-01-01 02:21:00.000\t31m\t1800000\t150.0%\t14 GB\t15 GB\t-\t90 GB\n"
)  # fmt: skip


@pytest.mark.parametrize("name", ["wgs30x", "exome", "cohort-query"])
def test_shipped_inputs_are_valid_and_every_value_has_a_source(name: str) -> None:
    profile = read_profile(name)
    assert profile.profile == name
    for label, value in profile.ranges():
        assert value.source, label
        assert value.low <= value.value <= value.high


def test_wgs30x_needs_about_150_core_hours() -> None:
    hours = sum(s.core_hours.value for s in read_profile("wgs30x").stages if s.core_hours)
    assert 140 <= hours <= 170


def test_the_example_catalogue_is_dated_and_its_points_come_from_the_generator() -> None:
    example = read_catalogue(EXAMPLE)
    assert example.date.year >= 2026
    assert "made-up" in example.price_basis
    lines = (EXAMPLE.parent / "points.csv").read_text().splitlines()
    assert lines[0] == ",".join(example_points.HEAD)
    assert lines[1:] == [",".join(str(cell) for cell in row) for row in example_points.rows()]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda v: v["stages"][0]["core_hours"].update(low=500), "low"),
        (lambda v: v["stages"][0]["core_hours"].pop("source"), "source"),
        (lambda v: v["stages"][0]["core_hours"].update(tag="guessed"), "tag"),
        (lambda v: v["stages"][0].update(after=["load"]), "does not precede it"),
        (lambda v: v["stages"][1].update(name="align"), "twice"),
        (lambda v: v.update(format=2), "format"),
        (lambda v: v.update(extra=1), "extra"),
        (lambda v: v["peak"].update(value=-1), "peak"),
    ],
)
def test_an_invalid_profile_is_refused_and_named(
    tmp_path: Path, change: object, named: str
) -> None:
    value = read_profile("wgs30x").model_dump(mode="json")
    change(value)  # type: ignore[operator]
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(InputError) as caught:
        read_profile(str(path))
    assert named in str(caught.value)
    assert caught.value.where.startswith(f"{path}:")


def test_an_unknown_profile_is_refused_with_the_shipped_names() -> None:
    with pytest.raises(InputError) as caught:
        read_profile("wgs300x")
    assert "cohort-query, exome, wgs30x" in caught.value.remedy


def test_missing_prices_are_refused_and_named(tmp_path: Path) -> None:
    value = yaml.safe_load(EXAMPLE.read_text())
    for offer in value["hosts"]:
        offer.pop("capex_usd", None)
        offer.pop("usd_per_hour", None)
    path = tmp_path / "hosts.yaml"
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(InputError, match="prices are missing: none of small-flash"):
        read_catalogue(path)
    path.write_text("format: [")
    with pytest.raises(InputError, match="not valid YAML"):
        read_catalogue(path)


def test_draws_of_a_range_follow_its_bounds() -> None:
    value = UncertainValue(value=10, low=5, high=40, tag="assumed", source="test")
    drawn = value.draws(np.random.default_rng(1), 20000)
    assert np.quantile(drawn, (0.05, 0.5, 0.95)) == pytest.approx((5, 10, 40), rel=0.05)
    fixed = UncertainValue(value=3, low=3, high=3, tag="measured", source="test")
    assert set(fixed.draws(np.random.default_rng(1), 10)) == {3.0}


def test_a_nextflow_trace_becomes_a_profile(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(TRACE)
    assert len(write_profile(trace, 2, tmp_path / "mine.yaml").stages) == 2
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
    assert sort.core_hours.value == pytest.approx(0.75)
    assert sort.ram_gib is not None
    assert sort.ram_gib.value == 14
    assert align.demands["hdfs_read"].value == pytest.approx(40 * 1024)


@pytest.mark.parametrize(
    "text",
    ["", "name\tstatus\n", TRACE.splitlines()[0] + "\n", TRACE.replace("2h\t780", "soon\t780")],
)
def test_an_invalid_trace_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_trace(text, "trace.txt")
    with pytest.raises(InputError, match="number of genomes is 0"):
        profile_of(parse_trace(TRACE, "t"), 0, "x", "t")


@pytest.mark.parametrize("number", [".inf", ".nan"])
def test_an_invalid_number_is_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "mine.yaml"
    value = read_profile("wgs30x").model_dump(mode="json")
    value["peak"].update(value=float(number.removeprefix(".")), high=float("inf"))
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(InputError, match="finite number"):
        read_profile(str(path))


def test_a_plan_repeats_what_nobody_measured() -> None:
    wild = Path(__file__).parents[3] / "samples" / "wild" / "traces"
    for name, what in (
        ("n22-made-example-without-cpu.txt", "CPU unknown"),
        ("n21-made-example-without-memory.txt", "memory unknown"),
    ):
        profile = profile_of(read_trace(wild / name), 2, "wild", name)
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
    names: tuple[str, ...], stages: tuple[str, ...]
) -> None:
    head = "name\tstatus\trealtime\t%cpu\n"
    text = head + "".join(f"{name} (s1)\tCOMPLETED\t1h\t100%\n" for name in names)
    profile = profile_of(parse_trace(text, "t"), 1, "x", "t")
    assert tuple(stage.name for stage in profile.stages) == stages


def test_tasks_without_cpu_count_as_the_others_and_are_no_measurement() -> None:
    text = "name\tstatus\trealtime\t%cpu\nA (1)\tCOMPLETED\t1h\t200%\nA (2)\tCOMPLETED\t3h\t-\n"
    (stage,) = profile_of(parse_trace(text, "t"), 1, "x", "t").stages
    assert stage.core_hours is not None
    assert (stage.core_hours.value, stage.core_hours.tag) == (8.0, "calculated")


def test_counters_that_nobody_read_are_unknown() -> None:
    head = "name\tstatus\trealtime\t%cpu\tpeak_rss\trchar\twchar\n"
    text = head + "A (1)\tCOMPLETED\t1h\t0.0%\t0\t0\t0\nA (2)\tCOMPLETED\t1h\t0.0%\t0\t0\t0\n"
    profile = profile_of(parse_trace(text, "t"), 1, "x", "t")
    (stage,) = profile.stages
    assert (stage.core_hours, stage.ram_gib, stage.demands) == (None, None, {})
    for what in ("CPU unknown", "memory unknown", "hdfs_read unknown", "hdfs_write unknown"):
        assert any(what in line for line in profile.left_out())
