"""`Question`: two variants and a rule, not yet decided, and the obstacles to deciding it.

`Rule`: the range in which a ratio must lie for a statement to hold, fixed before the data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import log, sqrt
from typing import Literal

from density_study.analysis.findings.variants import Points
from density_study.analysis.statistics.interval import Interval, mean_interval
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.sequential import sequence_mean
from density_study.analysis.summary.summary import Hindrance, StandIn, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.factors.vms_per_host import VMS_PER_HOST

Cell = tuple[str, str]
"""A test case on a variant: (test case, topology)."""
IntervalOf = Callable[[Sequence[float]], Interval]
Differences = Callable[[TestCaseSummary, TestCaseSummary], tuple[str, ...]]

WANTED_RATIO = 1.2
"""Ratio that power is computed for where neither the rule nor the study names one: the talk's gain per VM."""
STAND_INS: Mapping[StandIn, str] = {
    "process-groups": "process groups support no claim about VMs",
    "emulated-guests": "the VMs ran without KVM (emulated), which supports no claim about VMs",
    "emulated-disk": "the disk type is emulated, which supports no claim",
}
"""Obstacles that other variants would not have."""
UNDEFINED = "a value is zero, so the ratio is undefined"
UNEQUAL_HOSTS = "the variants use hosts that differ"
NO_READ_AHEAD = "DataNodes on HDDs ran without libhadoop and did not read ahead"


@dataclass(frozen=True)
class Rule:
    """The ratio lies above `low` and below `high`; one may be None. With both, it is an equivalence.
    expected: the ratio that a plan computes its power for; None: see `planned`."""

    low: float | None = None
    high: float | None = None
    expected: float | None = None

    def __post_init__(self) -> None:
        """ValueError for a bound that every ratio, or none, satisfies: comparisons take its logarithm."""
        given = [bound for bound in (self.low, self.high) if bound is not None]
        if not given or min(given) <= 0:
            raise ValueError(f"{self}: a rule needs a bound, and bounds of a ratio are above 0")

    @property
    def logs(self) -> tuple[float | None, float | None]:
        """Natural logarithms of both bounds."""
        return self.low and log(self.low), self.high and log(self.high)

    def holds(self, ratio: float) -> bool:
        """Whether `ratio` lies inside."""
        above = self.low is None or ratio > self.low
        return above and (self.high is None or ratio < self.high)

    def nearest(self, ratio: float) -> float:
        """The bound to test `ratio` against: for a ratio outside the range, the one it exceeds."""
        if self.low is None or (self.high is not None and ratio >= self.high):
            assert self.high is not None
            return self.high
        return self.low

    def planned(self, effect: float) -> float:
        """The ratio that a plan computes its power for: `expected`; else the middle of two bounds; else no
        difference, if that satisfies the rule; else `effect` times beyond the bound."""
        if self.expected is not None:
            return self.expected
        if self.low is not None and self.high is not None:
            return sqrt(self.low * self.high)
        if self.holds(1.0):
            return 1.0
        return (self.low or 1.0) * effect if self.high is None else self.high / effect

    @property
    def effect(self) -> float | None:
        """The ratio that plans want to find; None if the rule expects no difference."""
        planned = self.planned(WANTED_RATIO)
        is_named = self.expected is not None or not self.holds(1.0)
        return planned if is_named and planned != 1.0 else None

    @property
    def words(self) -> str:
        """'above 1.5', 'below 0.9', '0.8 to 1.25'."""
        if self.low is None:
            return f"below {self.high:g}"
        return f"above {self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"


def interval_of(sequential: bool, looks: Looks | None) -> IntervalOf:
    """The function that computes the interval of a variant's mean: for repetitions that end by looks, by a
    confidence sequence (`sequential`), or at a fixed number."""
    if looks:
        return partial(mean_interval, confidence=looks.confidence(looks.first))
    return sequence_mean if sequential else mean_interval


