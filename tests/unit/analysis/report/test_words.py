"""Words of the report: of scopes, units, stand-ins and commands, and where there is more to read."""

from __future__ import annotations

import pytest

from density_study.analysis.findings.variants import main_operation
from density_study.analysis.report.charts.answer import answer
from density_study.analysis.report.charts.course import course
from density_study.analysis.report.charts.figure import vertical_log
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.palette import Style
from density_study.analysis.report.charts.quantity import quantity, where
from density_study.analysis.report.charts.sections import _cpu_styles
from density_study.analysis.report.disclosure import headed
from density_study.analysis.report.html import templates
from density_study.analysis.report.page import DOCUMENTS
from density_study.analysis.report.trials import courses
from density_study.analysis.summary.summary import Metric, SearchSummary
from density_study.dags.airflow_home.home import project_root
from tests.support.report_pages import Elements, html, resolve
from tests.support.summary_factory import eight_repetitions, one_block


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("host:here", "host here"),
        ("host-less-client:h1", "host h1 without client and monitors"),
        ("host-less-client", "host without client and monitors"),
        ("cluster", "all nodes together"),
        ("node:w1", "w1"),
        ("client", "client"),
        ("monitor", "monitors"),
        (None, ""),
    ],
)
def test_scopes_are_words(scope: str | None, words: str) -> None:
    assert where(scope) == words


@pytest.mark.parametrize("name", ["one"])
def test_no_code_of_a_scope_or_kind_is_on_the_page(name: str) -> None:
    (page,) = Elements(html(name)).of("main")
    for code in ("host:here", "host-less-client", "isolation: process", "jvm_flags"):
        assert code not in page
    assert "process groups, not VMs" in page


def test_genomes_of_a_test_are_not_taken_for_human_ones() -> None:
    assert quantity(1908.0, "genomes/h") == "1,908\N{NO-BREAK SPACE}test genomes/h"


def test_a_logarithmic_axis_says_so() -> None:
    assert vertical_log("ms", [1.0, 20.0]).to_dict()["axis"]["title"] == "ms, logarithmic"


def test_trials_count_from_one_like_the_plan() -> None:
    labels = [label for _, label in courses(View(one_block())).values()]
    assert labels[0].startswith("1: ")
    table = Elements(html("one").split('id="trial-table"')[1].split("</table>")[0])
    assert table.of("th", scope="row")[:2] == ["1", "2"]


def test_free_text_keeps_options_whole_and_marks_code() -> None:
    shown = (
        templates()
        .from_string("{{ text | prose }}")
        .render(text="<b> 20 min: `study run SPEC --add-repetitions 4`, --set a=1, p = 0.1")
    )
    assert shown == (
        "&lt;b&gt; 20\N{NO-BREAK SPACE}min: <code>study run SPEC "
        '<span class="whole">--add-repetitions 4</span></code>, <span class="whole">--set</span> a=1, '
        "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.1"
    )


def test_the_pages_named_for_more_exist() -> None:
    pages = [f"docs/{name}.md" for name in DOCUMENTS]
    assert [page for page in pages if not (project_root() / page).is_file()] == []
    assert all(f"<code>{page}</code>" in html("one") for page in pages)


def test_a_disclosure_has_headings_and_shows_the_machine_without_a_click() -> None:
    machine = {"cpu_model": "AMD EPYC", "kernel": "Linux 6.1", "cores": 2}
    many = {f"key{number}": "value" for number in range(40)}
    shown = headed({"in_effect": many, "machine": machine, "native_hadoop": False, "emulated": {}})
    assert [(one.key, one.value, one.is_short) for one in shown] == [
        ("Native libraries of Hadoop", "false", True),
        ("Emulated disks", "none", True),
        ("Settings in effect", None, False),
        ("Machine", None, True),
    ]


