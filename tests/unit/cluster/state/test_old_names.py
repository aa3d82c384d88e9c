"""What earlier versions recorded is read under today's names. The samples are of a run of 2026-11-26, cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from density_study.analysis.capacity.inputs.points import parse_points
from density_study.analysis.comparison.acknowledged import Known, acknowledge
from density_study.analysis.comparison.history import read_summary_file
from density_study.analysis.summary.summary import ImportSummary, Summary
from density_study.cluster.model.topology import Topology
from density_study.cluster.old_names import KEYS, present
from density_study.cluster.state.events import SearchEnded, event_of
from density_study.workloads import tables
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.planning.plan import Plan, read_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import read_manifest
from density_study.workloads.study.registry import parse_test_case
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import read_arrow, table_path
from density_study.workloads.testdfsio.imported import ImportedDfsio

OLD = Path(__file__).parents[3] / "samples" / "old-names"
TODAY = {new: old for old, new in KEYS.items()}


def test_a_plan_is_read() -> None:
    plan = read_plan(OLD / "plan.json")
    assert [step.test_case.id for step in plan.trials if step.test_case][:2] == [
        "testdfsio-write-n3",
        "testdfsio-append-n3",
    ]
    (host,) = plan.topologies["v2-flash"].hosts
    assert [disk.disk_type for disk in host.disks] == ["flash"]


def test_a_record_is_read() -> None:
    manifest = read_manifest(OLD)
    assert (manifest.test_case_id, manifest.topology.variant.disk_type) == (
        "testdfsio-write-n3",
        "flash",
    )


def test_a_summary_is_read() -> None:
    summary = read_summary_file(OLD / "summary.json")
    assert {entry.disk_type for entry in summary.test_cases} == {"flash"}
    assert {one.verdict for one in summary.findings} == {"inconclusive"}
    assert summary.warnings[-1].code == "emulated-disk"
    assert set(summary.variants["v2-flash"]) >= {"disk_type", "vms_per_host"}


def test_a_line_of_a_journal_is_read() -> None:
    old: dict[str, Any] = {
        "event": "search-ended",
        "build": "b1",
        "setting": "ycsb-a",
        "answer": None,
    }
    event = event_of({**old, "probes": 3, "spared": [], "why": "w"})
    assert isinstance(event, SearchEnded) and event.test_case == "ycsb-a"


def test_a_table_is_read(tmp_path: Path) -> None:
    schema = arrow_schema(tables.TRIALS)
    names = [{"existing": "given"}.get(name, TODAY.get(name, name)) for name in schema.names]
    assert {"setting", "medium", "given"} < set(names)
    values = {"trial": ["t"], "setting": ["s"], "medium": ["hdd"], "given": [True]}
    old = pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])
    path = table_path(tmp_path, tables.TRIALS)
    path.mkdir(parents=True)
    row = {name: values.get(name, [None]) for name in names}
    pq.write_table(pa.table(row, old), path / "part.parquet")
    found = read_arrow(tmp_path, tables.TRIALS)
    assert found.schema.names == schema.names
    ((row_today),) = found.select(["test_case", "disk_type", "existing"]).to_pylist()
    assert row_today == {"test_case": "s", "disk_type": "hdd", "existing": True}


@pytest.mark.parametrize(
    ("kind", "old", "today"),
    (
        (Manifest, {"disclosure": {"given": {"given": []}}}, {"disclosure": {"existing": {"given": []}}}),
        (ImportSummary, {"files": 7, "given": {"x": 1}}, {"files": 7, "given": {"x": 1}}),
        (Summary, {"findings": [{"verdict": "no claim", "why": "no claim"}]},
         {"findings": [{"verdict": "inconclusive", "why": "no claim"}]}),
        (Plan, {"topologies": {"arm": {"medium": "hdd"}}}, {"topologies": {"arm": {"disk_type": "hdd"}}}),
    ),
)  # fmt: skip
def test_a_word_is_changed_where_it_has_that_meaning(kind: type, old: Any, today: Any) -> None:
    assert present(old, kind) == today == present(today, kind)


def renamed_by_people(value: Any) -> Any:
    """The topology, a property and its value, a host and a level have names that were keys once."""
    text = json.dumps(value).replace('"v2-flash"', '"arm"').replace('"here"', '"given"')
    found = json.loads(text)
    for topology in found.get("topologies", {"": found.get("topology")}).values():
        topology["levels"] = {"medium": "setting"}
        topology["configuration"] = {"properties": {"hdfs-site": {"arm": "given", "medium": "x"}}}
    return found


@pytest.mark.parametrize("name", ("plan", "manifest"))
def test_what_people_named_like_an_old_key_keeps_its_name(name: str, tmp_path: Path) -> None:
    value = renamed_by_people(json.loads((OLD / f"{name}.json").read_text()))
    (tmp_path / f"{name}.json").write_text(json.dumps(value))
    if name == "plan":
        found = read_plan(tmp_path / "plan.json")
        assert set(found.topologies) == {"arm"} == set(found.builds.values())
        topology = found.topologies["arm"]
    else:
        found = read_manifest(tmp_path)  # type: ignore[assignment]
        topology = found.topology  # type: ignore[attr-defined]
    assert isinstance(topology, Topology)
    assert topology.hosts[0].name == "given" and topology.variant.disk_type == "flash"
    assert topology.levels == {"medium": "setting"}
    properties = {"arm": "given", "medium": "x"}
    assert topology.configuration.properties == {"hdfs-site": properties}


def test_a_variant_that_people_called_arm_keeps_its_properties(tmp_path: Path) -> None:
    value = json.loads((OLD / "summary.json").read_text())
    value["arms"] = {"arm": {"medium": "hdd", "configuration.hdfs-site.medium": "given"}}
    value["settings"][0]["levels"] = {"arm": "given"}
    (tmp_path / "s.json").write_text(json.dumps(value))
    summary = read_summary_file(tmp_path / "s.json")
    declared = {"disk_type": "hdd", "configuration.hdfs-site.medium": "given"}
    assert summary.variants == {"arm": declared}
    assert summary.test_cases[0].levels == {"arm": "given"}


def test_a_test_case_of_others_is_read() -> None:
    old = {"workload": "testdfsio", "given": True, "mode": "read", "files": 2}
    assert isinstance(parse_test_case(present(old, TestCase)), ImportedDfsio)


def test_present_names_stay_as_they_are() -> None:
    summary = read_summary_file(OLD / "summary.json")
    value = json.loads(summary.model_dump_json())
    assert present(value, Summary) == value


@pytest.mark.parametrize("format_", (3, 4))
@pytest.mark.parametrize(("old", "today"), (("given", "existing"), ("given-prod", "existing-prod")))
def test_runs_of_an_existing_cluster_are_compared_across_versions(
    old: str, today: str, format_: int, tmp_path: Path
) -> None:
    """Also of a summary that this version made of old records, which keep the name."""
    text = (OLD / "summary.json").read_text()
    if format_ == 4:
        text = read_summary_file(OLD / "summary.json").model_dump_json()
    value = json.loads(text.replace('"v2-flash"', f'"{old}"'))
    (tmp_path / "s.json").write_text(json.dumps({**value, "provider": "existing"}))
    summary = read_summary_file(tmp_path / "s.json")
    assert {entry.topology for entry in (*summary.test_cases, *summary.trials)} == {today}
    assert set(summary.variants) == {today}


def test_a_topology_of_others_keeps_its_name(tmp_path: Path) -> None:
    text = (OLD / "summary.json").read_text().replace('"v2-flash"', '"given-prod"')
    (tmp_path / "s.json").write_text(text)
    assert {one.topology for one in read_summary_file(tmp_path / "s.json").trials} == {"given-prod"}


@pytest.mark.parametrize(("old", "today"), (("given", "existing"), ("given-prod", "existing-prod")))
def test_what_was_acknowledged_of_an_existing_cluster_is_still_known(
    old: str, today: str, tmp_path: Path
) -> None:
    known = acknowledge(
        tmp_path,
        [Known(number=f"rates-ycsb-load-{old}", run="20261101T020000Z", reason="new disks")],
    )
    assert known.since(f"rates-ycsb-load-{today}", "20261102T020000Z") == "20261101T020000Z"
    assert known.since("rates-ycsb-load-existing-test", "20261102T020000Z") == ""


def test_old_points_are_read_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    text = "group,hosts,vms_per_host,medium,value,unit\na,2,1,flash,2,s\n"
    (point,) = parse_points(text, "points.csv")
    assert point.disk_type == "flash"
    assert "points.csv: `medium` is the old name of the column disk_type" in caplog.text
