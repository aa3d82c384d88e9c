"""A profile from a run of a pipeline: its ranges, what it refuses, and the plan made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from density_study.analysis.capacity.curves.model import write_model
from density_study.analysis.capacity.inputs.catalogue import EXAMPLE
from density_study.analysis.capacity.inputs.measured import (
    HUMAN_BASES,
    READ_BASES,
    differences,
    measured_profile,
)
from density_study.analysis.capacity.inputs.profile import Profile, Stage, read_profile
from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from density_study.workloads import tables
from density_study.workloads.pipeline.machine.files import COHORT, JOINT, LOAD, STAGES
from density_study.workloads.tables import store
from tests.unit.analysis.capacity.planning import model

COVERAGE = 10
SIZES = (250_000, 500_000, 1_000_000)
US_PER_BASE = {"align": 0.5, "sort-markdup": 0.1, "call": 0.2, JOINT: 0.05}


def profile(
    monkeypatch: pytest.MonkeyPatch,
    sizes: tuple[int, ...] = SIZES,
    growth: float = 0.0,
    verdict: str = "valid",
    loaded: bool = False,
    **own: Any,
) -> Profile:
    """Of a trial per size with 4 genomes, whose cost varies by 10 %; cost per base grows as bases^growth.
    loaded: with a variant per 1,000 bases, which costs 1 ms."""
    rows, answers = [], []
    for bases in sizes:
        for number, factor in enumerate((0.9, 1.0, 1.0, 1.1), 1):
            for stage in STAGES:
                if stage == JOINT and number > 1:
                    continue
                each = US_PER_BASE[stage] * (bases / 1e6) ** growth * bases * COVERAGE / 1e6
                core_s = each * (4 if stage == JOINT else factor)
                rows.append(
                    {"trial": f"t{bases}", "client": "pipeline-w1", "stage": stage,
                     "genome": COHORT if stage == JOINT else f"g00{number}",
                     "start_epoch_s": 0.0, "end_epoch_s": 1.25 * core_s, "core_s": core_s,
                     "peak_kib": 20_000 + bases // 100, "read_bytes": bases * COVERAGE,
                     "written_bytes": bases * COVERAGE // 2, "exit_code": 0, **own}
                )  # fmt: skip
        if loaded:
            row = {"trial": f"t{bases}", "client": "pipeline-w1", "stage": LOAD, "genome": COHORT}
            variants = bases // 1_000
            core_s = variants / 1e3
            answers.append({**row, "planted": variants, "called": variants, "found": variants})
            rows.append({**row, "start_epoch_s": 0.0, "end_epoch_s": 0.5 * core_s, "core_s": core_s,
                         "peak_kib": 2**18, "read_bytes": 1, "written_bytes": 1})  # fmt: skip
    frames = {
        tables.TRIALS: [{"trial": f"t{bases}", "bases": bases, "coverage": COVERAGE, "threads": 1,
                         "concurrent": 1} for bases in sizes],
        tables.VERDICTS: [{"trial": f"t{bases}", "verdict": verdict} for bases in sizes],
        tables.PIPELINE_STAGES: rows,
        tables.PIPELINE_ANSWERS: answers,
    }  # fmt: skip
    monkeypatch.setattr(store, "read_table", lambda _, table: pd.DataFrame(frames[table]))
    return measured_profile(Path("runs/20261124T100000Z"))


def stage(found: Profile, name: str) -> Stage:
    return next(one for one in found.stages if one.name == name)


@pytest.mark.parametrize("name", STAGES)
def test_core_hours_are_those_of_93_gigabases(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    hours = stage(profile(monkeypatch), name).core_hours
    assert hours is not None
    assert hours.value == pytest.approx(US_PER_BASE[name] / 1e6 * READ_BASES / 3600)
    assert hours.tag == "measured" and "1 Mb at 10x" in hours.source


def test_ranges_are_those_of_single_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = stage(profile(monkeypatch), "call").core_hours
    assert hours is not None
    assert 0.9 <= hours.low / hours.value < 0.95 and 1.05 < hours.high / hours.value <= 1.1
    one = stage(profile(monkeypatch), JOINT).core_hours  # a single cohort of the largest size
    assert one is not None
    assert (one.low / one.value, one.high / one.value) == pytest.approx((0.8, 1.25))


def test_a_cost_that_grows_widens_the_range_to_a_human_genome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in STAGES:
        hours = stage(profile(monkeypatch, growth=0.1), name).core_hours
        assert hours is not None
        assert hours.high == pytest.approx(hours.value * (HUMAN_BASES / 1e6) ** 0.1, rel=0.01)
    shrinking = stage(profile(monkeypatch, growth=-0.3), "call").core_hours
    assert shrinking is not None and shrinking.low > 0.89 * shrinking.value


def test_without_a_curve_alignment_reaches_up_to_the_shipped_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shipped = read_profile("wgs30x").stages[0]
    align = stage(profile(monkeypatch, sizes=SIZES[:2]), "align")
    assert align.core_hours is not None and shipped.core_hours is not None
    assert align.core_hours.high == shipped.core_hours.high
    assert "lower bound" in align.core_hours.source


def test_an_aligner_holds_the_index_of_a_human_genome_and_batches_of_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """1 Mb at 10x: 30,000 KiB, of them 1.75 MB of index; the batches of its one thread are half full."""
    found = profile(monkeypatch)
    align, call = stage(found, "align").ram_gib, stage(found, "call").ram_gib
    assert align is not None and call is not None
    of_thread_gib = (30_000 * 1024 - 1.75e6) / 0.5 / 2**30
    assert align.value == pytest.approx(1.75 * HUMAN_BASES / 2**30 + 8 * of_thread_gib)
    assert 5 < align.value < align.high
    assert call.value == pytest.approx(30_000 / 2**20)
    sorting = stage(found, "sort-markdup").ram_gib
    assert stage(found, "sort-markdup").cores_per_task == 4
    assert sorting is not None and sorting.value == 4 * 0.25  # full


def test_efficiency_and_bytes_are_measured_and_tasks_are_shipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    align = stage(profile(monkeypatch), "align")
    assert align.cpu_efficiency is not None
    assert align.cpu_efficiency.value == pytest.approx(0.8)
    assert align.demands["hdfs_read"].value == pytest.approx(READ_BASES / 2**20)
    assert (align.tasks, align.cores_per_task) == (4, 8)


def test_bytes_that_the_kernel_does_not_tell_are_no_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    align = stage(profile(monkeypatch, read_bytes=None), "align")
    assert set(align.demands) == {"hdfs_write"}


def test_a_run_without_valid_trials_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no valid trial of a pipeline"):
        profile(monkeypatch, verdict="invalid")


def test_stages_are_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {one.stage: one for one in differences(profile(monkeypatch))}
    assert {name: one.shipped and one.shipped.name for name, one in found.items()} == {
        "align": "align", "sort-markdup": "sort-markdup", "call": "haplotypecaller",
        JOINT: "genotype", "bqsr": "bqsr", "load": "load",
    }  # fmt: skip
    assert found["bqsr"].measured is None
    assert found["load"].note == "not measured: wgs30x's"


def test_a_load_follows_the_variants_of_a_human_genome(monkeypatch: pytest.MonkeyPatch) -> None:
    found, shipped = profile(monkeypatch, loaded=True), read_profile("wgs30x").stages[-1]
    load = found.stages[-1]
    assert (load.name, load.after) == (LOAD, (JOINT,))
    assert load.core_hours is not None and load.ram_gib is not None
    assert load.core_hours.value == pytest.approx(1e-3 * 4_300_000 / 3600)
    assert "1 load of 1,000 variants; an upper bound" in load.core_hours.source
    assert load.ram_gib.value == 0.25
    assert load.cpu_efficiency is not None and load.cpu_efficiency.value == 1.0
    assert load.demands == shipped.demands, "the run cannot tell how many variants a human has"
    pairs = {one.stage: one for one in differences(found)}
    assert pairs[LOAD].shipped == shipped and pairs[LOAD].note.startswith("an upper bound")
    assert "load" not in pairs


def test_size_takes_the_run_and_prints_the_difference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profile(monkeypatch)
    run = tmp_path / "20261124T100000Z"
    (run / "tables").mkdir(parents=True)
    write_model(model(), tmp_path / "model.json")
    argv = ["capacity", "size", "--genomes-per-day", "20", "--profile", f"measured:{run}", "--draws", "200",
            "--hosts", str(EXAMPLE), "--slo", "turnaround_p95=48h",
            "--model", str(tmp_path / "model.json")]  # fmt: skip
    monkeypatch.setenv("COLUMNS", "200")
    done = CliRunner().invoke(main.app, argv, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    compared, plan = done.output.split("stages of one genome")
    lines = {line.split()[0]: line.split() for line in compared.splitlines() if line.strip()}
    assert lines["align"][1:5] == ["align", "12.9", "98.8", "0.13"]
    assert lines["call"][1] == "haplotypecaller" and lines["bqsr"][1:4] == ["bqsr", "-", "8.2"]
    assert "align: a lower bound" in compared
    assert "joint-genotype" in plan


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    argv = ["capacity", "size", "--genomes-per-day", "20", "--profile", f"measured:{tmp_path / 'no'}",
            "--hosts", str(EXAMPLE), "--model", str(EXAMPLE.parent / "none.json")]  # fmt: skip
    done = CliRunner().invoke(main.app, argv)
    assert isinstance(done.exception, InputError)
