"""Cromwell's workflow metadata (`/api/workflows/v1/ID/metadata?expandSubWorkflows=true`, also of Terra).

It has what tasks reserved (runtimeAttributes) and when they ran, and no counters: CPU time, memory used and
I/O are unknown. The run time of a call is the time of its container, without queues and the VM's start,
where the backend records it. Sizes are of 1024, as Cromwell passes them to the backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from density_study.analysis.capacity.traces.amounts import (
    between_s,
    cpus,
    epoch_s,
    known,
    mib,
    number,
)
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import Outcome, Record, Task, linked
from density_study.cluster.model.plain import plain
from density_study.cluster.state.plain_file import why_unread

CONTAINER = (  # beginnings of events of Google's Life Sciences API, v1alpha2 and v2
    "localizing-files", "running-docker", "delocalizing-files",
    "containersetup", "background", "localization", "useraction", "delocalization",
)  # fmt: skip
VM = ("job state is set from scheduled to running",)  # of Google's Batch, until the next event
JOB = ("runningjob",)
OUTCOMES: dict[str, Outcome] = {"Done": "done", "Failed": "lost", "RetryableFailure": "lost",
                                "Aborted": "lost", "Aborting": "lost", "Bypassed": "reused"}  # fmt: skip
MOST_DEPTH = 64
Calls = Iterator[tuple[str, str, Mapping[str, Any]]]


def read(source: Source) -> Record:
    """InputError if it is not metadata, or if its sub-workflows were not expanded."""
    document = source.document()
    workflows = document if isinstance(document, list) else [document]
    calls = []
    for workflow in workflows:
        if not isinstance(workflow, dict) or not isinstance(workflow.get("calls"), dict):
            source.refuse(
                "the metadata has no calls.", "request it without includeKey and excludeKey=calls."
            )
        calls += list(_calls(workflow, str(workflow.get("workflowName", "")), "", source))
    calls = [one for one in calls if not _bypassed(one[2])]
    tasks = []
    for path, shard, call in calls:
        try:
            tasks.append(_task(path, shard, call))
        except (ValueError, OverflowError, TypeError, AttributeError) as error:
            what = (
                f"the call {plain(path.rpartition(':')[2])} cannot be parsed: {why_unread(error)}."
            )
            source.refuse(what, "give the file as Cromwell wrote it.")
    return Record(tuple(linked(tasks, [call for _, _, call in calls], _paths)))


def _calls(workflow: Mapping[str, Any], path: str, shard: str, source: Source) -> Calls:
    """(process, shard, call) of all tasks, also of sub-workflows and nested scatters."""
    if path.count(":") > MOST_DEPTH:
        source.refuse("sub-workflows are nested too deeply.", "name a record of Cromwell.")
    calls = workflow.get("calls", {})
    if not isinstance(calls, dict):
        source.refuse("the calls of a workflow are not a mapping.", "give the whole metadata.")
    for name, attempts in calls.items():
        process = f"{path}:{name.rsplit('.', 1)[-1]}"
        for call in attempts if isinstance(attempts, list) else ():
            index = call.get("shardIndex", -1) if isinstance(call, dict) else None
            if not isinstance(index, int):
                source.refuse(f"the call {name} has no shardIndex.", "give the whole metadata.")
            place = shard if index < 0 else f"{shard}/{index}".lstrip("/")
            inner = call.get("subWorkflowMetadata")
            if isinstance(inner, dict):
                yield from _calls(inner, process, place, source)
            elif "subWorkflowId" in call:
                source.refuse(
                    f"the sub-workflow {name} is not expanded, so its tasks are missing.",
                    "request the metadata with expandSubWorkflows=true.",
                )
            else:
                yield process, place, call


def _bypassed(call: Mapping[str, Any]) -> bool:
    """Whether Cromwell skipped the call because its condition was false."""
    return call.get("executionStatus") == "Bypassed"


def _task(process: str, shard: str, call: Mapping[str, Any]) -> Task:
    status = str(call.get("executionStatus"))
    outcome = OUTCOMES.get(status, "running")
    if outcome == "done" and (call.get("callCaching") or {}).get("hit") is True:
        outcome, status = "reused", "taken from the cache"
    if outcome == "lost" and call.get("backendStatus") == "Preempted":
        status = "Preempted"
    attributes = call.get("runtimeAttributes") or {}
    requested_mib = mib(attributes.get("memory")) or None
    if requested_mib and requested_mib < 1:  # bytes, if they have no unit
        raise ValueError(f"memory {str(attributes['memory'])[:40]!r} is less than 1 MiB")
    log = known(call.get("stdout"))
    start_s, end_s = epoch_s(call.get("start")), epoch_s(call.get("end"))
    return Task(
        process=process,
        tag=shard,
        outcome=outcome,
        status=status,
        realtime_s=None if outcome == "reused" else _run_s(call),
        cpus=cpus(attributes.get("cpu")),
        requested_mib=requested_mib,
        submit_s=start_s,
        end_s=end_s,
        id=f"{log} {process} {shard}" if log else None,
        uses_gpus=bool(number(attributes.get("gpuCount"))),
    )


def _run_s(call: Mapping[str, Any]) -> float | None:
    """Seconds of the container; else of its VM, of the backend's job, or of the call with its waits."""
    events = call.get("executionEvents") or []
    for wanted in (CONTAINER, VM, JOB):
        found = [e for e in events if str(e.get("description")).lower().startswith(wanted)]
        starts, ends = (
            _by_epoch(event.get(key) for event in found) for key in ("startTime", "endTime")
        )
        if starts and ends:
            return between_s(starts[0], ends[-1])
    return between_s(call.get("start"), call.get("end"))


def _by_epoch(times: Iterable[object]) -> list[object]:
    """Those that are times, the earliest first."""
    return sorted(
        (at for at in times if epoch_s(at) is not None), key=lambda at: epoch_s(at) or 0.0
    )


def _paths(value: object) -> Iterator[str]:
    """All texts in a value that may be paths of files."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and "/" in one:
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
