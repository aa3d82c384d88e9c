"""Files of a rolling event log of Spark are one record."""

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
