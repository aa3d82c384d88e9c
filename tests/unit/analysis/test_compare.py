"""Runs of a study over time: regressions, the tolerance, causes, change points."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from density_study.analysis.comparison.change_points import change_points, splits
from density_study.analysis.comparison.compare import compare
from density_study.analysis.comparison.history import (
    earlier,
    newest,
    read_summary,
    seen_spread,
    spread_within_repetitions,
)
from density_study.analysis.summary.summary import SearchSummary, Summary, TestCaseSummary
from density_study.cluster.model.errors import InputError
from density_study.cluster.render.conf_files import configuration_xml
from density_study.dags.stages.comparison import comparison_lines
from tests.support.made_runs.nightly_runs import nightly, october, run_id, write_run
from tests.support.summary_factory import eight_repetitions
from tests.support.variants import dfsio, noisy, ycsb


def _outcomes(before: Sequence[Summary], after: Summary, tolerance: float = 0.05) -> set[str]:
    return {change.outcome for change in compare(before, after, tolerance, october()).changes}


def test_a_slower_run_is_a_regression_only_beyond_the_tolerance() -> None:
    comparison = compare([nightly(1)], nightly(2, ops_s=80.0), 0.05, october())
    assert [change.outcome for change in comparison.regressions] == ["regression"] * 3
    assert {change.finding.measure for change in comparison.regressions} == {"throughput"}
    assert comparison.headline == "Slower: 3 of 6 numbers are worse by more than 5.0%."
    allowed = compare([nightly(1)], nightly(2, ops_s=80.0), 0.5, october())
    assert not allowed.regressions
    assert {c.outcome for c in allowed.changes if c.finding.family == "rates"} == {"slower"}


def test_a_faster_or_unchanged_run_is_not_a_regression() -> None:
    assert _outcomes([nightly(1)], nightly(2, ops_s=130.0, p99_ms=5.0)) == {"faster"}
    same = compare([nightly(1)], nightly(2), 0.1, october())
    assert {change.outcome for change in same.changes} == {"within tolerance"}
    assert same.headline.startswith("Not slower")


def test_latency_worsens_by_rising() -> None:
    comparison = compare([nightly(1)], nightly(2, p99_ms=20.0), 0.05, october())
    assert {change.finding.measure for change in comparison.regressions} == {"closed-loop READ p99"}


def test_the_unit_of_a_rolling_window_is_the_run() -> None:
    window = [nightly(run, builds=5) for run in range(1, 6)]
    comparison = compare(window, nightly(6, ops_s=85.0, builds=5), 0.05, october(5))
    assert comparison.regressions[0].finding.n == (5, 1)
    assert comparison.regressions[0].finding.unit == "run"
    assert comparison.baseline == tuple(run_id(run) for run in range(1, 6))


def test_with_one_earlier_run_the_night_effect_is_unknown() -> None:
    """Eight builds of one night are one night."""
    comparison = compare([nightly(1)], nightly(2, ops_s=80.0), 0.05)
    assert {change.outcome for change in comparison.changes} == {"inconclusive"}
    assert comparison.changes[0].finding.effect == pytest.approx(0.8, rel=0.05)
    assert "unknown with one earlier run" in comparison.headline
    text = "\n".join(comparison_lines(comparison))
    assert "night    the night effect is unknown" in text
    known = compare([nightly(1)], nightly(2, ops_s=80.0), 0.05, october())
    text = "\n".join(comparison_lines(known))
    assert re.search(
        r"night    rates of a run vary by 0\.\d% beyond .* from 11 earlier runs; a change", text
    )
    assert "--acknowledge" in text


def nights(count: int, spread: float, seed: int) -> list[Summary]:
    """Runs in which nothing changed but the night, which is the same for all test cases."""
    rng = random.Random(seed)
    rates = (100 * math.exp(rng.gauss(0.0, spread)) for _ in range(count))
    return [
        nightly(n, ops_s=rate, p99_ms=1000 / rate).model_copy(
            update={"run": f"2026{n:04d}T020000Z"}
        )
        for n, rate in enumerate(rates, 1)
    ]


def test_a_night_that_lost_builds_is_less_certain() -> None:
    """Its mean varies as one build does, not as those of other nights."""
    earlier_ones = [nightly(n, spread=0.05) for n in range(1, 20)]
    for builds, named in ((8, 3), (1, 0)):
        last = nightly(20, ops_s=85.0, builds=builds, spread=0.05)
        found = compare(earlier_ones[-10:], last, 0.05, earlier_ones)
        assert len(found.regressions) == named


def test_a_night_without_a_test_case_does_not_hide_it_from_the_next_ones() -> None:
    """Nor does a night that measured it in another way."""
    runs = [nightly(n) for n in range(1, 20)]
    (entry, *others) = runs[-2].test_cases
    shorter = entry.model_copy(update={"unnamed_knobs": {"duration": 60.0}})
    last = nightly(20, ops_s=80.0)
    longer = last.test_cases[0].model_copy(update={"unnamed_knobs": {"duration": 600.0}})
    last = last.model_copy(update={"test_cases": (longer, *last.test_cases[1:])})
    for kept in (tuple(others), (shorter, *others)):
        runs[-2] = runs[-2].model_copy(update={"test_cases": kept})
        found = compare(runs[-10:], last, 0.05, runs)
        assert (len(found.regressions), found.not_compared) == (3, ())


def test_a_slow_night_is_no_regression() -> None:
    runs = nights(25, 0.05, 1)
    alarms = [
        bool(compare(runs[at - 5 : at], runs[at], 0.05, runs[:at]).regressions)
        for at in range(8, len(runs))
    ]
    assert sum(alarms) <= 1


def test_a_change_near_the_tolerance_is_no_regression() -> None:
    """The tolerance is what is tested, not whether anything changed at all."""
    found = [
        compare([run], nightly(30, ops_s=95.2), 0.05, october()).regressions
        for run in (nightly(n) for n in range(1, 9))
    ]
    assert sum(map(bool, found)) <= 1


def search_that_ended_early(entry: TestCaseSummary) -> SearchSummary:
    return SearchSummary(
        test_case=entry.test_case, topology=entry.topology, build="b1", goal="g", unit="ops/s", probes=(),
        answer=None, answer_load=None, rejected_load=None, exact=False, why="out of probes",
    )  # fmt: skip


def test_a_lower_bound_of_a_search_is_no_value() -> None:
    runs = [*october(), nightly(1, ops_s=80.0)]
    entry = runs[-1].test_cases[0]
    bound = search_that_ended_early(entry)
    bounded = runs[-1].model_copy(update={"searches": (bound,)})
    assert len(compare(runs[-2:-1], runs[-1], 0.05, runs[:-1]).regressions) == 3
    comparison = compare(runs[-2:-1], bounded, 0.05, runs[:-1])
    assert len(comparison.regressions) == 2
    assert (entry.label, "throughput") not in {
        (change.finding.subject, change.finding.measure) for change in comparison.changes
    }


def test_few_builds_support_no_claim() -> None:
    comparison = compare([nightly(1, builds=1)], nightly(2, ops_s=10.0, builds=1), 0.05)
    assert {change.outcome for change in comparison.changes} == {"inconclusive"}
    assert comparison.changes[0].finding.effect == pytest.approx(0.1, rel=0.1)
    assert comparison.headline.startswith("Undecided")


@pytest.mark.thorough
def test_without_change_at_most_one_of_twenty_comparisons_reports_a_regression() -> None:
    rng, pairs, called = random.Random(1), 80, 0
    for _ in range(pairs):
        seeds = rng.sample(range(10**6), 2)
        before = nightly(1).model_copy(
            update={"test_cases": nightly(seeds[0], spread=0.1).test_cases}
        )
        after = nightly(2).model_copy(
            update={"test_cases": nightly(seeds[1], spread=0.1).test_cases}
        )
        rates = [c for c in compare([before], after, 0.01).changes if c.finding.family == "rates"]
        called += any(change.outcome == "regression" for change in rates)
    assert called / pairs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / pairs)


def test_differences_of_disclosure_are_candidate_causes_except_paths() -> None:
    def disclosed(run: int, kernel: str, heap: str) -> dict[str, object]:
        root = f"/srv{run}/runs/nightly/{run_id(run)}"
        return {
            "machine": {"kernel": kernel, "cores": 2},
            "daemons": {"w1/rs": ["java", heap, f"-Dlog={root}/builds/b1-v1-flash/w1.log"]},
            "differences": {"disks.model": {"old": ["b1-v1-flash"], "new": ["b2-v1-flash"]}},
        }

    before = nightly(1, disclosure=disclosed(1, "Linux 6.1", "-Xmx1g"))
    after = nightly(2, disclosure=disclosed(2, "Linux 6.2", "-Xmx2g"))
    comparison = compare([before], after, 0.05)
    assert comparison.candidate_causes == (
        "daemons.w1/rs: -Xmx1g -> -Xmx2g",
        "machine.kernel: Linux 6.1 -> Linux 6.2",
    )
    same = nightly(2, disclosure=disclosed(2, "Linux 6.1", "-Xmx1g"))
    assert compare([before], same, 0.05).candidate_causes == ()


def test_what_only_one_run_knows_of_its_hosts_is_no_cause() -> None:
    """An earlier version of the program did not look, or looked elsewhere."""

    def run(number: int, **facts: str) -> Summary:
        machine = {"kernel": "6.1", **({} if facts else {"governor": "powersave"})}
        of_hosts = {"facts": {"machine": {"h1": facts}}} if facts else {}
        return nightly(number, disclosure={"machine": machine, **of_hosts})

    old, slow, fast = run(1), run(1, governor="powersave", smt="on"), run(2, governor="performance")
    assert compare([old], fast, 0.05).candidate_causes == ()
    (cause,) = compare([slow], fast, 0.05).candidate_causes
    assert cause == "facts.machine.h1.governor: powersave -> performance"


def test_a_declared_difference_between_runs_is_no_candidate_cause() -> None:
    """A study whose versions and properties were changed between the runs, on a host whose kernel was."""

    def run(number: int, hadoop: str, handlers: str, kernel: str) -> Summary:
        text = configuration_xml({"hbase.handlers": handlers, "hbase.other": str(number)})
        disclosure = {
            "machine": {"kernel": kernel},
            "stacks": {"hadoop": {"version": hadoop}, "java": "17.0.1"},
            "files": {"nodes/w1/hbase-site.xml": {"text": text}},
        }
        declared = {"stack.hadoop": hadoop, "configuration.hbase-site.hbase.handlers": handlers}
        return nightly(number, disclosure=disclosure, variants={"v1-flash": declared})

    upgraded = compare([run(1, "3.4.1", "30", "6.1")], run(2, "3.4.2", "30", "6.2"), 0.05)
    assert upgraded.declared_differences == ("stack.hadoop: 3.4.1 -> 3.4.2",)
    assert upgraded.candidate_causes == ("machine.kernel: 6.1 -> 6.2",)
    tuned = compare([run(1, "3.4.2", "30", "6.1")], run(2, "3.4.2", "60", "6.1"), 0.05)
    assert tuned.declared_differences == ("configuration.hbase-site.hbase.handlers: 30 -> 60",)
    assert tuned.candidate_causes == ("files.nodes/w1/hbase-site.xml.hbase.other: 1 -> 2",)
    text = "\n".join(comparison_lines(upgraded))
    assert "declared          stack.hadoop: 3.4.1 -> 3.4.2" in text
    assert "candidate cause   machine.kernel" in text


def test_test_cases_of_only_one_run_are_named() -> None:
    after = nightly(2)
    fewer = after.model_copy(update={"test_cases": after.test_cases[1:]})
    assert compare([nightly(1)], fewer, 0.05).not_compared == ("ycsb-load-r1000-t8 on v1-flash",)


def test_unequal_durability_of_a_store_is_not_compared() -> None:
    """A store that became faster because it promises less did not become faster."""

    def run(number: int, level: str, ops_s: float) -> Summary:
        return nightly(number, ops_s=ops_s, variants={"v1-flash": {"store.durability": level}})

    equal = compare([run(1, "synced", 100.0)], run(2, "synced", 200.0), 0.05)
    assert equal.changes and equal.not_compared == ()
    unequal = compare([run(1, "synced", 100.0)], run(2, "memory", 200.0), 0.05)
    assert unequal.changes == ()
    assert all(
        one.endswith("(store.durability: synced and memory)") for one in unequal.not_compared
    )
    assert len(unequal.not_compared) > 0


def test_another_file_size_is_another_test_case() -> None:
    """A test case's id does not include them; fields missing in an older summary match."""

    def run(number: int, size_mib: int | None, mib_s: float) -> Summary:
        """Eight builds around the rate; another seed in each run."""
        entry = dfsio("read", mib_s=noisy(mib_s, 8, 0.02, number))
        parameters = {**entry.parameters, "file_size_mib": size_mib}
        extended = entry.model_copy(update={"parameters": parameters})
        return nightly(number, test_cases=(extended,))

    fast = [run(number, 64, 100.0) for number in range(1, 8)]
    same = compare(fast[-1:], run(8, 64, 50.0), 0.05, fast)
    assert (len(same.regressions), same.not_compared) == (1, ())
    other = compare([run(1, 64, 100.0)], run(2, 1024, 50.0), 0.05)
    named = "testdfsio-read-n6 on v1-flash (file_size_mib 64, 1024)"
    assert (other.changes, other.not_compared) == ((), (named,))
    assert other.headline.startswith("Undecided: nothing was compared")
    older = compare([run(7, None, 100.0)], run(8, 64, 50.0), 0.05, fast[:-1])
    assert (len(older.regressions), older.not_compared) == (1, ())
    slow, other_files = ([run(n, size, 50.0) for n in range(8, 15)] for size in (64, 1024))
    assert run_id(8) in [change.run for change in change_points((*fast, *slow))]
    assert change_points((*fast, *other_files)) == ()


