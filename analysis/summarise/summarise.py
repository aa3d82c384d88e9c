"""summary.json: the numbers of a run from its tables, its manifests and its journal."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from density_study.analysis.capacity.plan.plan import plan_beside
from density_study.analysis.explanation.flame_differences import flame_differences
from density_study.analysis.findings import Evidence, findings
from density_study.analysis.findings.answered import path_to_answers, ran
from density_study.analysis.findings.power_of_design import looks_of
from density_study.analysis.findings.precision import compared, path
from density_study.analysis.findings.question import interval_of
from density_study.analysis.findings.question_power import asked_of_plan
from density_study.analysis.summarise import read_series
from density_study.analysis.summarise.analysed_run import AnalysedRun
from density_study.analysis.summarise.decisions import decisions
from density_study.analysis.summarise.entries import (
    case_summaries,
    search_summaries,
    trial_summaries,
)
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summarise.imports import import_summary
from density_study.analysis.summarise.monitoring_overhead import overheads
from density_study.analysis.summarise.rehearsed import simulated_warnings, withheld, would_report
from density_study.analysis.summarise.time_spent import time_spent
from density_study.analysis.summarise.undecided import undecided
from density_study.analysis.summarise.warnings import warnings
from density_study.analysis.summarise.why import between_and_within, trial_causes
from density_study.analysis.summary.disclosure import guests_are_emulated, merge
from density_study.analysis.summary.summary import (
    BuildSummary,
    Finding,
    FlameGraph,
    Precision,
    SearchSummary,
    Summary,
    SummaryWarning,
)
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.isolation import Isolation, isolation_of
from density_study.cluster.state.atomic import write_text
from density_study.cluster.state.events import Event, NoiseMeasured, QuestionsLeft, RepetitionsEnded
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.own_runs import STUDY
from density_study.workloads import tables
from density_study.workloads.execution.run import as_replanned, spared_trials, spec_of, study_of
from density_study.workloads.planning.plan import Plan, read_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import earlier_attempts
from density_study.workloads.record.recorded import RecordedTopology, is_joined
from density_study.workloads.rows.raw.manifest_rows import manifests_of
from density_study.workloads.study.hypotheses import Hypotheses, read_hypotheses
from density_study.workloads.study.rules.duet import KEY as DUET
from density_study.workloads.tables.store import read_table
from density_study.workloads.ycsb.copies.not_copied import uncopied_words

SUMMARY = "summary.json"
_FLAME_GRAPH = re.compile(r"monitor/[\w.-]+?\.profile\.([\w.-]+)\.(cpu|lock)\.html")
DATA_DOCS = "data_docs/index.html"  # Great Expectations' pages, beside the report


def write_summary(run_root: Path, data: Path | None = None) -> Summary:
    """Summarise the run and write report/summary.json, whole or not at all; differential flame graphs
    beside it."""
    summary = summarise(run_root, time.time(), data)
    if summary.explanations:
        drawn = tuple(flame_differences(run_root, manifests_of(data or run_root), summary))
        summary = summary.model_copy(update={"flame_graphs": (*summary.flame_graphs, *drawn)})
    write_text(run_root / "report" / SUMMARY, summary.model_dump_json(indent=2) + "\n")
    return summary


def summarise(run_root: Path, now_s: float, data: Path | None = None) -> Summary:
    """The summary of an analysed run, as of `now_s` (epoch). StudyError if a table is missing.

    data: the folder with its records and tables, if that is not `run_root`.
    """
    at = data or run_root
    run = AnalysedRun.read(at)
    journal = Journal(run_root / JOURNAL)
    plan = _plan(run_root, journal)
    spared = spared_trials(journal)
    first, built, spec = run.manifests[0], tuple(run.topologies.values()), _spec(run_root)
    isolation = isolation_of(topology.isolation for topology in built)
    divided = next(topology for topology in built if topology.isolation == isolation)
    trials = trial_summaries(run)
    costs = overheads(run.trials, run.verdicts, run.metrics)
    imported = import_summary(run.manifests)
    sought = search_summaries(run)
    knobs = knobs_of(run_root, plan, run.manifests)
    evidence = _evidence(run, plan, spared, isolation, sought, knobs)
    earlier = earlier_attempts(run_root / "records")
    asked = hypotheses_of(run_root, plan)
    decided = findings(evidence, asked)
    simulated = simulated_warnings(str(divided.provider), run.disclosures.values())
    found = withheld(decided) if simulated else decided
    between, within = between_and_within(run, at, evidence.test_cases)
    answer = headline(evidence, len(trials), decided, any(map(is_joined, built)))
    events, planned = journal.events(Event), (one.trial for one in (plan.trials if plan else ()))
    needed = [trial for trial in planned if trial and trial not in spared]
    limits = (
        *simulated,
        *warnings(run, trials, needed, costs, earlier, imported, uncopied_words(events)),
    )
    spent = time_spent(
        events,
        sum(m.times_s.get("measure", 0.0) for m in chain(run.manifests, *earlier.values())),
        now_s,
    )
    summary = Summary(
        study=first.study,
        run=first.run,
        question=asked.question,
        created=datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        provider=str(divided.provider),
        isolation=divided.isolation,
        repetitions=run.repetitions,
        seed=first.seed,
        spec=spec,
        headline=would_report(answer.text) if simulated else answer.text,
        headline_test_case=answer.test_case,
        undecided=undecided(decided, evidence, limits, spent.total_s, spec),
        warnings=limits,
        test_cases=evidence.test_cases,
        findings=found,
        searches=sought,
        in_turns=DUET in knobs,
        precision=_precision(plan, journal, evidence, asked),
        noise=measured.words if (measured := journal.last(NoiseMeasured)) else None,
        trials=trials,
        builds=_builds(at),
        time=spent,
        disclosure=merge(run.disclosures),
        variants=run.variants,
        imported=imported,
        causes=tuple(trial_causes(at, [trial.trial for trial in trials])),
        bottlenecks=within,
        explanations=between,
        series=read_series.trial_series(at, [trial.trial for trial in trials]),
        flame_graphs=tuple(_flame_graphs(run.manifests)),
        data_docs=DATA_DOCS if (run_root / "report" / DATA_DOCS).is_file() else None,
        monitoring_overhead=next((cost for cost in costs if cost.device is None), None),
        device_overheads=tuple(cost for cost in costs if cost.device is not None),
        plan=plan_beside(run_root),
    )
    return _with_decisions(run_root, plan, summary, decided)


def _evidence(
    run: AnalysedRun,
    plan: Plan | None,
    spared: Collection[str],
    isolation: Isolation,
    searches: Sequence[SearchSummary],
    knobs: Mapping[str, str | float],
) -> Evidence:
    looks = looks_of(plan) if plan else None
    sequential = plan is not None and plan.precise is not None and looks is None
    entries = case_summaries(run, interval_of(sequential, looks))
    return Evidence(
        tuple(
            one.model_copy(update={"unnamed_knobs": {**one.unnamed_knobs, **knobs}})
            for one in entries
        ),
        run.repetitions,
        isolation,
        run.emulated,
        any(guests_are_emulated(disclosure) for disclosure in run.disclosures.values()),
        run.incomparable_variants,
        run.declared_between,
        run.confounds,
        run.unequal,
        sequential=sequential,
        looks=looks,
        ran=ran(plan, spared, run.repetitions) if plan and looks else {},
        bounds=frozenset((one.test_case, one.topology) for one in searches if not one.exact),
        without_read_ahead=run.without_read_ahead,
        of_others=any(isinstance(one, RecordedTopology) for one in run.topologies.values()),
    )


def _with_decisions(
    root: Path, plan: Plan | None, summary: Summary, found: Sequence[Finding]
) -> Summary:
    """`found`: also of a rehearsal, whose summary withholds them."""
    if plan is None:
        return summary
    as_found = summary.model_copy(update={"findings": found})
    try:
        decided = tuple(decisions(root, study_of(root), plan, as_found))
    except StudyError as error:
        # a study of another version: its findings can be read, its keys cannot
        untold = SummaryWarning(
            code="no-decisions",
            message=f"What became of the study's questions is not in this report: {error.what}",
            remedy="Make the report with the version of this program that ran the study, or restore its "
            f"{STUDY}.",
        )
        return summary.model_copy(update={"warnings": (*summary.warnings, untold)})
    return summary.model_copy(update={"decisions": decided})


def _spec(run_root: Path) -> str:
    """As in `Summary`. A report is mailed, and two copies of a run have the same one: no path of a file."""
    found = spec_of(run_root)
    return "SPEC" if Path(found).is_relative_to(run_root) else found


def _flame_graphs(manifests: Sequence[Manifest]) -> Iterator[FlameGraph]:
    """Yields the flame graphs of our own records. A page that others made is not linked."""
    for manifest in manifests:
        names = [name for monitor in manifest.monitors for name in monitor.files]
        for match in filter(
            None, map(_FLAME_GRAPH.fullmatch, names if not manifest.imported else ())
        ):
            yield FlameGraph(
                trial=manifest.trial,
                source=match[1],
                kind=match[2],
                file=f"../records/{manifest.trial}/{match[0]}",
            )


def _builds(run_root: Path) -> tuple[BuildSummary, ...]:
    rows = read_table(run_root, tables.BRING_UP)
    return tuple(
        BuildSummary(
            build=str(build),
            topology=phases["topology"].iloc[0],
            phases_s={
                str(phase): float(seconds)
                for phase, seconds in phases.groupby("phase", sort=False)["seconds"].sum().items()
            },
        )
        for build, phases in rows.groupby("build")
    )


def _plan(run_root: Path, journal: Journal) -> Plan | None:
    path = run_root / "plan.json"
    return as_replanned(read_plan(path), journal) if path.exists() else None


def _precision(
    plan: Plan | None, journal: Journal, evidence: Evidence, asked: Hypotheses
) -> Precision | None:
    """None if the repetitions were fixed."""
    if plan is None or plan.precise is None:
        return None
    precise, until = plan.precise, plan.precise.until
    ended = journal.last(RepetitionsEnded)
    have = evidence.repetitions
    why = "the run has not ended its repetitions"
    if ended is not None:
        why = f"after {ended.repetition} repetitions {ended.why}"
    elif have >= precise.last:
        why = f"{have} repetitions are the most that the study allows"
    if until is None:
        why = "; ".join(event.words for event in journal.events(QuestionsLeft)) or why
        looks = path_to_answers(evidence, asked)
    else:
        looks = path(compared(evidence, asked), until)
    return Precision(
        at_least=precise.at_least, at_most=precise.last, until=until, why=why, looks=tuple(looks)
    )


def knobs_of(
    root: Path, plan: Plan | None, manifests: Sequence[Manifest]
) -> dict[str, str | float]:
    """Knobs of all test cases of the run in `root`. Without DUET, its variants took no turns. A rehearsal's
    trials follow each other, so their manifests have none."""
    with suppress(StudyError, OSError):  # a study of another version, or records without one
        return study_of(root).knobs
    in_turns = plan is not None and plan.builds_at_once > 1
    has_turns = in_turns or any(manifest.turns for manifest in manifests)
    return {DUET: "of unknown length"} if has_turns else {}


def hypotheses_of(root: Path, plan: Plan | None) -> Hypotheses:
    """The hypotheses of the run in `root`, with the questions that its plan names where the study declares
    none: a lost build must not change what the report decides. Without a plan, they follow from the data."""
    found = read_hypotheses(root / STUDY)
    if found.questions is not None or plan is None:
        return found
    with suppress(StudyError):  # of another version: its hypotheses can be read, other keys cannot
        return asked_of_plan(study_of(root), plan)
    return found
