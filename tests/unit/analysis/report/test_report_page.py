"""The report as one HTML file: escaped, complete, explicit about omissions, small enough."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from density_study.analysis.report import page
from density_study.analysis.report.charts import figure
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.sections import sections
from density_study.analysis.report.page import render, write
from density_study.analysis.report.trials import reasons as reasons_of
from density_study.analysis.summarise.warnings import design_warnings, trial_warnings
from density_study.analysis.summary.summary import Summary, SummaryWarning
from density_study.analysis.validity.rules import remedy_of
from density_study.cluster.model.isolation import Isolation
from tests.support.report_pages import PAGES, Elements, embedded, html
from tests.support.summary_factory import FACTORIES, eight_repetitions, one_block

ALERT = "<script>alert(1)</script>"


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pre-rendered charts take most of a page's time; tests of text skip them."""
    monkeypatch.setattr(figure.Panel, "svg", "<svg></svg>")


WORDS_ONLY = pytest.mark.usefixtures("no_pictures")


def hostile() -> Summary:
    """The one-block summary with every free text replaced by hostile text."""
    summary = one_block(study=ALERT)
    test_case = summary.test_cases[3].model_copy(
        update={"label": "=1+1</script><img src=x onerror=alert(1)>", "disk_type": ALERT}
    )
    finding = summary.findings[0].model_copy(update={"statement": ALERT, "why": f'"{ALERT}'})
    trial = summary.trials[0].model_copy(
        update={"reasons": (f"</td>{ALERT}",), "trial": f'">{ALERT}'}
    )
    return summary.model_copy(
        update={
            "headline": f"{ALERT} <!-- ",
            "question": "]]><style>*{display:none}</style>",
            "warnings": (SummaryWarning(code="missing-records", message=f"</li>{ALERT}"),),
            "test_cases": (*summary.test_cases[:3], test_case, *summary.test_cases[4:]),
            "findings": (finding, *summary.findings[1:]),
            "trials": (trial, *summary.trials[1:]),
            "disclosure": {ALERT: {"hdfs-site.xml": f"<a>\n{ALERT}</a>"}, "__proto__": "x"},
        }
    )


@WORDS_ONLY
def test_hostile_names_stay_text() -> None:
    summary = hostile()
    text = render(summary)
    elements = Elements(text)
    assert [attributes.get("id") for _, attributes, _ in elements.having("script")] == [
        "summary",
        "charts-data",
        "vega",
        *(None,) * 4,
    ]
    assert not elements.having("img")
    assert elements.of("h1") == [summary.headline]
    assert f"<a>\n{ALERT}</a>" in elements.of("pre")
    assert summary.test_cases[3].label in elements.of("th", scope="row")
    assert Summary.model_validate(embedded(text, "summary")) == summary


@WORDS_ONLY
@pytest.mark.parametrize(("long", "encoding"), [(10**9, "none"), (1000, "gzip")])
def test_json_in_the_page_contains_no_markup(
    monkeypatch: pytest.MonkeyPatch, long: int, encoding: str
) -> None:
    monkeypatch.setattr(page, "LONG_JSON", long)
    scripts = Elements(render(hostile())).having("script", type="application/json")
    assert [script[1]["data-encoding"] for script in scripts] == [encoding] * 3
    for _, _, text in scripts:  # three, by the assertion above
        assert not set("<>&") & set("".join(text))


@pytest.mark.parametrize("name", PAGES)
def test_the_page_contains_the_whole_summary(name: str) -> None:
    assert Summary.model_validate(embedded(html(name), "summary")) == FACTORIES[name]()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_small_and_loads_nothing_else(name: str) -> None:
    text = html(name)
    assert len(text.encode()) < 6e6
    for _, attributes, _ in Elements(text).all:
        for key in ("src", "href", "xlink:href", "action", "srcset"):
            assert (attributes.get(key) or "#").startswith(("#", "data:,"))
    assert "@import" not in text
    assert "url(" not in text.split("</style>")[0]


