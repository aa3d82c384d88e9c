"""A plan as a page: the sentence, the curve, the limit and the margin; and the hub's link to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from density_study.analysis.capacity.curves.model import write_model
from density_study.analysis.capacity.plan.plan import PAGE, spread
from density_study.analysis.hub.files import HUB
from density_study.analysis.report.plan_page.page import render
from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from tests.support.made_runs.nightly_runs import nightly, whole
from tests.unit.analysis.capacity.operations.measured import model, one_type, sized
from tests.unit.analysis.capacity.planning import excuse, plan


def test_a_plan_for_genomes_has_three_curves_with_limit_and_margin() -> None:
    found = plan(20, "turnaround_p95=24h", "query_p95=3s")
    text = render(found)
    titles = [curve.title for curve in found.curves]
    assert titles == ["Load by hosts", "Turnaround p95 by hosts", "Query p95 by utilization"]
    for curve in found.curves:
        assert curve.title in text and curve.margin is not None
        assert f"failed: {spread(curve.margin, '.0%')}" in text.replace("\xa0", " ")
    assert text.count("<svg") >= 3
    assert "20 genomes/day" in text and "EXAMPLE" in text
    assert not re.search(r"(src|href)=.?https?:", text)


def test_the_load_curve_meets_the_limit_at_the_hosts_that_the_resources_need() -> None:
    found = plan(20)
    (curve,) = found.curves
    short = [point.x for point in curve.points if point.value.q50 < found.genomes_per_day]
    assert short and max(short) < found.hosts == curve.chosen
    medians = [point.value.q50 for point in curve.points]
    assert medians == sorted(medians)


def test_a_plan_for_operations_and_no_plan_are_pages_too() -> None:
    text = render(sized())
    assert "READ p99 by utilization" in text and "READ p99 &lt;= 5" in text.replace("\xa0", " ")
    assert "What would change the result" in text
    refused = render(excuse(20, "turnaround_p95=1min"))
    assert "No plan for 20 genomes/day of wgs30x" in refused and "<svg" not in refused


def _files(folder: Path) -> list[str]:
    (folder / "hosts.yaml").write_text(yaml.safe_dump(one_type().model_dump(mode="json")))
    write_model(model(), folder / "model.json")
    return ["--hosts", str(folder / "hosts.yaml"), "--model", str(folder / "model.json")]


def test_size_and_carry_take_operations(tmp_path: Path) -> None:
    run, files = CliRunner().invoke, _files(tmp_path)
    asked = ["--mix", "a", "--read-p99", "5ms", "--draws", "200"]
    page = tmp_path / "plan.html"
    found = run(
        main.app, ["capacity", "size", "--ops", "20k/s", *asked, *files, "--page", str(page)]
    )
    assert found.exit_code == 0, found.output
    assert "20,000 operations/s" in found.output and "10% more operations" in found.output
    assert "<= 10 ms: no change" in found.output
    assert "Load by hosts" in page.read_text()
    document = yaml.safe_load((tmp_path / "hosts.yaml").read_text())
    document["hosts"][0]["count"] = 5
    document["hosts"].append({**document["hosts"][0], "name": "other", "count": 4})
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(document))
    found = run(main.app, ["capacity", "carry", *asked, *files])
    assert found.exit_code == 0, found.output
    assert "2 clusters, one for each host type" in found.output
    shown = json.loads(run(main.app, ["capacity", "carry", *asked, *files, "--json"]).output)
    assert [one["host_type"] for one in shown] == ["same", "other"]


@pytest.mark.parametrize(
    "options",
    [[], ["--ops", "20k/s", "--genomes-per-day", "5"], ["--ops", "20k/s"],
     ["--ops", "20k/s", "--mix", "a", "--format", "slurm"]],
)  # fmt: skip
def test_a_load_that_is_missing_double_or_without_a_mix_is_refused(
    options: list[str], tmp_path: Path
) -> None:
    found = CliRunner().invoke(main.app, ["capacity", "size", *options, *_files(tmp_path)])
    assert isinstance(found.exception, InputError)


def test_a_page_beside_a_run_is_linked_by_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = whole(tmp_path / "runs", nightly(1))
    asked = ["capacity", "size", "--ops", "20k/s", "--mix", "a", "--draws", "200"]
    command = [*asked, *_files(tmp_path), "--beside"]
    for cwd, named in ((tmp_path, root.name), (root.parent, root.name), (root, ".")):
        monkeypatch.chdir(cwd)
        found = CliRunner().invoke(main.app, [*command, named])
        assert found.exit_code == 0, found.exception
        assert "Load by hosts" in (root / "report" / PAGE).read_text()
        assert (
            f"{root.parent.name}/{root.name}/report/{PAGE}" in (tmp_path / "runs" / HUB).read_text()
        )
        (root / "report" / PAGE).unlink()


def test_a_page_beside_what_is_no_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "copied" / "tables").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    asked = ["capacity", "size", "--ops", "20k/s", "--mix", "a", "--draws", "200"]
    command = [*asked, *_files(tmp_path), "--beside", "copied", "-o", "plan.json"]
    found = CliRunner().invoke(main.app, command)
    assert isinstance(found.exception, InputError) and "not the folder of a run" in str(
        found.exception
    )
    assert not Path("plan.json").exists() and not Path("copied/report").exists()


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        (["size", "--ops", "1k/s", "--mix", "a", "--measured-by", "hbase_scan=g"], "--measured-by"),
        (["size", "--ops", "1k/s", "--mix", "a", "--profile", "exome"], "--profile"),
        (["size", "--genomes-per-day", "1", "--mix", "a", "--split"], "--mix, --split"),
        (["carry", "--mix", "a", "--today", "5", "--growth", "30%"], "--today, --growth"),
        (["carry", "--read-p99", "5ms"], "--read-p99"),
    ],
)
def test_an_option_of_the_other_load_is_not_ignored(
    command: list[str], unused: str, tmp_path: Path
) -> None:
    files = _files(tmp_path)
    document = yaml.safe_load((tmp_path / "hosts.yaml").read_text())
    document["hosts"][0]["count"] = 5
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(document))
    found = CliRunner().invoke(main.app, ["capacity", *command, *files])
    assert isinstance(found.exception, InputError)
    assert f"do not use {unused}." in str(found.exception)
