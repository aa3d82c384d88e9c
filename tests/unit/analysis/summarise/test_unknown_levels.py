"""An unknown level is no number: not in the summary, and not in what is computed of it."""

from __future__ import annotations

import json

from density_study.analysis.findings.control import servers_per_host
from density_study.analysis.findings.factors import levels
from density_study.analysis.report.charts.observations import View
from density_study.analysis.summary.summary import Summary, unknown_first
from tests.support.summary_factory import one_block


def unknown() -> Summary:
    """The quickstart's, with one test case of unknown density and RegionServers."""
    summary = one_block()
    one = summary.test_cases[0].model_copy(
        update={"vms_per_host": None, "regionservers_per_node": None}
    )
    return summary.model_copy(update={"test_cases": (one, *summary.test_cases[1:])})


def test_it_is_null_in_json_and_none_here() -> None:
    summary = Summary.model_validate(json.loads(unknown().model_dump_json()))
    first = summary.test_cases[0]
    assert (first.vms_per_host, first.regionservers_per_node) == (None, None)
    assert servers_per_host(first) is None


def test_it_is_no_level_and_stands_before_all() -> None:
    summary = unknown()
    assert None not in levels(summary.test_cases, "vms_per_host")
    assert View(summary).densities[0] == "unknown"
    assert sorted((2, None, 0), key=unknown_first) == [None, 0, 2]