EXPECTED = "expect-"
"""Begins the families of a study's own hypotheses."""
RISES = Rule(low=1.0)
FALLS = Rule(high=1.0)
SIMILAR = Rule(0.8, 1.25)  # method 2's margins of equivalence


def stand_in(obstacles: Collection[str]) -> StandIn | None:
    """The obstacle that other variants would not have, if there is one."""
    return next((one for one, words in STAND_INS.items() if words in obstacles), None)


@dataclass(frozen=True)
class Evidence:
    """The input of all findings."""

    test_cases: tuple[TestCaseSummary, ...]
    repetitions: int
    isolation: Isolation
    emulated: frozenset[str] = frozenset()
    """Disk types that an I/O limit or memory emulates."""
    emulated_guests: bool = False
    """VMs ran without hardware virtualization."""
    differences: Differences = lambda _first, _later: ()
    """How the disclosures of two variants differ beyond what the study declares (method 23)."""
    declared: Differences = lambda _first, _later: ()
    """How two variants differ by what the study declares."""
    confounds: Differences = lambda _first, _later: ()
    """Versions in which the existing clusters of two variants differ, besides density and disk type."""
    unequal: Differences = lambda _first, _later: ()
    """Facts in which hosts of one variant differ from hosts that it does not share with the other."""
    sequential: bool = False
    """The repetitions ended when the answer was precise enough."""
    looks: Looks | None = None
    """When the questions are looked at, if the repetitions of each end with its answer."""
    ran: Mapping[Cell, int] = field(default_factory=dict)
    """In how many repetitions each test case of a variant was to run; empty: in all."""
    bounds: frozenset[Cell] = frozenset()
    """Searches that ended before their answer and a rejected load were one step apart."""
    without_read_ahead: frozenset[str] = frozenset()
    """Topologies whose DataNodes do not read ahead from HDDs."""
    of_others: bool = False
    """Others built the clusters: how their memory is divided is unknown."""

    @property
    def interval(self) -> IntervalOf:
        """What computes the interval of a variant's mean."""
        return interval_of(self.sequential, self.looks)

    def blocks(self, entry: TestCaseSummary) -> int:
        """The number of repetitions in which this test case was to run."""
        return self.ran.get((entry.test_case, entry.topology), self.repetitions)

    def in_blocks(self, question: Question) -> Question:
        """The question with the points of those repetitions in which all of its test cases ran."""
        if not self.ran or not question.cells:
            return question
        counts = [self.ran.get(cell, self.repetitions) for cell in question.cells]
        half = (
            len(counts) // 2
        )  # the first variant's cells, then the later variant's; a level has one variant
        whole = tuple(min(part) for part in (counts[:half], counts[half:]) if part)
        variants = (question.first, question.later) if half else (question.later,)
        if tuple(map(len, variants)) == whole:
            return question.up_to(min(counts))
        return replace(question, blocks=max(counts))  # a variant lost a build

    def about_vms(self, *variants: TestCaseSummary) -> tuple[str, ...]:
        """Why these variants support no claim about VMs (method 24)."""
        nodes = self.isolation.facts
        if nodes.stand_in and not nodes.only_stands_in:
            return (f"{nodes.noun}s support no claim about VMs",)
        return self.about_density(*variants)

    def about_density(self, *variants: TestCaseSummary) -> tuple[str, ...]:
        """Why these variants support no claim about what the nodes are: VMs or containers."""
        if self.isolation.facts.only_stands_in:
            return (STAND_INS["process-groups"],)
        if self.emulated_guests:
            return (STAND_INS["emulated-guests"],)
        return self.about_disk_types(*variants)

    def about_disk_types(self, *variants: TestCaseSummary) -> tuple[str, ...]:
        """Why these variants support no claim about disks (method 24)."""
        if any(variant.disk_type in self.emulated for variant in variants):
            return (STAND_INS["emulated-disk"],)
        if any(variant.topology in self.without_read_ahead for variant in variants):
            return (NO_READ_AHEAD,)
        if len(variants) == 2 and (versions := self.confounds(*variants)):
            return (f"the clusters differ in more than that: {', '.join(versions)}",)
        for name, level in (pair for variant in variants for pair in variant.levels.items()):
            if name in factors() and (why := factors()[name].obstacle(level)):
                return (why,)
        return self.about_unknown(*variants)

    def about_unknown(self, *variants: TestCaseSummary) -> tuple[str, ...]:
        """Why these variants support no claim whatever they differ in: nobody recorded what their checks
        need, or they use unequal hosts."""
        if any(variant.n_unknown for variant in variants):
            return ("a variant has trials whose verdict is unknown, which support no claim",)
        if len(variants) == 2 and (facts := self.unequal(*variants)):
            return (f"{UNEQUAL_HOSTS}: {'; '.join(facts)}",)
        return ()

    def about_searches(self, *variants: TestCaseSummary) -> tuple[str, ...]:
        """Why the rates of these variants support no claim: a lower bound has no ratio to compare."""
        if any((variant.test_case, variant.topology) in self.bounds for variant in variants):
            return ("a search used up its probes, so its answer is a lower bound",)
        return ()

    def density(self, vms_per_host: int) -> str:
        """'2 VMs per host', '1 worker per host', 'the bare host'."""
        return VMS_PER_HOST.words(vms_per_host, self.noun)

    @property
    def noun(self) -> str:
        """What a node is called."""
        return self.isolation.facts.noun


