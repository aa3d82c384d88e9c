"""The tables of searches and faults: whole numbers of things, and no claim beyond what was done."""

from __future__ import annotations

from density_study.analysis.report.charts import faults, searches
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.page import render
from density_study.analysis.summary.summary import Metric, ProbeSummary, SearchSummary, Summary
from density_study.analysis.validity.rules import remedy_of
from tests.support.summary_factory import one_block

CUT = "host cut off after 60 s for 30 s"


def _searched() -> Summary:
    summary = one_block()
    test_case = summary.test_cases[-1]
    probe = ProbeSummary(number=1, load=16, kept=True, stretch=1, because="a test", trial="t")
    search = SearchSummary(
        test_case=test_case.test_case,
        topology=test_case.topology,
        build="b1",
        goal="highest number of threads",
        unit="threads",
        probes=(probe,),
        answer="t",
        answer_load=16,
        rejected_load=1024,
        exact=False,
        why="5 probes were made",
    )
    return summary.model_copy(update={"searches": (search,)})


def _cut() -> Summary:
    """A trial of each test case with a host cut off: 3 operations failed, 12,345 rows are lost."""
    summary = one_block()
    test_case = summary.test_cases[-1].model_copy(update={"fault": CUT})
    counts = {"failed_operations": 3.0, "lost_rows": 12_345.0}
    found = tuple(
        Metric(name=name, unit="count", value=value, points=(value,), n=1)
        for name, value in counts.items()
    )
    trials = tuple(one.model_copy(update={"metrics": found}) for one in summary.trials)
    return summary.model_copy(
        update={"test_cases": (*summary.test_cases[:-1], test_case), "trials": trials}
    )


def test_threads_are_whole() -> None:
    view = View(_searched())
    (found,), (probe,) = searches.found_table(view).rows, searches.probes_table(view).rows
    assert found[3:5] == ("16 threads", "1,024 threads")
    assert probe[3] == "16 threads"


def test_operations_and_rows_are_whole() -> None:
    row = faults.table(View(_cut())).rows[0]
    assert (row[0], row[5], row[7]) == (CUT, "3", "12,345")


def test_the_page_says_no_daemon_was_killed_where_a_host_was_cut_off() -> None:
    text = " ".join(render(_cut()).split())
    assert CUT in text
    assert "In these trials a daemon" not in text
    assert "cut off the network" in text


def test_a_contradiction_in_the_record_of_others_is_no_bug_of_this_program() -> None:
    """The remedies of `rate_error`, `histogram_error` and `numbers_out_of_range`."""
    for reason in (
        "the tool's rate times its run time differs from its work by 33.3%",
        "histograms and Return counts differ by 2.0% of the operations",
    ):
        assert "If others made it, check that its files are of one run" in remedy_of(reason)
