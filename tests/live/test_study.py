"""The main job on real daemons: a small study from its file to its report, and its behaviour when
killed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from density_study.analysis.summary.summary import Summary
from density_study.workloads.record.record import closed_records
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.ycsb.output.summary import operation_counts, overall, parse_summary
from tests.live.outside import Call, HookProgram, scraped
from tests.live.support.command import SPEC, left_of, study, study_run, wait_for
from tests.support.receivers import Collector, serving

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class Study:
    """One study, from its file to its report, and killed on the way.

    run: its folder. refused: a second study while the first one ran. left: what kill -9 left. dry: `study
    reap --dry-run` then. ended: the same command again, which finished the run. pages: its metrics
    meanwhile. hook: of both commands. spans: what a collector got of it all.
    """

    run: Path
    refused: subprocess.CompletedProcess[str]
    left: list[str]
    dry: subprocess.CompletedProcess[str]
    ended: str
    pages: list[str]
    hook: HookProgram
    spans: list[Any]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    runs, hook = tmp_path_factory.mktemp("runs"), HookProgram(tmp_path_factory.mktemp("hook"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENSITY_STUDY_HOOK", str(hook.path))
        with study_run(runs) as child:
            run = wait_for(runs, lambda entry: entry.get("state") == "running", 300)
            refused = study("run", str(SPEC), "--fresh", "--runs", str(runs), runs=runs)
            child.kill()
            child.wait()
            left = [str(process) for process in left_of(run)]
            dry = study("reap", "--dry-run", "--runs", str(runs), runs=runs)
            with study_run(runs) as again:
                wait_for(runs, lambda entry: entry.get("resumed") is True, 60)
                with scraped(run, runs) as pages:
                    ended, _ = again.communicate(timeout=600)
        assert again.returncode == 0, ended
    with serving(Collector()) as collector:
        sent = study("export", str(run), "--to", collector.address, runs=runs)
        assert sent.returncode == 0, sent.stderr
        (spans,) = collector.requests
    yield Study(run, refused, left, dry, ended, pages, hook, spans)


def test_a_second_study_is_refused_while_one_runs(finished: Study) -> None:
    assert finished.refused.returncode == 2
    assert "'live-small' is running" in finished.refused.stderr


def test_after_kill_9_the_same_command_resumes_without_mixing_records(finished: Study) -> None:
    assert finished.left and finished.dry.returncode == 0
    assert [path.parent for path in finished.run.parent.glob("*/plan.json")] == [finished.run]
    records = closed_records(finished.run / "records")
    assert [manifest.state for manifest in records.values()] == ["complete"] * 4
    assert len(list((finished.run / "records.superseded").iterdir())) == 1
    assert sorted(t["trial"] for t in _summary(finished.run)["trials"]) == sorted(records)


def test_the_output_ends_with_a_table_and_the_path_of_the_report(finished: Study) -> None:
    run, output = finished.run, finished.ended
    assert "TestDFSIO random read" in output and "YCSB 45/55 read-insert" in output
    assert "index.html" in output and "summary.json" in output
    assert (run.parent / "report").resolve() == (run / "report").resolve()


def test_nothing_of_the_study_remains(finished: Study) -> None:
    run = finished.run
    assert left_of(run) == []
    assert not list(run.parents[1].glob("density-study/**/blk_*"))


def test_every_trial_is_complete_and_valid(finished: Study) -> None:
    trials = _summary(finished.run)["trials"]
    assert len(trials) == 4
    assert [(t["state"], t["verdict"], t["reasons"]) for t in trials] == [
        ("complete", "valid", t["reasons"]) for t in trials
    ], trials


def test_the_summary_is_what_its_schema_says(finished: Study) -> None:
    jsonschema.validate(_summary(finished.run), Summary.model_json_schema())


def test_one_block_claims_nothing(finished: Study) -> None:
    findings = _summary(finished.run)["findings"]
    assert all(finding["verdict"] == "inconclusive" for finding in findings)


def test_throughputs_equal_those_of_the_raw_outputs(finished: Study) -> None:
    run = finished.run
    trials = {t["trial"]: t for t in _summary(run)["trials"]}
    for name, manifest in closed_records(run / "records").items():
        raw = run / "records" / name / "raw"
        if manifest.test_case.workload == "testdfsio":
            row = parse_io_part((raw / "io" / "part-00000").read_bytes(), "part").rows[0]
            slow = row.size_bytes / 2**20 / (row.time_ms / 1000)
            fast = _metric(trials[name], "throughput_per_stream")
        elif manifest.test_case.mix == "load":
            rows = parse_summary((raw / "ycsb-1.out").read_bytes(), "out").rows
            total = overall(rows)
            assert total is not None
            slow = operation_counts(rows)["INSERT"].ok / (total.runtime_ms / 1000)
            fast = _metric(trials[name], "throughput")
        else:
            continue
        assert fast == pytest.approx(slow, rel=0.001)


def test_cpu_of_host_nodes_and_client_is_present_and_adds_up(finished: Study) -> None:
    for trial in _summary(finished.run)["trials"]:
        used = {m["scope"]: m["value"] for m in trial["metrics"] if m["name"] == "cpu_used"}
        assert {"host:here", "node:m1", "node:w1", "node:w2", "client"} <= set(used)
        parts = sum(value for scope, value in used.items() if scope.startswith(("node:", "client")))
        assert 0 < parts <= used["host:here"] + 10, used


def test_reads_were_cold(finished: Study) -> None:
    for manifest in closed_records(finished.run / "records").values():
        if manifest.test_case_id.startswith("testdfsio-random"):
            cold = manifest.cold
            assert cold is not None and cold.physical_read_bytes and cold.distinct_bytes_asked
            assert cold.physical_read_bytes >= 0.9 * cold.distinct_bytes_asked


def test_its_hook_is_called_around_each_step_and_in_no_window(finished: Study) -> None:
    calls = finished.hook.calls()
    (killed,) = (one for one in calls if one.moment.when == "before" and not _after(one, calls))
    assert killed.moment.kind == "trial"
    kinds = [one.moment.kind for one in calls if one.moment.outcome == "ok"]
    assert (kinds[0], kinds[-1], kinds.count("trial")) == ("up", "down", 4)
    for trial, manifest in closed_records(finished.run / "records").items():
        *_, before, after = (one.t for one in calls if one.moment.trial == trial)
        window = manifest.window
        assert window is not None
        assert before < window.start_epoch_s < window.end_epoch_s < after


def _after(begun: Call, calls: Sequence[Call]) -> bool:
    """Whether the step ended before another began."""
    later = [one.moment for one in calls if one.t > begun.t][:1]
    return later == [replace(begun.moment, when="after", outcome="ok")]


def test_its_metrics_are_read_by_prometheus_own_parser_while_it_runs(finished: Study) -> None:
    run, pages = finished.run, [_samples(page, finished.run) for page in finished.pages]
    steps = [page["run_step", ""] for page in pages]
    assert steps == sorted(steps) and len(set(steps)) > 3
    shown = {page["trial_operations_per_second", ""] for page in pages if _has_rate(page)}
    files = [*run.glob("records/*/raw/*.err"), *run.glob("records/*/logs/*.err")]
    texts = (file.read_text() for file in files)
    of_ycsb = {
        float(rate) for text in texts for rate in re.findall(r"operations; ([\d.]+) current", text)
    }
    assert shown & of_ycsb, (shown, of_ycsb)
    cpu = [
        page["hosts_cpu_used_ratio", ""] for page in pages if ("hosts_cpu_used_ratio", "") in page
    ]
    assert cpu and 0 < max(cpu) <= 1
    assert sum(value for (name, _), value in pages[-1].items() if name == "run_trials") == 4


def _has_rate(page: Mapping[tuple[str, str], float]) -> bool:
    return page.get(("trial_operations_per_second", ""), 0) > 0


def _samples(page: str, run: Path) -> dict[tuple[str, str], float]:
    """(metric, its label beside study and run) -> value."""
    found = {}
    for family in text_string_to_metric_families(page):
        for one in family.samples:
            labels = dict(one.labels)
            assert (labels.pop("study"), labels.pop("run")) == (run.parent.name, run.name)
            found[one.name.removeprefix("density_study_"), "".join(labels.values())] = one.value
    return found


def test_a_collector_gets_its_course_as_spans(finished: Study) -> None:
    about = {
        one.span_id: {a.key: a.value.string_value for a in one.attributes} for one in finished.spans
    }
    killed, resumed = (one for one in finished.spans if not one.parent_span_id)
    outcomes = [about[one.span_id]["density_study.outcome"] for one in (killed, resumed)]
    assert outcomes == ["interrupted", "ok"]
    within = [one for one in finished.spans if one.parent_span_id == resumed.span_id]
    (up,) = (one for one in within if about[one.span_id].get("density_study.kind") == "up")
    assert len([one for one in finished.spans if one.parent_span_id == up.span_id]) > 3
    assert any(one.name.startswith("analysis: ") for one in within)
    trials = {about[one.span_id].get("density_study.trial"): one for one in within}
    for trial, manifest in closed_records(finished.run / "records").items():
        span, window = trials[trial], manifest.window
        assert window is not None
        assert span.start_time_unix_nano < window.start_epoch_s * 1e9
        assert window.end_epoch_s * 1e9 < span.end_time_unix_nano


@pytest.mark.slow
def test_the_report_can_be_regenerated_without_a_cluster(finished: Study) -> None:
    run = finished.run
    before = _summary(run)
    again = study("report", str(run), runs=run.parents[1])
    assert again.returncode == 0, again.stderr
    after = _summary(run)
    for volatile in ("created", "time"):
        before.pop(volatile)
        after.pop(volatile)
    assert after == before


@pytest.mark.slow
def test_an_interrupt_leaves_no_process_and_an_incomplete_record(tmp_path: Path) -> None:
    _interrupted(tmp_path, signal.SIGINT, 130)


@pytest.mark.slow
def test_a_termination_leaves_no_process_and_an_incomplete_record(tmp_path: Path) -> None:
    _interrupted(tmp_path, signal.SIGTERM, 143)


def _interrupted(runs: Path, number: signal.Signals, code: int) -> None:
    with study_run(runs) as child:
        run = wait_for(runs, lambda entry: entry.get("state") == "running", 300)
        child.send_signal(number)
        output, _ = child.communicate(timeout=120)
        assert child.returncode == code, output
        assert left_of(run) == []
        states = [manifest.state for manifest in closed_records(run / "records").values()]
        assert states == ["incomplete"]
        assert "recorded as incomplete" in output


@pytest.mark.slow
def test_reap_cleans_up_after_kill_9(tmp_path: Path) -> None:
    with study_run(tmp_path) as child:
        run = wait_for(tmp_path, lambda entry: entry.get("state") == "running", 300)
        child.kill()
        child.communicate()
        assert left_of(run) != []
        reaped = study("reap", "--runs", str(tmp_path), runs=tmp_path)
        assert reaped.returncode == 0, reaped.stderr
        assert left_of(run) == []
        assert [m.state for m in closed_records(run / "records").values()] == ["incomplete"]
        assert study("reap", "--runs", str(tmp_path), runs=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_daemon_that_dies_in_bring_up_is_named_with_its_last_lines(tmp_path: Path) -> None:
    with study_run(tmp_path) as child:
        run = wait_for(tmp_path, lambda e: _started(e, "hmaster"), 120)
        entry = next(e for e in _journal(run) if _started(e, "hmaster"))
        subprocess.run(["kill", "-9", str(entry["pid"])], check=True)
        output, _ = child.communicate(timeout=300)
    assert child.returncode == 1
    assert "hmaster died" in output
    assert left_of(run) == []
    states = {manifest.state for manifest in closed_records(run / "records").values()}
    assert states == {"incomplete"}


def _started(entry: dict[str, object], name: str) -> bool:
    return entry["event"] == "process-started" and entry["name"] == name


def _journal(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


def _summary(run: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((run / "report" / "summary.json").read_text())
    return value


def _metric(trial: dict[str, Any], name: str) -> float:
    return float(next(m["value"] for m in trial["metrics"] if m["name"] == name))


@pytest.mark.slow
def test_the_workers_of_spark_read_large_records(tmp_path: Path) -> None:
    # Spark starts while the last step ends, in the process of the tasks
    spec = tmp_path / "small.yaml"
    whole = SPEC.read_text()
    spec.write_text(whole.partition("  - ycsb")[0] + "repetitions: 1\nseed: 7\n")
    program = (sys.executable, "-m", "tests.spark.programs.study_with_workers")
    with study_run(tmp_path / "runs", "--anyway", spec=spec, program=program) as child:
        output, _ = child.communicate(timeout=600)
    assert child.returncode == 0, output
    (run,) = (tmp_path / "runs").glob("*/2*")
    summary = json.loads((run / "report" / "summary.json").read_text())
    assert [trial["verdict"] for trial in summary["trials"]] == ["valid", "valid"]
