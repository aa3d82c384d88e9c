"""Files of a rolling event log of Spark are one record, and a file that is named twice is one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.traces.records import (
    END,
    STAGE,
    START,
    TASK,
    environment,
    hours,
    nextflow,
    profile_from,
)


def test_a_rolling_log_of_spark_is_one_log_in_order(tmp_path: Path) -> None:
    files = {"eventlog_v2_app/appstatus_app": ""}
    files |= {f"eventlog_v2_app/events_{place}_app": TASK for place in range(2, 11)}
    files["eventlog_v2_app/events_1_app"] = START + environment() + STAGE
    files["eventlog_v2_app/events_11_app"] = TASK + END
    profile = profile_from(tmp_path, files)
    assert hours(profile) == {"a-0": (5.0, 10)}
    assert not any("did not end" in line for line in profile.left_out())
    (tmp_path / "eventlog_v2_app/events_4_app").unlink()
    with pytest.raises(InputError, match="a file of this rolling log is missing"):
        read_traces([tmp_path])
    compacted = tmp_path / "eventlog_v2_app/events_10_app.compact"
    compacted.write_text(START + environment() + STAGE + TASK)
    profile = profile_of(read_traces([tmp_path]), 1, "x", "t")
    assert hours(profile) == {"a-0": (1.0, 2)}
    assert any("Spark compacted the log" in line for line in profile.left_out())


@pytest.mark.parametrize("rolls", [range(2, 12), range(3, 4)], ids=["later files", "one file"])
def test_a_rolling_log_without_its_first_file_is_refused(tmp_path: Path, rolls: range) -> None:
    with pytest.raises(InputError, match="a file of this rolling log is missing") as caught:
        profile_from(tmp_path, {f"events_{place}_app": TASK + END for place in rolls})
    assert "name its whole folder" in caught.value.remedy


def test_rolling_logs_of_two_applications_may_lie_in_one_folder(tmp_path: Path) -> None:
    files = {}
    for app in ("application_1_0001", "application_1_0002_1"):
        files |= {f"events_1_{app}": START + environment() + STAGE, f"events_2_{app}": TASK + END}
    assert hours(profile_from(tmp_path, files)) == {"a-0": (1.0, 2)}


def test_a_later_file_of_a_rolling_log_may_begin_with_any_event_or_be_empty(tmp_path: Path) -> None:
    files = {"events_1_app": START + environment() + STAGE, "events_3_app": ""}
    files["events_2_app"] = '{"Event": "org.apache.spark.sql.streaming.Other"}\n' + TASK + END
    assert hours(profile_from(tmp_path, files)) == {"a-0": (0.5, 1)}


def test_records_of_other_systems_may_have_names_of_a_rolling_log(tmp_path: Path) -> None:
    files = {
        f"events_{place}_x": nextflow(f"a/{place}|A (1)|COMPLETED|1h|100%|1") for place in (1, 2)
    }
    assert hours(profile_from(tmp_path, files)) == {"a": (2.0, 2)}


@pytest.mark.parametrize("name", ["trace.txt", "link.txt", "other/../trace.txt"])
def test_a_file_that_is_named_twice_counts_once(tmp_path: Path, name: str) -> None:
    row = "A (1)|COMPLETED|1h|100%"  # without an id
    folder = tmp_path / "run"
    (folder / "other").mkdir(parents=True)
    (folder / "trace.txt").write_text(nextflow(row, head="name|status|realtime|%cpu"))
    (tmp_path / "link.txt").symlink_to(folder / "trace.txt")
    again = tmp_path / name if name == "link.txt" else folder / name
    for paths in ([folder, again], [again, folder]):
        assert hours(profile_of(read_traces(paths), 1, "x", "t")) == {"a": (1.0, 1)}


def test_a_file_of_a_rolling_log_that_is_named_twice_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "events_1_app").write_text(START + environment() + STAGE + TASK + END)
    profile = profile_of(read_traces([tmp_path, tmp_path / "events_1_app"]), 1, "x", "t")
    assert hours(profile) == {"a-0": (0.5, 1)}


def test_a_benchmark_that_is_named_beside_its_folder_keeps_its_rule(tmp_path: Path) -> None:
    path = tmp_path / "align" / "a.tsv"
    path.parent.mkdir()
    path.write_text("s\th:m:s\tcpu_time\n3600\t1:00:00\t3600\n")
    for paths in ([tmp_path, path], [path, tmp_path]):
        assert hours(profile_of(read_traces(paths), 1, "x", "t")) == {"align": (1.0, 1)}
