"""Two runs side by side: the page's numbers are those of the summaries and of the comparison."""

from __future__ import annotations

import re

from density_study.analysis.comparison.compare import compare
from density_study.analysis.comparison.declared import declared_differences
from density_study.analysis.hub.side_by_side import Pair, render
from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.summary.summary import Summary
from density_study.workloads.study.study_file import StudyFile, parse_study
from tests.support.drafts import QUICKSTART
from tests.support.made_runs.nightly_runs import nightly, october
from tests.support.report_pages import Elements
from tests.support.summary_factory import eight_repetitions


def pair(before: Summary, after: Summary) -> Pair:
    return Pair(before, after, compare((before,), after, 0.05, october()), ())


def rows(text: str) -> list[list[str]]:
    table = re.search(r"<table>\s*<caption>Numbers of both runs.*?</table>", text, re.S)
    assert table
    found = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table[0], re.S)
    return [[re.sub("<[^>]+>", "", c) for c in re.findall(r"<t[hd].*?</t[hd]>", r)] for r in found]


def test_every_comparison_has_a_row_with_both_values_and_their_ratio() -> None:
    both = pair(nightly(1), nightly(2, ops_s=80.0))
    found = rows(render(both))
    assert len(found) == len(both.comparison.changes) == 6
    first, later = both.before.test_cases[0], both.after.test_cases[0]
    label, variant, measure, a, b, over, p, machine, outcome = found[0]
    assert (label, variant, measure) == (later.label, "1 worker per host, flash", "throughput")
    assert a.startswith(quantity(first.metrics[0].value, "ops/s"))
    assert b.startswith(quantity(later.metrics[0].value, "ops/s"))
    change = next(c for c in both.comparison.changes if c.finding.family == "rates")
    assert (
        over
        == f"×{change.finding.effect:.2f} ({change.finding.low:.3f} to {change.finding.high:.3f})"
    )
    assert float(p) < 0.05 and outcome == "regression"
    assert machine == "not computed"  # no canary watched these runs
    assert found[1][2] == "READ p99, closed-loop"


def test_intervals_are_shown() -> None:
    before = eight_repetitions()
    after = before.model_copy(update={"run": "20261121T201530Z"})
    earlier = [before.model_copy(update={"run": f"2026100{n}T201530Z"}) for n in range(1, 6)]
    compared = compare((before,), after, 0.05, earlier)
    found = rows(render(Pair(before, after, compared, ())))
    assert len(found) > 40
    assert all(" to " in row[3] and " to " in row[4] and " to " in row[5] for row in found)


def test_equal_ids_of_two_studies_are_kept_apart() -> None:
    text = render(pair(nightly(1), nightly(1, ops_s=80.0, study="upgrade")))
    tips = re.findall(r"<title>([AB], [^<]*)</title>", text)
    assert {tip[0] for tip in tips} == {"A", "B"} and len(tips) == 6
    assert "A: nightly" in text and "B: upgrade" in text


def test_what_is_missing_or_equal_is_stated() -> None:
    after = nightly(2)
    text = render(pair(nightly(1), after.model_copy(update={"test_cases": after.test_cases[1:]})))
    assert "ycsb-load-r1000-t8 on v1-flash" in text
    assert "The study files declare the same measurement." in text
    assert "show no difference on their common topologies" in text
    assert "Both runs have the same test cases." in render(pair(nightly(1), nightly(2)))


def test_hostile_names_stay_text() -> None:
    alert = "<img src=x onerror=alert(1)>"
    label = {"label": alert, "disk_type": alert}
    entries = tuple(entry.model_copy(update=label) for entry in nightly(1).test_cases)
    runs = (nightly(n, headline=alert, test_cases=entries, study=alert) for n in (1, 2))
    text = render(pair(*runs))
    assert not Elements(text).having("img")
    assert Elements(text).of("p", **{"class": "question"}) == [alert, alert]
    assert "<script" not in text


def declared(**overrides: object) -> StudyFile:
    return parse_study(QUICKSTART.read_text(), "quickstart.yaml", overrides)


def test_declared_differences_are_named_by_key_as_they_were_written() -> None:
    before = declared()
    assert declared_differences(before, declared(question="Another?", study="other")) == ()
    after = declared(seed=7, slo={"read_p99": "20 ms"}, repetitions=5)
    assert list(map(str, declared_differences(before, after))) == [
        "repetitions: 1 -> 5",
        "seed: 20130226 -> 7",
        "slo.read_p99: not set -> 20 ms",
    ]


def test_elements_of_lists_go_by_their_names_and_notations_do_not_count() -> None:
    host = {"name": "here", "roles": ["master", "worker", "client"], "disks": [{}]}
    first, same, larger = (
        declared(hosts=[{**host, "memory": m}]) for m in ("6 GiB", "6144 MiB", "7 GiB")
    )
    assert declared_differences(first, same) == ()
    (one,) = declared_differences(first, larger)
    assert str(one) == "hosts.here.memory: 6 GiB -> 7 GiB"
