"""The one line on what cannot be decided: how many comparisons, and what each obstacle would take."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from density_study.analysis.findings import Evidence, effects
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import STAND_INS
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.summarise.undecided import undecided
from density_study.analysis.summarise.warnings import design_warnings, short_trials
from density_study.analysis.summary.summary import Finding, SummaryWarning, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from tests.support.summary_factory import one_block
from tests.support.variants import noisy, ycsb


def _test_cases(builds: int, growth: float = 1.0) -> tuple[TestCaseSummary, ...]:
    rates = {vms: noisy(100.0 * growth**vms, builds, seed=vms) for vms in (1, 2)}
    return tuple(ycsb("load", vms, ops_s=ops_s) for vms, ops_s in rates.items())


def _noisy(builds: int) -> tuple[TestCaseSummary, ...]:
    return tuple(ycsb("load", vms, ops_s=noisy(100.0, builds, 0.3, seed=vms)) for vms in (1, 2))


def _line(
    test_cases: tuple[TestCaseSummary, ...],
    repetitions: int,
    isolation: Isolation = Isolation.VM,
    total_s: float | None = 300.0,
    emulated: frozenset[str] = frozenset(),
) -> str | None:
    evidence = Evidence(test_cases, repetitions, isolation, emulated)
    rates = [one for one in effects.questions(evidence) if one.measure == "throughput"]
    found = decide(rates, repetitions)
    warnings = tuple(design_warnings(isolation, emulated, repetitions))
    return undecided(found, evidence, warnings, total_s)


def test_nothing_is_open_where_all_is_decided_or_nothing_was_compared() -> None:
    assert _line(_test_cases(8, growth=2.0), 8) is None
    assert undecided((), Evidence((), 1, Isolation.VM), (), 60.0) is None


def test_a_single_build_takes_four_more_and_their_time() -> None:
    assert _line(_test_cases(1), 1) == (
        "Not decided: the only comparison of the study's questions. Still needed: 4 more repetitions "
        "(`study run SPEC --add-repetitions 4`, about 20 min) for intervals."
    )
    assert "--add-repetitions 4`) for" in str(_line(_test_cases(1), 1, total_s=None))


def test_several_needs_are_numbered_because_all_of_them_are_needed() -> None:
    line = str(_line(_test_cases(1), 1, isolation=Isolation.PROCESS))
    assert (
        "Still needed: (1) provider libvirt, because process groups only stand in for VMs; (2) 4"
        in line
    )


def test_imported_records_lack_facts_and_neither_they_nor_a_rehearsal_are_repeated_here() -> None:
    test_cases = tuple(one.model_copy(update={"n_unknown": 1}) for one in _test_cases(1))
    evidence = Evidence(test_cases, 1, Isolation.UNKNOWN)
    found = decide(list(effects.questions(evidence)), 1)
    imported = SummaryWarning(code="imported", message="Others made these records.")
    rehearsed = SummaryWarning(code="simulated", message="Nothing was measured.")
    assert "study run" not in str(undecided(found, evidence, (rehearsed,), 300.0))
    line = str(undecided(found, evidence, (imported,), 300.0))
    assert "facts that nobody recorded, added to the map of the import" in line
    assert line.endswith("4 more repetitions for intervals.")


def test_process_groups_take_another_provider_even_with_enough_repetitions() -> None:
    line = str(_line(_test_cases(8, growth=2.0), 8, isolation=Isolation.PROCESS))
    assert "provider libvirt" in line
    assert "repetitions" not in line


@pytest.mark.parametrize("ends", ({"sequential": True}, {"looks": Looks(5, 10)}))
def test_no_repetition_turns_process_groups_into_vms(ends: dict[str, Any]) -> None:
    for isolation, growth in ((Isolation.PROCESS, 2.0), (Isolation.VM, 1.0)):
        evidence = Evidence(_test_cases(8, growth), 8, isolation, **ends)
        rates = [one for one in effects.questions(evidence) if one.measure == "throughput"]
        found = decide(rates, 8, evidence.sequential, evidence.looks)
        line = str(undecided(found, evidence, (), None))
        assert ("at_most" in line) == (isolation is Isolation.VM)


def test_an_emulated_disk_takes_a_real_one() -> None:
    assert "Still needed: a real flash disk." in str(
        _line(_test_cases(8), 8, emulated=frozenset({"flash"}))
    )


def test_chance_takes_repetitions_that_show_half_of_what_these_show() -> None:
    line = str(_line(_test_cases(8), 8, total_s=8 * 3600.0))
    half, shown = (float(found) for found in re.findall(r"difference of ([\d.]+) %", line))
    assert 0.45 * shown < half < 0.55 * shown
    more = int(line.split("--add-repetitions ")[1].split("`")[0])
    assert 14 <= 8 + more <= 40  # a quarter of the variance takes about four times the builds
    assert f"about {more} h" in line


def test_an_excluded_effect_is_named() -> None:
    line = str(_line(_test_cases(8), 8))
    assert line.endswith(". The effect planned for, a ratio of 1.20, is excluded.")
    wide = (*_test_cases(8), *(one.model_copy(update={"test_case": "other"}) for one in _noisy(8)))
    assert str(_line(wide, 8)).endswith(
        ". The effect planned for, a ratio of 1.20, is excluded in 1 of them."
    )
    assert "excluded" not in str(_line(_test_cases(1), 1))


def test_variants_without_a_valid_trial_and_unequal_builds_are_named() -> None:
    test_cases = (*_test_cases(5)[:1], _test_cases(5)[1].model_copy(update={"metrics": ()}))
    assert "valid trials in every variant" in str(_line(test_cases, 5))
    open_one = Finding(
        id="a", statement="a", verdict="inconclusive", why="differ", n=(5, 5), question="stack-rate"
    )
    unequal = SummaryWarning(code="incomparable-builds", message="differ")
    line = undecided((open_one,), Evidence((), 5, Isolation.VM), (unequal,), None)
    assert line == (
        "Not decided: the only comparison of the study's questions. Still needed: hosts and settings that "
        "are equal in all builds."
    )
    measured = open_one.model_copy(update={"verdict": "measured", "question": None})
    assert undecided((measured,), Evidence((), 5, Isolation.VM), (unequal,), None) is None


def test_short_trials_are_a_limit_only_where_most_are_short() -> None:
    trials = one_block().trials
    (warning,) = short_trials(trials)
    assert warning.message.startswith("Trials measured for 14 to 22 s each.")
    long = [trial.model_copy(update={"measure_s": 60.0}) for trial in trials]
    assert not list(short_trials(long))
    assert not list(short_trials([]))


def test_only_claims_about_vms_take_another_provider() -> None:
    """Two stores on one machine need no VM, and are not told to use any."""
    stores = tuple(
        ycsb("a", ops_s=noisy(100.0, 2, seed=name), topology=name, levels={"store": name})
        for name in ("hbase-wal", "rocksdb-wal")
    )
    evidence = Evidence(stores, 2, Isolation.PROCESS)
    warnings = tuple(design_warnings(Isolation.PROCESS, frozenset(), 2))
    found = decide(list(effects.questions(evidence)), 2)
    line = undecided(found, evidence, warnings, None)
    assert line is not None and "libvirt" not in line
    both = Evidence((*stores, *_test_cases(2)), 2, Isolation.PROCESS)
    asked = list(effects.questions(both))
    about_stores = next(one for one in asked if not one.obstacles)
    quoted = replace(about_stores, refused=(f"a note: {STAND_INS['process-groups']}",))
    found = decide([quoted if one is about_stores else one for one in asked], 2)
    of_density = sum(str(one.family).startswith("density") for one in found)
    assert 0 < of_density < len(found)
    line = undecided(found, both, warnings, None)
    assert f"for {of_density} of them, provider libvirt, because" in str(line)


def test_no_percentage_has_an_exponent() -> None:
    orders = {1: [10.0, 1000.0], 2: [1000.0, 10.0]}
    wide = tuple(ycsb("load", vms, ops_s=ops_s * 4) for vms, ops_s in orders.items())
    line = str(_line(wide, 8))
    assert "difference of" in line and not re.search(r"e[+-]\d", line)
