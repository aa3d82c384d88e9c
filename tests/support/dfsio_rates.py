"""TestDFSIO's three rates by an independent, plain reading of the job's output, without our
parsers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 2**20


@dataclass(frozen=True)
class Rates:
    """MiB/s by metric name; and the largest number of concurrent maps."""

    throughput_per_stream: float
    throughput_map_phase: float
    throughput_job: float
    concurrent_maps: int


def slow_rates(parts: list[Path], history: Path) -> Rates:
    """From every `part-*` of the job and its one history."""
    sums = {"l:size": 0, "l:time": 0}
    for part in parts:
        for line in part.read_text().splitlines():
            key, value = line.split("\t")
            if key in sums:
                sums[key] += int(value)
    mib = sums["l:size"] / MIB
    events = [json.loads(line) for line in history.read_text().splitlines()[2:] if line.strip()]
    spans = list(_map_spans(events).values())
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    submitted = _only(events, "JOB_SUBMITTED")["submitTime"]
    finished = _only(events, "JOB_FINISHED")["finishTime"]
    return Rates(
        throughput_per_stream=mib / (sums["l:time"] / 1000),
        throughput_map_phase=mib / ((max(ends) - min(starts)) / 1000),
        throughput_job=mib / ((finished - submitted) / 1000),
        concurrent_maps=max(sum(s <= t < e for s, e in spans) for t in starts),
    )


def _map_spans(events: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    started = {
        body["attemptId"]: body["startTime"]
        for kind, body in _bodies(events)
        if kind == "MAP_ATTEMPT_STARTED"
    }
    return {
        body["attemptId"]: (started[body["attemptId"]], body["finishTime"])
        for kind, body in _bodies(events)
        if kind == "MAP_ATTEMPT_FINISHED"
    }


def _only(events: list[dict[str, Any]], wanted: str) -> dict[str, Any]:
    (body,) = [body for kind, body in _bodies(events) if kind == wanted]
    return body


def _bodies(events: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(event["type"], next(iter(event["event"].values()))) for event in events]