@pytest.mark.parametrize(
    ("knob", "before", "after"),
    [("duration", 600.0, 60.0), ("request_distribution", "zipfian", "uniform"),
     ("regions_per_server", 10.0, 3.0)],
)  # fmt: skip
def test_changed_ycsb_knobs_outside_the_id_prevent_comparison(
    knob: str, before: float | str, after: float | str
) -> None:
    def run(number: int, knobs: dict[str, float | str]) -> Summary:
        (entry, *_) = nightly(number, ops_s=50.0 if number == 9 else 100.0).test_cases
        return nightly(number, test_cases=(entry.model_copy(update={"unnamed_knobs": knobs}),))

    other = compare([run(8, {knob: before})], run(9, {knob: after}), 0.05)
    named = f"ycsb-load-r1000-t8 on v1-flash ({knob} "
    assert other.changes == () and other.not_compared[0].startswith(named)
    earlier_ones = [run(number, {}) for number in range(1, 8)]
    same = compare([run(8, {knob: before})], run(9, {knob: before}), 0.05, earlier_ones)
    older = compare([run(8, {})], run(9, {knob: after}), 0.05, earlier_ones)
    assert [len(comparison.regressions) for comparison in (same, older)] == [1, 1]


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, {"duet": 4.0}), ({"duet": 4.0}, {}), ({"duet": 4.0}, {"duet": 8.0}),
     ({"quiet": "no"}, {"quiet": "yes"}),
     ({"monitor.also": "gc"}, {"monitor.also": "gc, jfr"}),
     ({"monitor.also": "jfr, profile"}, {"monitor.also": "jfr"})],
)  # fmt: skip
def test_runs_measured_in_another_way_are_no_basis(
    before: dict[str, float | str], after: dict[str, float | str]
) -> None:
    """Each variant of a duet has half of a host, and rests meanwhile; JVMs take time to record themselves."""

    def run(number: int, knobs: dict[str, float | str]) -> Summary:
        ops_s = 100.0 if knobs == before else 50.0
        (entry, *_) = nightly(number, ops_s=ops_s).test_cases
        return nightly(number, test_cases=(entry.model_copy(update={"unnamed_knobs": knobs}),))

    old = [run(number, before) for number in range(1, 11)]
    changed = compare(old[-5:], run(11, after), 0.05, old)
    assert changed.changes == () and f"({[*after, *before][0]} " in changed.not_compared[0]
    new = [run(number, after) for number in range(11, 15)]
    gone_on = compare([*old[-1:], *new], run(15, after), 0.05, [*old, *new])
    assert {change.outcome for change in gone_on.changes} == {"within tolerance"}
    assert gone_on.change_points == ()


