"""The result rows that `study` prints at the end."""

from __future__ import annotations

from density_study.analysis.report.charts.figure import Column, columns
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.sections import sections
from density_study.analysis.report.table import summary_table
from density_study.analysis.report.trials import shown_scopes
from density_study.analysis.summary.summary import Summary
from tests.support.summary_factory import eight_repetitions, one_block


def plain(summary: Summary) -> list[tuple[str, ...]]:
    return [tuple(cell.replace("\xa0", " ") for cell in row) for row in summary_table(summary).rows]


def test_one_row_per_test_case_and_topology_with_units_and_verdicts() -> None:
    rows = plain(one_block())
    assert len(rows) == 12
    assert {len(row) for row in rows} == {len(summary_table(one_block()).columns)}
    assert rows[-1] == (
        "YCSB 95/5 short scan",
        "2",
        "flash",
        "1,519 ops/s",
        "33.9 ms SCAN, closed-loop",
        "57.5 %",
        "1 valid",
    )
    assert [row[:3] for row in rows[:2]] == [
        ("TestDFSIO write", "1", "flash"),
        ("TestDFSIO write", "2", "flash"),
    ]


def test_density_is_called_what_it_is() -> None:
    assert summary_table(one_block()).columns[1].header == "Workers per host"
    assert summary_table(eight_repetitions()).columns[1].header == "VMs per host"
    assert plain(eight_repetitions())[0][1] == "bare"


def test_a_median_of_several_builds_is_called_one() -> None:
    headers = [column.header for column in summary_table(eight_repetitions()).columns]
    assert headers[3:6] == ["Throughput, median", "p99, median", "Host CPU, median"]
    assert [column.header for column in summary_table(one_block()).columns][3] == "Throughput"


def test_bad_trials_are_counted_beside_valid_ones() -> None:
    read = next(
        row for row in plain(one_block()) if row[0] == "TestDFSIO sequential read" and row[1] == "2"
    )
    assert read[-1] == "1 valid, 1 invalid"


def test_intended_latency_goes_before_closed_loop() -> None:
    summary = one_block()
    test_case = summary.test_cases[4]
    intended = tuple(
        metric.model_copy(update={"latency_kind": "intended", "value": 2.0})
        for metric in test_case.metrics
        if metric.name == "latency"
    )
    both = test_case.model_copy(update={"metrics": (*test_case.metrics, *intended)})
    rows = plain(summary.model_copy(update={"test_cases": (both,)}))
    assert rows[0][4] in ("2.00 ms INSERT, intended", "2.00 ms READ, intended")


def test_missing_numbers_are_reported() -> None:
    summary = one_block()
    test_case = summary.test_cases[3]
    metrics = tuple(metric.model_copy(update={"value": None}) for metric in test_case.metrics)
    rows = plain(
        summary.model_copy(
            update={"test_cases": (test_case.model_copy(update={"metrics": metrics}),)}
        )
    )
    assert rows[0][3:6] == ("not computed", "not computed", "not computed")


def test_a_test_case_without_a_build_has_no_numbers() -> None:
    summary = one_block()
    bare = summary.test_cases[0].model_copy(update={"n_builds": 0, "metrics": ()})
    rows = plain(summary.model_copy(update={"test_cases": (bare,)}))
    assert rows[0][:6] == ("TestDFSIO write", "1", "flash", "no valid trial", "none", "none")


def test_a_hash_marks_a_numeric_column() -> None:
    assert columns("Build | Probe #") == (Column("Build"), Column("Probe", numeric=True))


def test_of_ten_hosts_and_seventy_nodes_the_extremes_and_the_median_are_shown() -> None:
    """All of them are in summary.json: a page of 12 variants with 72 nodes each had 14 MB."""
    (few, *_) = (one for one in eight_repetitions().test_cases if one.vms_per_host)
    template = next(m for m in few.metrics if m.name == "cpu_used")
    many = [
        template.model_copy(
            update={"scope": f"{kind}:{kind[0]}{n}", "value": (n * 7) % count + 0.5}
        )
        for kind, count in (("host", 10), ("node", 72))
        for n in range(1, count + 1)
    ]
    rest = [m for m in few.metrics if m.name != "cpu_used"]
    large = few.model_copy(update={"metrics": (*rest, *many)})
    summary = eight_repetitions().model_copy(update={"test_cases": (large,), "trials": ()})
    assert plain(summary)[0][5] == "h5 5.50 %, h7 9.50 %, h10 0.500 % (of 10 hosts)"
    lost = [m.model_copy(update={"value": None}) if m.value == 9.5 else m for m in large.metrics]
    without = summary.model_copy(
        update={"test_cases": (large.model_copy(update={"metrics": tuple(lost)}),)}
    )
    assert plain(without)[0][5] == (
        "h2 4.50 %, h4 8.50 %, h7 not computed, h10 0.500 % (of 10 hosts)"
    )
    shown = {one.value for one in large.metrics if one.scope in shown_scopes(large.metrics)}
    assert shown >= {0.5, 5.5, 9.5, 36.5, 71.5} and len(shown) < 8
    figures = {one.id: one for _, _, found in sections(View(summary)) for one in found}
    assert len(figures["cpu-used"].table.rows) == 6
    assert any("summary.json has all" in note for note in figures["cpu-used"].notes)
    (usual,) = (
        f for _, _, found in sections(View(one_block())) for f in found if f.id == "cpu-used"
    )
    assert not any("summary.json" in note for note in usual.notes)
