"""A pipeline's numbers and verdicts, compared with plain loops over the generated truth."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.analysis.capacity.inputs.measured import (
    HUMAN_BASES,
    READ_BASES,
    differences,
    measured_profile,
)
from density_study.analysis.capacity.inputs.run_points import run_points
from density_study.jobs import pipeline
from density_study.jobs.first_look.look import first_look
from density_study.workloads.pipeline.machine.files import COHORT, JOINT, LOAD, STAGES
from density_study.workloads.pipeline.test_case import PipelineTestCase
from tests.spark.conftest import Analysed
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import Truth

pytestmark = [pytest.mark.spark, pytest.mark.slow]

V1, V2 = "b1-v1-flash", "b1-v2-flash"
SIZES = {"small": 250_000, "middle": 500_000, "large": 1_000_000}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Analysed:
    factory = RunFactory(tmp_path_factory.mktemp("runs") / RUN)
    truths = {
        name: factory.pipeline(V1, bases=bases, core_us=bases**0.25 / 40)
        for name, bases in SIZES.items()
    }
    truths["two_nodes"] = factory.pipeline(V2, bases=1_000_000, core_us=0.8)
    loaded = truths["loaded"] = factory.pipeline(
        V2, bases=200_000, core_us=200_000**0.25 / 40, variant_load=True
    )
    loaded.stored = (2000, 2000, 1500)
    miscounted = truths["miscounted"] = factory.pipeline(V1, bases=300_000)
    unfinished = truths["unfinished"] = factory.pipeline(V1, bases=350_000)
    wrong = truths["failed"] = factory.pipeline(V1, bases=400_000)
    unfinished.stages[2].exit_code = 1
    wrong.state, wrong.reasons = (
        "failed",
        ("call of g001: only 5.0 % of the planted variants were called",),
    )
    root = factory.close()
    path = root / "records" / miscounted.trial / "raw" / "pipeline-w1.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-2] + lines[-1:]))  # the last sum counts a row that is missing
    pipeline.analyse(root)
    return Analysed(root, truths)


def of(truth: Truth, stage: str) -> list[float]:
    return [one.core_s for one in truth.stages if one.stage == stage]


@pytest.mark.parametrize("case", (*SIZES, "two_nodes"))
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_costs_its_sum_over_the_genomes(run: Analysed, case: str, stage: str) -> None:
    truth = run.truths[case]
    assert isinstance(truth.test_case, PipelineTestCase)
    genomes, scope = truth.test_case.genomes, f"stage:{stage}"
    core_s = sum(of(truth, stage)) / genomes
    assert run.metric(case, "stage_core", scope=scope) == pytest.approx(core_s, abs=1e-6)
    per_base_ns = 1e9 * core_s / (truth.test_case.bases * truth.test_case.coverage)
    assert run.metric(case, "stage_core_per_base", scope=scope) == pytest.approx(per_base_ns)
    nodes = 1 if case != "two_nodes" else 2
    rows = nodes if stage == JOINT else genomes
    assert run.metric(case, "stage_time", scope=scope) == pytest.approx(2.0 * rows / genomes)
    assert run.metric(case, "stage_read", scope=scope) == pytest.approx(3.0 * rows / genomes)
    assert run.metric(case, "stage_write", scope=scope) == pytest.approx(rows / genomes)
    most = max(one.peak_kib for one in truth.stages) / 1024
    assert run.metric(case, "stage_memory", scope=scope) == pytest.approx(most)


@pytest.mark.parametrize("case", (*SIZES, "two_nodes"))
def test_sound_trials_are_valid_with_their_rate(run: Analysed, case: str) -> None:
    assert run.verdict(case) == ("valid", "")
    truth = run.truths[case]
    rate = 4 * 3600 / truth.window_s
    assert run.metric(case, "throughput_genomes") == pytest.approx(rate)
    seen = first_look(run.root / "records" / truth.trial)
    assert (seen.verdict, seen.rate_unit) == ("valid", "genomes/h")
    assert seen.rate == pytest.approx(rate)
    for stage in ("call", JOINT):
        assert run.metric(case, "recall", scope=f"stage:{stage}") == pytest.approx(95.0)
        assert run.metric(case, "precision", scope=f"stage:{stage}") == pytest.approx(
            98.9583, abs=1e-3
        )


def test_a_load_has_a_rate_and_no_recall(run: Analysed) -> None:
    assert run.verdict("loaded") == ("valid", "")
    scope = f"stage:{LOAD}"
    loads_s = 2 * 2.0
    assert run.metric("loaded", "load_rate", scope=scope) == pytest.approx(2 * 1500 / loads_s)
    core_s = sum(of(run.truths["loaded"], LOAD)) / 4
    assert run.metric("loaded", "stage_core", scope=scope) == pytest.approx(core_s, abs=1e-6)
    assert run.metrics("loaded", "recall", scope=scope).empty
    assert run.metrics("two_nodes", "load_rate").empty


def test_troubled_trials_are_not(run: Analysed) -> None:
    verdict, reasons = run.verdict("miscounted")
    assert verdict == "invalid" and "differs from its work by" in reasons
    verdict, reasons = run.verdict("unfinished")
    assert verdict == "invalid" and "only 75.0% of the requested work was done" in reasons
    verdict, reasons = run.verdict("failed")
    assert verdict == "invalid" and "only 5.0 % of the planted variants" in reasons


def test_the_report_draws_stages_and_the_curve(run: Analysed) -> None:
    page = (run.root / "report" / "index.html").read_text()
    for text in ("Core-seconds of one genome, by stage", "Core time per base", "Test genomes per hour",
                 "length of the reference, Mb", "a lower bound for a human genome"):  # fmt: skip
        assert text in page, text


def test_its_rates_are_points_of_a_capacity_model(run: Analysed) -> None:
    rates = [point for point in run_points(run.root) if point.quantity == "rate"]
    assert {point.unit for point in rates} == {"genomes/h"}
    assert len(rates) == 5


def test_a_profile_has_the_costs_of_the_largest_genome_and_the_growth_beyond(run: Analysed) -> None:
    profile = measured_profile(run.root)
    assert [stage.name for stage in profile.stages] == [*STAGES, LOAD]
    assert profile.stages[0].after == () and profile.stages[4].after == (JOINT,)
    large = [run.truths[case] for case in ("large", "two_nodes")]
    for stage in profile.stages[:3]:
        per_base = sorted(
            core_s / 10_000_000 for truth in large for core_s in of(truth, stage.name)
        )
        middle = (per_base[3] + per_base[4]) / 2
        hours = stage.core_hours
        assert hours is not None and hours.value == pytest.approx(middle * READ_BASES / 3600)
        # cost per base grows as the fourth root of the size, from 1 Mb to 3100 Mb
        grown = hours.value * (HUMAN_BASES / 1e6) ** 0.25
        assert hours.high == pytest.approx(grown, rel=0.5)
        assert "1 Mb at 10x" in hours.source
        assert stage.demands["hdfs_read"].value == pytest.approx(3 * READ_BASES / 1e7)
    align = profile.stages[0]
    assert align.core_hours is not None and "a lower bound" in align.core_hours.source
    assert align.ram_gib is not None and 5 < align.ram_gib.value < 6  # above all the index


def test_the_share_of_a_cohort_is_that_of_its_genomes(run: Analysed) -> None:
    joint = next(stage for stage in measured_profile(run.root).stages if stage.name == JOINT)
    rows = [
        (one.core_s / (4 if case == "large" else 2)) / 10_000_000
        for case in ("large", "two_nodes")
        for one in run.truths[case].stages
        if one.genome == COHORT
    ]
    assert joint.core_hours is not None
    assert joint.core_hours.value == pytest.approx(sorted(rows)[1] * READ_BASES / 3600)


def test_the_cost_of_a_load_is_that_of_its_rows(run: Analysed) -> None:
    load = measured_profile(run.root).stages[-1]
    one, other = (core_s / 1500 for core_s in of(run.truths["loaded"], LOAD))
    assert load.core_hours is not None
    assert load.core_hours.value == pytest.approx((one + other) / 2 * 4_300_000 / 3600)
    assert "2 loads of 1,500 variants" in load.core_hours.source


def test_every_stage_is_compared_with_the_shipped_one(run: Analysed) -> None:
    found = {one.stage: one for one in differences(measured_profile(run.root))}
    pairs = {name: one.shipped.name if one.shipped else None for name, one in found.items()}
    assert pairs == {"align": "align", "sort-markdup": "sort-markdup", "call": "haplotypecaller",
                     JOINT: "genotype", "bqsr": "bqsr", LOAD: "load"}  # fmt: skip
    assert found["bqsr"].measured is None and "not part" in found["bqsr"].note
    assert "lower bound" in found["align"].note


def test_a_run_without_a_pipeline_is_refused(tmp_path: Path, world: Analysed) -> None:
    from density_study.cluster.model.errors import InputError

    with pytest.raises(InputError, match="no valid trial of a pipeline"):
        measured_profile(world.root)
