"""`Summary`: the numbers of one run, as summary.json holds them and the report draws them.

`study schema summary` prints the JSON schema. Every number carries its unit.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from density_study.analysis.capacity.plan.plan import PlanOrExcuse
from density_study.analysis.summary.series import TrialSeries
from density_study.analysis.summary.why import Bottleneck, Explanation, TrialCause
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.providers.simulated import is_rehearsal, refused
from density_study.workloads.base.search import Probe
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import Level
from density_study.workloads.study.metrics import known_metric, metric_kinds
from density_study.workloads.study.registry import kind_of

FORMAT: Literal[4] = 4
VerdictName = Literal["valid", "invalid", "unknown"]
FindingVerdict = Literal["confirmed", "refuted", "inconclusive", "measured"]
Hindrance = Literal["none", "incomparable", "missing", "obstacle", "unknown"]
StandIn = Literal["process-groups", "emulated-guests", "emulated-disk"]


def verdict_words(verdict: FindingVerdict) -> str:
    """What people read of a verdict: a rule that nobody stated before cannot be confirmed."""
    return "measured, not tested" if verdict == "measured" else verdict


MISSES = (
    "Comparisons that no question of the study asks for are measured, not tested: one in twenty of their "
    "intervals misses, and more of those that look largest."
)
MetricName = Annotated[str, AfterValidator(known_metric)]
"""For any metric that a workload or another package declares: `workloads.study.metrics`."""
UNKNOWN_DISK_TYPE = "unknown"


def unknown_first(level: int | None) -> tuple[bool, int]:
    """The key by which levels ascend, with an unknown one before all others."""
    return level is not None, level or 0


class Metric(Frozen):
    """One number, identified by its name and, where they apply, operation to scope."""

    name: MetricName
    value: float | None = Field(
        description="null where it could not be computed; never zero instead"
    )
    unit: str
    operation: str | None = Field(None, description="READ, INSERT, SCAN, ... for latency")
    latency_kind: Literal["closed-loop", "intended"] | None = None
    percentile: float | None = None
    scope: str | None = Field(
        None,
        description="for cpu and disk: host:<name>, node:<name>, client, client:<name>; part:<number>; "
        "stage:<name> of a pipeline",
    )
    n: int = Field(
        1,
        description="number of units behind the value: trials of a test case, builds of a topology",
    )
    points: tuple[float, ...] = Field((), description="the value of each unit, in repetition order")
    low: float | None = Field(
        None, description="lower end of the interval; null with too few units"
    )
    high: float | None = None

    @model_validator(mode="after")
    def _declared_unit(self) -> Metric:
        declared = metric_kinds()[self.name]
        if not declared.has_unit(self.unit):
            raise ValueError(f"{self.name} is in {declared.unit}, not in {self.unit}")
        return self


class TrialSummary(Frozen):
    trial: str
    order: int
    repetition: int
    build: str
    topology: str
    vms_per_host: int | None = Field(description="null: unknown")
    disk_type: str = Field(description="flash, hdd or unknown")
    test_case: str
    workload: str
    state: Literal["complete", "failed", "incomplete"]
    verdict: VerdictName
    reasons: tuple[str, ...]
    counted: bool = Field(
        True,
        description="whether the numbers of test cases include it: a valid trial, or an imported one "
        "whose verdict is unknown only because nobody recorded a fact",
    )
    measure_s: float | None
    metrics: tuple[Metric, ...]
    warm_up_s: float | None = Field(None, description="cut from the start of the workload's window")
    probe: int | None = Field(None, description="number of the search's probe; null: no search")
    overhead_pair: int | None = Field(
        None, description="pair that measures the monitoring overhead; null: a trial of the study"
    )
    monitored: bool = Field(True, description="whether the monitors ran")

    @property
    def has_warnings(self) -> bool:
        """Whether it is valid and yet flagged."""
        return self.verdict == "valid" and bool(self.reasons)


class MonitoringOverhead(Frozen):
    """Monitoring overhead, from pairs of trials of one test case with and without monitors."""

    device: str | None = Field(
        None, description="device that costs this more than the default monitors; null: all of them"
    )
    test_case: str
    rate: MetricName
    ratio: float | None = Field(
        description="rate with the monitors over rate without, geometric mean; null: no valid pair"
    )
    low: float | None = Field(
        None, description="lower end of the interval; null with fewer than 5 pairs"
    )
    high: float | None = None
    n: int = Field(description="pairs behind the ratio")
    pairs: int = Field(description="pairs tried")
    points: tuple[float, ...] = Field((), description="the ratio of each pair, in order")


class LoadPart(Frozen):
    """Part of a load whose rate changes with time. Seconds count from the end of the ramp-up."""

    name: str
    begin_s: int
    end_s: int


class FlameGraph(Frozen):
    """A profile of a daemon in a trial."""

    trial: str
    source: str = Field(description="daemon: <node>.<daemon>")
    kind: Literal["cpu", "lock"]
    file: str = Field(description="path relative to the report's folder")


class TestCaseSummary(Frozen):
    """One test case on one topology, over its valid trials of all repetitions."""

    topology: str
    vms_per_host: int | None = Field(description="null: unknown")
    regionservers_per_node: int | None = Field(description="null: unknown")
    disk_type: str
    levels: dict[str, str] = Field(
        default_factory=dict,
        description="its levels of the factors store, stack, configuration, tier, network and cluster",
    )
    test_case: str
    workload: str
    label: str = Field(description="for people: 'TestDFSIO random read', 'YCSB 95/5 short scan'")
    n_builds: int
    n_unknown: int = Field(
        0, description="builds among them with a counted trial whose verdict is unknown"
    )
    metrics: tuple[Metric, ...]
    mode: str | None = Field(None, description="TestDFSIO's mode, or YCSB's mix")
    parameters: dict[str, int | float | str | None] = Field(
        default_factory=dict,
        description="what distinguishes it from others of its workload, which declares their names",
    )
    sought: str | None = Field(
        None, description="YCSB: what its probes search for; null: the test case ran as it is"
    )
    target_ops_s: float | None = Field(None, description="YCSB: target rate; null: unthrottled")
    unnamed_knobs: dict[str, str | float] = Field(
        default_factory=dict,
        description="knobs that the id omits, by their key in a study; times in s",
    )
    usd_per_hour: float | None = Field(None, description="price of the topology's hosts")
    phase: str | None = Field(
        None,
        description="YCSB: how the rate changes with time: 'ramp from 10 % to 90 % over 300 s'",
    )
    parts: tuple[LoadPart, ...] = Field(
        (), description="YCSB: its parts; numbers of part 1 have the scope part:0001"
    )
    fault: str | None = Field(
        None, description="YCSB: what was done to the cluster: 'RegionServer killed after 60 s'"
    )
    neighbour: str | None = Field(
        None,
        description="noisy-neighbour trial: what ran on another node of the same host, or nobody",
    )

    @model_validator(mode="after")
    def _declared_parameters(self) -> TestCaseSummary:
        declared = kind_of(self.workload).parameters
        if unknown := self.parameters.keys() - declared:
            raise ValueError(f"{self.workload} declares no parameter {', '.join(sorted(unknown))}")
        return self

    def count(self, parameter: str) -> int | None:
        """A parameter that is a whole number; None: it has none."""
        value = self.parameters.get(parameter)
        return value if isinstance(value, int) else None

    @property
    def density(self) -> int:
        """VMs per host of an entry whose density is known: findings compare no other by it."""
        assert self.vms_per_host is not None, self.topology
        return self.vms_per_host

    def level(self, factor: str) -> Level:
        """The variant's level of any factor."""
        # not getattr: what a model lacks costs it more than all findings of a small report
        level: Level = self.levels.get(factor, self.__dict__.get(factor))
        return level