@pytest.mark.parametrize("known", [True, False])
def test_other_sampling_is_named_and_remains_a_basis(known: bool) -> None:
    """Whoever adds a monitor wants to know why the newest run is slower. An earlier version kept no word of
    its monitors, which is no difference."""

    def run(number: int, knobs: dict[str, float | str]) -> Summary:
        (entry, *_) = nightly(number, ops_s=50.0 if number == 11 else 100.0).test_cases
        return nightly(number, test_cases=(entry.model_copy(update={"unnamed_knobs": knobs}),))

    knobs: dict[str, float | str] = {"monitor.period": 1.0, "monitor.also": "none"}
    old = [run(number, knobs if known else {}) for number in range(1, 11)]
    changed = compare(
        old[-5:], run(11, {"monitor.period": 5.0, "monitor.also": "gc, jmx"}), 0.05, old
    )
    assert len(changed.regressions) == 1 and changed.not_compared == ()
    named = ("monitor.also: none -> gc, jmx", "monitor.period: 1 -> 5")
    assert changed.declared_differences == (named if known else ())


def test_strange_studies_a_missing_baseline_and_the_run_itself_are_refused() -> None:
    for before, after, message in (
        ([], nightly(1), "no earlier run"),
        (
            [nightly(1)],
            nightly(2, study="other", test_cases=()),
            "no test case on the same topology",
        ),
        ([nightly(1)], nightly(1), "with itself"),
    ):
        with pytest.raises(InputError, match=message):
            compare(before, after, 0.05)