def test_the_answer_leaves_out_the_load_generator_and_explains_a_search() -> None:
    figure = answer(View(eight_repetitions()))
    assert figure is not None and not any("search" in note for note in figure.notes)
    summary = one_block()
    about = summary.headline_test_case
    test_cases = tuple(
        one.model_copy(update={"sought": "highest rate with READ p99 <= 20 ms"})
        if one.test_case == about
        else one
        for one in summary.test_cases
    )
    figure = answer(View(summary.model_copy(update={"test_cases": test_cases})))
    assert figure is not None
    assert "highest rate with READ p99 <= 20 ms" in figure.notes[0]
    assert [one.subtitle for one in figure.panels][-1] == "host here without client and monitors"


def test_cpu_over_time_is_called_by_the_densities_that_it_shows() -> None:
    whole, _ = course(View(eight_repetitions()))
    without, _ = course(View(one_block()))
    assert whole is not None and without is not None
    assert whole.title == "CPU over time, bare host beside 4 VMs per host"
    assert without.title == "CPU over time, 1 worker per host beside 2 workers per host"


def test_results_of_variants_that_are_no_disk_types_are_not_called_so() -> None:
    summary = one_block()
    assert View(summary).matrix_header == "Density by disk type"
    named = tuple(
        one.model_copy(update={"levels": {"store": "HBase"}}) for one in summary.test_cases
    )
    assert (
        View(summary.model_copy(update={"test_cases": named})).matrix_header == "Results by variant"
    )


def test_the_limit_of_a_search_is_a_line_in_the_panel_of_its_latency() -> None:
    summary = one_block()
    about = summary.headline_test_case
    main = main_operation(next(one for one in summary.test_cases if one.test_case == about))
    latency = {"name": "latency", "unit": "ms", "operation": main, "percentile": 99.0}
    metric = Metric(**latency, latency_kind="intended", value=9.2, n=1, points=(9.2,))
    test_cases = tuple(
        one.model_copy(update={"metrics": (*one.metrics, metric)})
        if one.test_case == about
        else one
        for one in summary.test_cases
    )
    search = SearchSummary(
        test_case=about or "", topology="v1", build="b1", goal="", unit="ops/s", probes=(),
        limits_ms={f"{main} p99": 20.0}, answer=None, answer_load=None, rejected_load=None,
        exact=True, why="",
    )  # fmt: skip
    found = summary.model_copy(update={"test_cases": test_cases, "searches": (search,)})
    figure = answer(View(found))
    assert figure is not None
    lines = {one.id: [row for row in one.rows if row["part"] == "limit"] for one in figure.panels}
    (row,) = lines.pop("answer-intended")
    assert row["value"] == 20.0 == resolve(found.model_dump(mode="json"), row["ref"])
    assert not any(lines.values())
    panel = next(one for one in figure.panels if one.id == "answer-intended")
    assert "limit: 20.0\xa0ms" in panel.svg and "stroke-dasharray" in panel.svg
    for cases, has_line in ((test_cases, True), (summary.test_cases, False)):
        sought = tuple(one.model_copy(update={"sought": "highest rate"}) for one in cases)
        figure = answer(View(found.model_copy(update={"test_cases": sought})))
        assert figure is not None
        assert ("dashed line" in " ".join(figure.notes)) == has_line


def test_nodes_have_symbols_of_their_own_while_there_are_shapes() -> None:
    def used(count: int) -> dict[str, Style]:
        summary = one_block()
        first = summary.test_cases[0]
        cpu = {"name": "cpu_used", "unit": "percent", "value": 5.0, "n": 1, "points": (5.0,)}
        nodes = tuple(Metric(**cpu, scope=f"node:w{n}") for n in range(count))
        one = first.model_copy(update={"metrics": nodes})
        return _cpu_styles(
            View(summary.model_copy(update={"test_cases": (one,)})).observations({"cpu_used"})
        )

    assert list(used(6)) == [f"w{n}" for n in range(6)]
    assert len({style.shape for style in used(6).values()}) == 6
    assert len({style.colour for style in used(6).values()}) == 1
    assert list(used(7)) == ["node"]
