"""The newest second of a run, as a monitoring system reads it."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from density_study.dags.cli.watch.page import Page
from density_study.dags.run_status.newest import Sample
from density_study.dags.run_status.progress import Progress
from density_study.dags.telemetry.openmetrics import openmetrics
from density_study.workloads.ycsb.output.status import IntervalLatency
from tests.unit.dags.live_view.seen import SEEN, get

NEWEST = Sample(
    ops_s=900.0,
    p99=IntervalLatency("READ", 700.0, p99_us=2500),
    elapsed_s=12,
    cpu_used_percent=40.0,
    disk_mib_s=2.0,
)


def values(seen: Progress) -> dict[tuple[str, str], float]:
    """(metric, its label beside study and run) -> value, as Prometheus' own parser reads the page."""
    found = {}
    for family in text_string_to_metric_families(openmetrics(seen).decode()):
        for one in family.samples:
            labels = dict(one.labels)
            assert (labels.pop("study"), labels.pop("run")) == (seen.study, seen.run)
            found[one.name.removeprefix("density_study_"), "".join(labels.values())] = one.value
    return found


def test_units_are_seconds_bytes_and_ratios() -> None:
    found = values(replace(SEEN, newest=NEWEST))
    assert found["trial_operations_per_second", ""] == 900.0
    assert found["trial_p99_seconds", ""] == 0.0025
    assert found["hosts_cpu_used_ratio", ""] == 0.4
    assert found["hosts_disk_bytes_per_second", ""] == 2 * 1024**2
    assert (found["run_elapsed_seconds", ""], found["run_remaining_seconds", ""]) == (60.0, 180.0)
    assert (found["run_steps_ended", "ok"], found["run_trials", "invalid"]) == (1.0, 1.0)


def test_what_is_unknown_is_no_zero() -> None:
    for seen in (SEEN, replace(SEEN, newest=Sample())):
        assert not [name for name, _ in values(seen) if name.startswith(("trial_", "hosts_"))]
    assert ("hosts_cpu_iowait_ratio", "") not in values(replace(SEEN, newest=NEWEST))


def test_names_of_others_stay_text() -> None:
    hostile = replace(SEEN, activity='x"} 1\ndensity_study_run_steps 7', newest=NEWEST)
    assert values(hostile)["run_steps", ""] == SEEN.total


def test_it_is_served_beside_the_page_if_wanted() -> None:
    for wanted, status in ((True, 200), (False, 404)):
        page = Page(0, wanted)
        with page.served():
            page.show(SEEN)
            answer = get(page, "/metrics")
            assert answer[0] == status
            assert not wanted or (b"# EOF" in answer[2] and "openmetrics-text" in answer[1])