def test_the_run_where_a_rate_changed_is_found() -> None:
    runs = [nightly(n, ops_s=100.0 if n < 9 else 80.0, builds=3) for n in range(1, 16)]
    changes = compare(runs[-2:-1], runs[-1], 0.05, runs[:-1]).change_points
    assert {point.run for point in changes} == {run_id(9)}
    assert len(changes) == 3
    assert changes[0].ratio == pytest.approx(0.8, rel=0.05)
    assert compare(runs[4:5], runs[5], 0.05, runs[:5]).change_points == ()  # too few runs
    bound = search_that_ended_early(runs[0].test_cases[0])
    bounded = [*runs[:8], *(one.model_copy(update={"searches": (bound,)}) for one in runs[8:])]
    assert len(change_points(bounded)) == 2


def test_changes_are_detected_with_few_false_alarms() -> None:
    rng = np.random.default_rng(3)
    histories, named, missed = 150, 0, 0
    for _ in range(histories):
        quiet = rng.standard_normal(20)
        named += bool(splits([quiet])[0])
        steps = quiet + np.repeat([0.0, 4.0, 8.0], [6, 7, 7])
        missed += [at for at, _ in splits([steps])[0]] != [6, 13]
    assert named / histories <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / histories)
    assert missed / histories < 0.45  # the price of nights that resemble each other
    assert splits([np.ones(20)]) == [[]]