def test_the_policy_allows_exactly_the_pages_scripts() -> None:
    text = html("one")
    policy = next(
        str(attributes["content"])
        for _, attributes, _ in Elements(text).having("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 4
    for script in (*scripts, embedded(text, "vega")):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_warnings_precede_the_findings_and_appear_once() -> None:
    text = html("one")
    notes = Elements(text).of("ul", **{"class": "notes"})[0]
    for words in (
        "Nodes are process groups",
        "served from memory",
        "1 repetition: single values without intervals",
        "2 of 13",
    ):
        assert notes.count(words) == 1
    assert text.index('class="trust"') < text.index('class="undecided"') < text.index("data-chart=")
    assert text.index('class="notes"') < text.index('id="findings"')
    assert "process groups" not in Elements(html("eight")).of("ul", **{"class": "notes"})[0]


@WORDS_ONLY
def test_each_warning_is_shown_once_with_its_remedy() -> None:
    summary = one_block()
    notes = Elements(render(summary)).having("ul", **{"class": "notes"})[0]
    shown = [" ".join(line.split()) for line in "".join(notes[2]).splitlines() if line.strip()]
    texts = [f"{warning.message} {warning.remedy or ''}".strip() for warning in summary.warnings]
    assert len(texts) == 5
    assert [line.replace("\xa0", " ") for line in shown] == texts


def test_flags_of_valid_trials_are_counted_by_trial() -> None:
    summary = one_block()
    of_a_trial = {
        0: ("drift: the last third ran at 2.99 times the first's rate", "drift: once more"),
        1: ("drift: the last third ran at 1.48 times the first's rate", "other work: 12 %"),
    }
    valid = [number for number, trial in enumerate(summary.trials) if trial.verdict == "valid"]
    trials = list(summary.trials)
    for number, reasons in of_a_trial.items():
        at = valid[number]
        trials[at] = trials[at].model_copy(update={"reasons": reasons})
    warning = next(
        warning for warning in trial_warnings(trials) if warning.code == "flagged-trials"
    )
    assert warning.message.startswith(
        f"2 of {len(valid)} valid trials have warnings (drift 2, other work 1)."
    )
    assert "flagged-trials" not in {warning.code for warning in trial_warnings(summary.trials)}
    rows = reasons_of(summary.model_copy(update={"trials": tuple(trials)})).rows
    assert [row for row in rows if row[1] == "valid"] == [
        (f"{of_a_trial[0][0]}; 2 more with other numbers", "valid", "3", remedy_of("drift:")),
        ("other work: 12 %", "valid", "1", remedy_of("other work:")),
    ]


@WORDS_ONLY
def test_substitute_variants_are_marked_at_every_figure() -> None:
    summary = one_block().model_copy(
        update={"warnings": tuple(design_warnings(Isolation.PROCESS, ("flash",), 1))}
    )
    text = render(summary)
    badges = Elements(text).of("span", **{"class": "badge"})
    assert badges.count("process groups, not VMs") == badges.count("flash: emulated") == 11
    assert "flash (emulated)" in text
    assert not Elements(html("eight")).of("span", **{"class": "badge"})


def test_failed_trials_stay_in_the_table_with_their_reasons() -> None:
    summary = one_block()
    table = html("one").split('id="trial-table"')[1].split("</table>")[0]
    assert table.count("data-test_case=") == len(summary.trials) == 13
    assert table.count('data-verdict="invalid"') == table.count('data-verdict="unknown"') == 1
    for trial in summary.trials:
        assert "; ".join(trial.reasons) in table


def test_a_test_case_without_a_valid_trial_is_named_and_not_drawn() -> None:
    summary = one_block()
    kept = tuple(one for one in summary.test_cases if one.topology == "v1-flash")
    summary = summary.model_copy(update={"test_cases": kept})
    (_, _, (ycsb, _)), *_ = sections(View(summary))
    assert any(
        "no trial is valid: YCSB data load (2 workers per host, flash);" in note
        for note in ycsb.notes
    )
    panel = ycsb.panels[0]
    assert panel.id == "throughput-ycsb-load-r100000-t8"
    assert panel.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [
        "1",
        "2",
    ]  # keeps its place
    assert {row["x"] for row in panel.rows} == {"1"}


def test_missing_numbers_are_counted() -> None:
    assert "2 percentiles could not be computed" in html("one")
    assert "not computed" in html("one")


@WORDS_ONLY
def test_a_run_without_any_trial_has_a_report() -> None:
    empty: dict[str, object] = {
        "test_cases": (),
        "findings": (),
        "trials": (),
        "builds": (),
        "disclosure": {},
    }
    text = render(one_block().model_copy(update=empty))
    assert "there is nothing to draw" in text
    assert "has no findings" in text
    assert 'data-chart="wall-time"' in text


@pytest.mark.thorough
@WORDS_ONLY
def test_write_replaces_only_whole_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report" / "index.html"
    write(one_block(), target)
    before = target.read_text(encoding="utf-8")
    assert before.rstrip().endswith("</html>")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write(eight_repetitions(), target)
    assert target.read_text(encoding="utf-8") == before
    assert [path.name for path in target.parent.iterdir()] == ["index.html"]