class Finding(Frozen):
    """A comparison with its verdict. With fewer than 5 units per variant it is never decided."""

    id: str
    statement: str
    verdict: FindingVerdict
    why: str
    hindrance: Hindrance = Field(
        "unknown",
        description="what forbids a claim whatever the numbers. incomparable: the variants differ in what "
        "nobody declared, or lack points; missing: the study lacks them; obstacle: they stand in for others; "
        "unknown: nobody recorded it",
    )
    stand_in: StandIn | None = Field(
        None, description="what its variants have in place of VMs or of the disk type"
    )
    effect: float | None = Field(None, description="ratio, later variant over first")
    low: float | None = None
    high: float | None = None
    excluded: float | None = Field(
        None,
        description="the ratio that it was planned for, if it is undecided and its interval excludes that; "
        "null: it does not, or the plan expected no difference",
    )
    n: tuple[int, ...] = ()
    subject: str | None = Field(None, description="test case concerned: 'YCSB data load'")
    measure: str | None = Field(None, description="what was compared: 'throughput'")
    variants: str | None = Field(
        None, description="the two variants: '2 VMs per host over the bare host'"
    )
    among: str | None = Field(None, description="what both variants have in common: 'flash'")
    declared: tuple[str, ...] = Field(
        (), description="every difference between the variants that the study declares"
    )
    family: str | None = Field(None, description="comparisons of one kind: 'stack-rate', 'C5'")
    question: str | None = Field(
        None,
        description="question of the study that it is part of; null: measured, not tested, or of two runs",
    )
    rule: str | None = Field(
        None, description="required ratio, fixed before the data: 'above 1.25'"
    )
    unit: Literal["build", "trial", "run"] = Field("build", description="what n counts")
    cells: tuple[tuple[str, str], ...] = Field(
        (), description="test case and topology of each number that it uses"
    )
    test: str | None = Field(None, description="null with fewer than 5 units per variant")
    p: float | None = Field(None, description="p-value of the test, unadjusted")
    p_adjusted: float | None = Field(
        None,
        description="adjusted by Holm over all questions of the report; null where variants cannot support "
        "a claim, or no question asks",
    )
    detectable: float | None = Field(
        None,
        description="minimum detectable ratio above 1, at this n and spread, with a power of 80 %",
    )

    @property
    def is_decided(self) -> bool:
        return self.verdict in ("confirmed", "refuted")