def test_runs_of_two_studies_are_compared_by_what_they_share() -> None:
    """Their ids may be equal: two studies can start in the same second."""
    later = nightly(1, ops_s=80.0, study="upgrade")
    later = later.model_copy(update={"test_cases": later.test_cases[1:]})
    comparison = compare([nightly(1)], later, 0.05)
    assert comparison.baseline == (f"nightly/{run_id(1)}",)
    assert len(comparison.changes) == 4
    assert {change.outcome for change in comparison.changes} == {"inconclusive"}
    assert "the night" in comparison.headline
    assert comparison.not_compared == ("ycsb-load-r1000-t8 on v1-flash",)


def test_the_history_has_the_earlier_runs_of_the_study(tmp_path: Path) -> None:
    roots = [write_run(tmp_path, nightly(run)) for run in (3, 1, 2)]
    assert [entry.run for entry in earlier(roots[0])] == [run_id(1), run_id(2)]
    assert [entry.run for entry in newest((roots[0], *roots[:0:-1]), 2)] == [run_id(2), run_id(3)]
    assert seen_spread(earlier(roots[0])) == pytest.approx(0.02, rel=0.4)
    assert seen_spread([nightly(1, builds=1)]) is None


def test_what_a_repetition_has_in_common_is_no_noise_of_a_pair() -> None:
    night = noisy(1.0, 200, 0.1, "night")
    variants = tuple(
        ycsb("load", vms, ops_s=[at * own for at, own in zip(night, noisy(ops_s, 200, 0.02), strict=True)])
        for vms, ops_s in ((1, 100.0), (2, 130.0), (4, 150.0))
    )  # fmt: skip
    of = {"test_cases": variants, "repetitions": 200}
    summaries = [nightly(1).model_copy(update=of)]
    assert seen_spread(summaries) == pytest.approx(0.1, rel=0.2)
    assert spread_within_repetitions(summaries) == pytest.approx(0.02, rel=0.2)
    lost = variants[0].model_copy(update={"metrics": ()}), variants[1]
    of = {"test_cases": lost, "repetitions": 200}
    assert spread_within_repetitions([nightly(1).model_copy(update=of)]) is None


