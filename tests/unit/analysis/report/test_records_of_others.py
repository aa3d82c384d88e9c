"""The page of an import says nothing that only the run of this program knows, and asks for nothing that
nobody can do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from density_study.analysis.findings import Evidence
from density_study.analysis.report.charts.answer import answer
from density_study.analysis.report.charts.notes import notes
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.page import render
from density_study.analysis.report.trials import reasons
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summarise.rehearsed import withheld
from density_study.analysis.summary.summary import ImportSummary, Summary, SummaryWarning
from density_study.analysis.validity.rules import RULES, remedy_of
from density_study.cluster.model.isolation import Isolation
from tests.support.summary_factory import one_block
from tests.support.variants import ycsb

MEMORY = "Total memory is the same"


@cache
def imported() -> Summary:
    """One trial without a known exit code, one whose client did not start its work."""
    summary = one_block()
    told = ("a client's exit code is unknown", "the workload's window is empty")
    trials = tuple(
        one.model_copy(update={"verdict": "unknown", "reasons": told}) for one in summary.trials[:1]
    )
    facts = ImportSummary(files=2, given={}, unknown={"exit code": 1}, accepted={})
    return summary.model_copy(update={"imported": facts, "trials": (*trials, *summary.trials[1:])})


def test_memory_is_equal_only_where_this_program_divides_it() -> None:
    existing = SummaryWarning(code="existing-cluster", message="The cluster was given.")
    stands = one_block().model_copy(update={"warnings": (existing,)})
    for summary, is_known in ((one_block(), True), (imported(), False), (stands, False)):
        figure = answer(View(summary))
        assert figure is not None and (MEMORY in figure.caption) is is_known
    compared = (ycsb("a", 1, ops_s=(100.0,)), ycsb("a", 2, ops_s=(150.0,)))
    for of_others in (False, True):
        evidence = Evidence(compared, 1, Isolation.VM, of_others=of_others)
        assert ("at equal total memory" in headline(evidence, 2).text) is not of_others


def test_what_nobody_recorded_is_added_to_the_map() -> None:
    remedies = {row[0]: row[-1] for row in reasons(imported()).rows}
    unknown = remedies["a client's exit code is unknown"]
    assert "accept: {clients_failed: why}" in unknown and "study run" not in unknown
    assert "study run" not in remedies["the workload's window is empty"]
    for rule in RULES:
        assert not rule.missing or rule.check in remedy_of(rule.missing, imported=True)
        theirs = remedy_of(rule.reason, imported=True)
        assert "Add a repetition" not in theirs and "Airflow" not in theirs and theirs.endswith(".")
        assert remedy_of(rule.reason).startswith(theirs), rule.check
    again = {rule.check for rule in RULES if rule.remedy != rule.remedy_of_others}
    assert again == {"state", "window_s", "clients_failed", "foreign_tiers"}


def test_the_page_does_not_promise_that_it_can_be_repeated() -> None:
    ours, theirs = (" ".join(render(one).split()) for one in (one_block(), imported()))
    assert "Everything needed to repeat this run, in an order" in ours
    assert "Everything needed to repeat" not in theirs and "What is known of this run" in theirs


def test_what_a_rehearsal_would_only_measure_is_said_once() -> None:
    one = (
        one_block()
        .findings[0]
        .model_copy(
            update={"verdict": "measured", "why": "measured, not tested: no question asks for it"}
        )
    )
    assert withheld([one])[0].why.count("measured, not tested") == 1


def test_one_number_is_not_drawn_and_two_are_not() -> None:
    view = View(one_block())
    known = next(iter(view.observations(("cpu_used",))))
    unknown = replace(known, metric=known.metric.model_copy(update={"value": None, "points": ()}))
    for count, words in (
        (1, "1 number could not be computed and is"),
        (2, "2 numbers could not be"),
    ):
        assert any(one.startswith(words) for one in notes(view, [unknown] * count, "number"))