class BuildSummary(Frozen):
    build: str
    topology: str
    phases_s: dict[str, float]


class TimeSummary(Frozen):
    """Where the run's wall time went, seconds. null: not finished when this was written."""

    measuring_s: float
    building_s: float
    waiting_s: float
    analysing_s: float | None
    total_s: float | None


WarningCode = Literal[
    "missing-records",
    "measured-again",
    "excluded-trials",
    "flagged-trials",
    "process-nodes",
    "emulated-disk",
    "no-read-ahead",
    "store-for-testing",
    "store-untried",
    "c1-only",
    "container-nodes",
    "few-repetitions",
    "shared-client-host",
    "data-fits-in-memory",
    "short-trials",
    "incomparable-builds",
    "unequal-hosts",
    "monitoring-overhead",
    "oversubscription",
    "imported",
    "existing-cluster",
    "existing-quotas",
    "prometheus",
    "hadoop-client-version",
    "hbase-client-version",
    "unknown-trials",
    "accepted-unknown",
    "no-decisions",
    "no-table-copy",
    "simulated",
]


class SummaryWarning(Frozen):
    """A limit of the run's numbers. Programs read `code` and `subject`, people the two texts."""

    code: WarningCode
    level: Literal["warning", "info"] = Field(
        "warning", description="warning: limits what the run can claim; info: explains a number"
    )
    subject: str | None = Field(None, description="disk type or test case concerned; null: the run")
    message: str
    remedy: str | None = Field(None, description="what to do about it; null: nothing to do")


class ImportSummary(Frozen):
    """Records that others made: what is not known about them. Each count is a number of trials."""

    files: int = Field(description="source files that were read")
    given: dict[str, int] = Field(description="facts that only the map gives")
    unknown: dict[str, int] = Field(description="facts that neither the files nor the map give")
    accepted: dict[str, str] = Field(
        description="checks that the map accepts as unknown, and its reasons"
    )


class ProbeSummary(Probe):
    """One probe of a search, and its trial."""

    trial: str


class SearchSummary(Frozen):
    """A search on one build, with its probes in their order."""

    test_case: str
    topology: str
    build: str
    goal: str = Field(description="for people: 'highest rate with READ p99 <= 20 ms'")
    unit: Literal["ops/s", "threads"]
    limits_ms: dict[str, float] = Field(
        default={}, description="each limited percentile of intended latency: READ p99"
    )
    probes: tuple[ProbeSummary, ...]
    answer: str | None = Field(description="the trial that is the answer; null: none")
    answer_load: float | None = Field(description="the highest load kept")
    rejected_load: float | None = Field(description="the lowest load rejected; null: none was")
    exact: bool = Field(description="whether both are one step apart")
    why: str = Field(description="why the search ended")


class Decided(Frozen):
    """What became of a question of the study."""

    question: str = Field(description="as `questions` of the study names it")
    answer: str
    comparisons: int
    repetitions: int = Field(description="the most in which its test cases were to run")
    power: float = Field(
        description="chance, at least, that all of it is decided rightly, at `noise`"
    )
    noise: float = Field(description="seen between builds of a repetition; else assumed")
    hours: float = Field(
        description="hours of its steps; what it shares with another question counts for both"
    )
    why_not: str | None = Field(description="null: it is decided")
    more_repetitions: int | None = Field(
        description="number of further ones for a power of 80 % at this noise and these ratios; null: it is "
        "decided, or not even 1,000 would"
    )
    more_hours: float | None