@pytest.mark.parametrize(
    ("why", "hindrance"),
    (
        ("measured, not tested: no question of the study asks for it", "none"),
        (
            "measured, not tested: no question of the study asks for it; an outlying build (30%) makes",
            "none",
        ),
        ("measured, not tested: no question of the study asks for it; process groups", "unknown"),
        ("not comparable: the variants' disclosures differ in machine", "incomparable"),
    ),
)
def test_what_hindered_a_comparison_of_an_earlier_version_is_in_its_reason(
    tmp_path: Path, why: str, hindrance: str
) -> None:
    root = write_run(tmp_path, eight_repetitions())
    path = root / "report" / "summary.json"
    value = json.loads(path.read_text())
    for one in value["findings"]:
        del one["hindrance"]
        one["why"] = why
    path.write_text(json.dumps(value))
    assert {one.hindrance for one in read_summary(root).findings} == {hindrance}


def test_a_run_without_numbers_of_this_version_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was not analysed") as caught:
        read_summary(tmp_path)
    assert "study report" in caught.value.remedy
    root = write_run(tmp_path, nightly(1))
    path = root / "report" / "summary.json"
    path.write_text(path.read_text().replace('"format":4', '"format":1'))
    with pytest.raises(InputError, match="has format 1"):
        read_summary(root)
    assert newest([root], 5) == ()