@dataclass(frozen=True)
class Question:
    """Does the ratio of `later` over `first` satisfy the rule?

    With a `reference`, the ratio is `later` over that number, which has the unit of the points.
    part: the inequality of a claim that this is.
    main: it belongs to a question of the study, and is tested; the others are only measured.
    cells: (test case, topology) of each test case whose points it uses. blocks: the repetitions in which all
    of them ran; None: every one.
    obstacles: why it cannot support a claim; its effect is shown nevertheless.
    refused: in what the variants' disclosures differ, so that they are not comparable; no effect is shown.
    withheld: why the points are no comparison; no effect is shown.
    declared: the differences between the variants that the study declares.
    """

    id: str
    family: str
    subject: str
    measure: str
    variants: str
    rule: Rule
    first: Points
    later: Points
    among: str | None = None
    unit: Literal["build", "trial"] = "build"
    part: str | None = None
    reference: float | None = None
    obstacles: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    main: bool = True
    cells: tuple[Cell, ...] = ()
    blocks: int | None = None

    @property
    def name(self) -> str:
        """As `questions:` of a study names it: C5, best-density, stack-rate, or the name in `expect`."""
        return self.family.removeprefix(EXPECTED)

    @property
    def sides(self) -> tuple[Points, ...]:
        """The points of its variants: of one, if that is compared with a number."""
        return (self.later,) if self.reference else (self.first, self.later)

    def up_to(self, blocks: int) -> Question:
        """The question with only the points of the first `blocks` repetitions."""
        return replace(self, first=self.first[:blocks], later=self.later[:blocks], blocks=blocks)

    @property
    def hindrance(self) -> Hindrance:
        """What forbids a claim, whatever its numbers."""
        if self.refused or self.withheld:
            return "incomparable"
        return "obstacle" if self.obstacles else "none"

    @property
    def stand_in(self) -> StandIn | None:
        """What its variants have in place of VMs or of the disk type."""
        return stand_in(self.obstacles)

    @property
    def statement(self) -> str:
        among = f", {self.among}" if self.among else ""
        return f"{self.subject}{among}: {self.measure}, {self.variants}"


@dataclass(frozen=True)
class FindingKind:
    """What another package compares; an entry point of the group `density_study.findings` names it."""

    questions: Callable[[Evidence], Iterable[Question]]
