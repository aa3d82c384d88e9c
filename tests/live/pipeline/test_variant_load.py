"""Called variants in the HBase of a study's own cluster: every row equals the VCF, and one that does not
makes its trial fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.measured import differences, measured_profile
from density_study.analysis.comparison.history import read_summary
from density_study.jobs import pipeline
from density_study.jobs.first_look.look import first_look
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run
from density_study.workloads.pipeline import workload
from density_study.workloads.pipeline.machine.files import COHORT, JOINT, LOAD
from density_study.workloads.pipeline.machine.stages import DISTINCT_CALLS
from density_study.workloads.pipeline.output.answers import Answer, parse_answers
from density_study.workloads.pipeline.output.stages import StageUse, parse_stages
from density_study.workloads.pipeline.test_case import PipelineTestCase
from density_study.workloads.pipeline.variant_table import TABLE
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.table_tool import table_tool
from tests.live.support.command import left_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(390)]

SPEC = Path(__file__).with_name("variant_load.yaml")
NAMES = ("--table", TABLE, "--family", "f")
Rows = dict[str, dict[str, str]]
"""Genotype by sample, by key."""


@dataclass
class Seen:
    """Of one trial: variants of its VCF files, read by hand, and the table after its load."""

    trial: str
    called: Rows = field(default_factory=dict)
    stored: Rows = field(default_factory=dict)
    counted: int = -1


@dataclass
class Done:
    run: Run
    seen: list[Seen]
    outcomes: list[str]

    def manifest(self, trial: str) -> Manifest:
        return closed_records(self.run.records)[trial]


def variants(vcf: Path) -> Rows:
    rows: Rows = {}
    for line in vcf.read_text().splitlines():
        cells = line.split("\t")
        if line.startswith("#CHROM"):
            samples = cells[9:]
        elif not line.startswith("#"):
            key = f"{cells[0]}:{cells[1].zfill(10)}:{cells[3]}:{cells[4]}"
            genotypes = (cell.split(":")[0] for cell in cells[9:])
            rows[key] = dict(zip(samples, genotypes, strict=True))
    return rows


def look(context: TrialContext, test_case: PipelineTestCase, scratch: Path, change: bool) -> Seen:
    """What the nodes called and the table has; `change`: then one genotype is another one."""
    trial = context.record.root.name.removesuffix(".open")
    seen, dump = Seen(trial), scratch / f"{test_case.id}.tsv"
    for node, _ in test_case.numbers(context.cluster.topology):
        vcf = Path(workload._folder(context, node)) / test_case.data_set / DISTINCT_CALLS
        for key, genotypes in variants(vcf).items():
            seen.called.setdefault(key, {}).update(genotypes)
        last = vcf
    samples = "g001,g002,g003,g004"
    counted, _ = table_tool(
        context, "look", ("count", "--table", TABLE),
        ("dump-variants", *NAMES, "--samples", samples, "--output", str(dump)),
    )  # fmt: skip
    seen.counted = counted["rows"]
    for line in dump.read_text().splitlines():
        key, *cells = line.split("\t")
        seen.stored[key] = dict(cell.split("=") for cell in cells)
    if change:
        *head, row = last.read_text().splitlines(keepends=True)
        other = scratch / "other.vcf"
        other.write_text("".join(line for line in head if line[0] == "#") + changed(row))
        table_tool(context, "change", ("load-variants", *NAMES, "--vcf", str(other)))
    return seen


def changed(row: str) -> str:
    cells = row.split("\t")
    cells[9] = "1|0"
    return "\t".join(cells)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    runs, seen, collect = tmp_path_factory.mktemp("runs"), [], workload.PipelineWorkload.collect

    def looking(
        self: workload.PipelineWorkload,
        context: TrialContext,
        test_case: PipelineTestCase,
        prepared: Prepared,
    ) -> Collected:
        seen.append(look(context, test_case, runs, change=len(seen) == 1))
        return collect(self, context, test_case, prepared)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENSITY_STUDY_RUNTIME", str(runs / ".runtime"))
        patch.setattr(workload.PipelineWorkload, "collect", looking)
        run = open_run(SPEC, runs)
        try:
            outcomes = [carry_out(run, step).outcome for step in run.plan.steps]
            yield Done(run, seen, outcomes)
        finally:
            close_run(run)
            end_run(run, "ok")


def rows_of(done: Done, trial: str) -> list[StageUse]:
    files = sorted((done.run.records / trial / "raw").glob("pipeline-w?.csv"))
    rows = [row for file in files for row in parse_stages(file.read_bytes(), file.name).rows]
    return [row for row in rows if row.stage == LOAD]


def answers_of(done: Done, trial: str) -> list[Answer]:
    files = sorted((done.run.records / trial / "raw").glob("pipeline-w?-answers.csv"))
    rows = [row for file in files for row in parse_answers(file.read_bytes(), file.name).rows]
    return [row for row in rows if row.stage == LOAD]


def test_rows_of_the_table_are_the_variants_of_the_vcf(done: Done) -> None:
    assert len(done.seen) == 2
    for seen in done.seen:
        assert len(seen.called) > 100
        assert seen.stored == seen.called
        assert seen.counted == len(seen.called)
    first, second = (set(seen.called) for seen in done.seen)
    assert first - second, "else it would not show that the second trial began with an empty table"


def test_a_row_that_is_not_what_was_called_fails_its_trial(done: Done) -> None:
    first, second = (done.manifest(seen.trial) for seen in done.seen)
    assert (first.state, first.reasons) == ("complete", ())
    assert second.state == "failed"
    assert any("are not in the store as they were called" in one for one in second.reasons)
    trial = done.seen[1].trial
    assert first_look(done.run.records / trial).verdict == "invalid"
    for answer in answers_of(done, trial):
        wrong = answer.node == "w2"
        assert answer.found == answer.planted - wrong and answer.called == answer.planted


def test_each_node_loads_its_own_genomes_in_a_jvm(done: Done) -> None:
    trial = done.seen[0].trial
    rows = rows_of(done, trial)
    assert [(row.node, row.genome, row.exit_code, row.tasks) for row in rows] == [
        ("w1", COHORT, 0, 1), ("w2", COHORT, 0, 1),
    ]  # fmt: skip
    size = len(done.seen[0].called) * 50
    for row in rows:
        assert row.core_s > 0.5 and 50_000 < row.peak_kib < 1_000_000, row
        assert row.read_bytes and row.written_bytes and row.written_bytes > size / 2, row
    called = sum(answer.planted for answer in answers_of(done, trial))
    assert called >= len(done.seen[0].called)


def test_it_becomes_a_stage_of_the_report_and_of_a_profile(done: Done) -> None:
    trial = done.seen[0].trial
    looked = first_look(done.run.records / trial)
    assert looked.verdict == "valid", looked
    pipeline.analyse(done.run.root)
    summary = read_summary(done.run.root)
    assert sorted(one.verdict for one in summary.trials) == ["invalid", "valid"]
    seen = {
        metric.name: metric.value
        for test_case in summary.test_cases
        for metric in test_case.metrics
        if metric.scope == f"stage:{LOAD}" and metric.value is not None
    }
    rows = rows_of(done, trial)
    assert seen["stage_core"] == pytest.approx(sum(row.core_s for row in rows) / 4, rel=1e-3)
    load_s = sum(row.end_epoch_s - row.start_epoch_s for row in rows)
    stored = sum(answer.found for answer in answers_of(done, trial))
    assert seen["load_rate"] == pytest.approx(stored / load_s, rel=1e-3)
    assert "recall" not in seen
    profile = measured_profile(done.run.root)
    load = profile.stages[-1]
    assert (load.name, load.after) == (LOAD, (JOINT,))
    assert load.core_hours is not None and load.core_hours.tag == "measured"
    (compared,) = (one for one in differences(profile) if one.stage == LOAD)
    assert compared.shipped is not None and compared.shipped.name == "load"


def test_nothing_of_the_build_is_left(done: Done) -> None:
    assert done.outcomes[0] == done.outcomes[-1] == "ok"
    assert left_of(done.run.root) == []
