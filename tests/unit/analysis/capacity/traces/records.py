"""Records of workflow systems, for tests, and what a profile says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import read_traces


def profile_from(folder: Path, files: Mapping[str, str | bytes]) -> Profile:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return profile_of(read_traces([folder]), 1, "x", "t")


def hours(profile: Profile) -> dict[str, tuple[float, int]]:
    """Core-hours and tasks by stage."""
    return {
        stage.name: (round(stage.core_hours.value, 3) if stage.core_hours else 0.0, stage.tasks)
        for stage in profile.stages
    }


def nextflow(*rows: str, head: str = "hash|name|status|realtime|%cpu|cpus") -> str:
    return "\n".join((head, *rows)).replace("|", "\t") + "\n"


def sacct(*rows: str) -> str:
    head = "JobID|JobName|State|Submit|Start|ElapsedRaw|AllocCPUS|TotalCPU"
    return "\n".join((head, *rows)) + "\n"


def galaxy(name: str) -> dict[str, Any]:
    seen = {"galaxy_slots": "8.0", "runtime_seconds": "3600.0", "cpuacct.usage": "7200000000000.0"}
    metrics = [{"name": key, "raw_value": value} for key, value in seen.items()]
    return {"id": name, "tool_id": "bwa", "state": "ok", "job_metrics": metrics}


def event(kind: str, **more: Any) -> str:
    return json.dumps({"Event": f"SparkListener{kind}", **more}) + "\n"


SPARK = {"spark.master": "yarn", "spark.executor.memory": "8g"}
START = event("LogStart", **{"Spark Version": "3.5.0"}) + event("ApplicationStart")
STAGE = event(
    "StageSubmitted", **{"Stage Info": {"Stage ID": 0, "Stage Name": "a", "RDD Info": []}}
)
TASK = event(
    "TaskEnd",
    **{"Stage ID": 0, "Task End Reason": {"Reason": "Success"}, "Task Info": {},
       "Task Metrics": {"Executor Run Time": 3600000, "Executor CPU Time": 1800 * 10**9}},
)  # fmt: skip
END = event("ApplicationEnd")


def environment(**more: str) -> str:
    return event("EnvironmentUpdate", **{"Spark Properties": {**SPARK, **more}})