class Look(Frozen):
    """One comparison as it stood when the study looked at it after a repetition."""

    comparison: str = Field(description="the finding's statement")
    n: int = Field(description="builds per variant")
    effect: float | None = Field(description="ratio of throughput; null: not known")
    low: float | None = Field(description="lower end of the interval; null with too few builds")
    high: float | None
    precise: Literal["decided", "narrow"] | None = Field(
        description="decided: the whole interval is on one side of the rule's bound; narrow: it is as "
        "narrow as the study wants; null: neither"
    )


class Precision(Frozen):
    """Repetitions that end once the comparisons of throughput are precise enough, or each question is
    answered."""

    at_least: int
    at_most: int
    until: float | None = Field(
        description="how far an interval may reach from its ratio: 0.05; null: each question ends once it is "
        "answered"
    )
    why: str = Field(description="why the repetitions ended")
    looks: tuple[Look, ...] = Field(
        description="every comparison at each look, in the order of time"
    )


class Summary(Frozen):
    format: Literal[4] = FORMAT
    study: str
    run: str
    question: str | None
    created: str = Field(description="UTC, ISO 8601")
    provider: str
    isolation: Isolation
    repetitions: int
    seed: int
    spec: str = Field(
        "SPEC",
        description="what `study run` takes to extend the run: a shipped study; SPEC: the study's own file",
    )
    headline: str = Field(description="one sentence: the main result, or why there is no claim")
    headline_test_case: str | None = Field(
        None, description="id of the test case that the headline is about; null: no valid number"
    )
    undecided: str | None = Field(
        None, description="what cannot be decided, and what it would take; null: nothing is open"
    )
    warnings: tuple[SummaryWarning, ...]
    test_cases: tuple[TestCaseSummary, ...]
    findings: tuple[Finding, ...]
    searches: tuple[SearchSummary, ...] = ()
    decisions: tuple[Decided, ...] = Field(
        (), description="the study's questions, in its order; empty: it asks none, or has no plan"
    )
    in_turns: bool = Field(
        False, description="whether its variants ran at once, and their clients worked in turns"
    )
    precision: Precision | None = Field(
        None, description="null: the number of repetitions was fixed beforehand"
    )
    noise: str | None = Field(
        None,
        description="what the first repetitions showed of the noise, and what the questions could then "
        "expect; null: the run did not look",
    )
    trials: tuple[TrialSummary, ...]
    builds: tuple[BuildSummary, ...]
    time: TimeSummary
    disclosure: dict[str, Any]
    variants: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="by topology: all by which the study may make it differ, versions and properties "
        "among it",
    )
    imported: ImportSummary | None = Field(
        None, description="how records that others made were read; null: this program made them"
    )
    monitoring_overhead: MonitoringOverhead | None = Field(
        None, description="null: the study has no such pairs (monitor.overhead_trials)"
    )
    device_overheads: tuple[MonitoringOverhead, ...] = Field(
        (), description="the same of each telemetry device (monitor.also)"
    )
    causes: tuple[TrialCause, ...] = Field(
        (), description="causes that are named for trials, in the trials' order, then by rank"
    )
    bottlenecks: tuple[Bottleneck, ...] = Field(
        (), description="what limits each test case on each topology"
    )
    explanations: tuple[Explanation, ...] = Field(
        (), description="what moved between variants beside their rate"
    )
    series: tuple[TrialSeries, ...] = Field(
        (), description="each trial's drill-down, in the trials' order"
    )
    flame_graphs: tuple[FlameGraph, ...] = Field(
        (),
        description="profiles of daemons and clients, in the trials' order; empty: the study has none",
    )
    data_docs: str | None = Field(
        None,
        description="path of Great Expectations' Data Docs, relative to the report; null: none",
    )
    plan: PlanOrExcuse | None = Field(
        None, description="the sizing computed from this run; null: none"
    )

    @property
    def is_rehearsal(self) -> bool:
        """Whether its numbers come from a simulated cluster: nothing in it was measured."""
        return is_rehearsal(self.provider)

    def check_measured(self, where: str) -> None:
        """InputError for a rehearsal. `where`: the file or option that wants measured numbers."""
        if self.is_rehearsal:
            raise refused(where)
