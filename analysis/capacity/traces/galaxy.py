"""Galaxy's job metrics: a job with `job_metrics` (`/api/jobs/ID?full=true`), a list of jobs, such a job
within the key `metrics` (galaxy-benchmarker) or within Planemo's tool_test_output.json, the bare list of
`/api/jobs/ID/metrics`, or a table of the database with a row for each job, or for each metric of a job.

CPU and peak memory come from the cgroup plugin, of version 1 or 2, and are unknown without it.
(Galaxy's documentation, "Collecting Job Metrics".)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from density_study.analysis.capacity.traces.amounts import cpus, epoch_s, known, number
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import NO_GPUS, Outcome, Record, Task, linked
from density_study.cluster.model.plain import counted, plain
from density_study.cluster.state.plain_file import why_unread

OUTCOMES: dict[str, Outcome] = {"ok": "done", "error": "lost", "failed": "lost", "deleted": "lost",
                                "deleting": "lost", "stopped": "lost", "skipped": "reused"}  # fmt: skip
CPU_S = {"cpuacct.usage": 1e-9, "cpu.stat.usage_usec": 1e-6}  # cgroup v1, v2
PEAK = ("memory.peak", "memory.max_usage_in_bytes")
AROUND = ("metrics", "tests", "data", "job")  # keys that lead to a job


def read(source: Source) -> Record:
    """InputError if it has no job with metrics."""
    document = source.document() if source.start[:1] in (b"{", b"[") else _table(source)
    jobs = list(_jobs(document, source.path.name.partition(".")[0]))
    if not jobs:
        source.refuse("no job of it has job_metrics.", "request jobs with ?full=true.")
    tasks = []
    for job in jobs:
        try:
            tasks.append(_task(job))
        except (ValueError, OverflowError, TypeError, AttributeError) as error:
            what = f"the job {plain(str(job.get('id')))} cannot be parsed: {why_unread(error)}."
            source.refuse(what, "give the file as Galaxy wrote it.")
    tests = document.get("tests") if isinstance(document, dict) else None
    without = len(tests) - len(jobs) if isinstance(tests, list) else 0
    unknown = [NO_GPUS]
    if without > 0:
        unknown.append(f"{counted(without, 'test')} of Planemo without a job: no work is counted")
    return Record(tuple(linked(tasks, jobs, _datasets)), tuple(unknown))


def _table(source: Source) -> list[dict[str, Any]]:
    """The jobs of a table in the form of the API. A row has one metric, or all of a job."""
    found: dict[str, dict[str, Any]] = {}
    for line, row in source.table():
        number_of_job = row.get("job_id") or row.get("id")
        if not all((number_of_job, row.get("tool_id"), row.get("state"))):
            source.refuse(
                "the columns job_id, tool_id and state are needed, and one of them is missing or empty.",
                "export them from the tables job and job_metric_numeric.",
                line,
            )
        job = found.setdefault(
            f"{row['tool_id']} {number_of_job}", {**row, "id": number_of_job, "job_metrics": []}
        )
        metrics = (
            [(row["metric_name"], row.get("metric_value"))] if "metric_name" in row else row.items()
        )
        job["job_metrics"] += [{"name": name, "raw_value": value} for name, value in metrics]
    if not found:
        source.refuse("the table has a header and no job.", "export the rows also.")
    return list(found.values())


def _jobs(document: object, name: str) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list) and any(
        isinstance(x, dict) and "raw_value" in x for x in document
    ):
        yield {"tool_id": name, "state": "ok", "job_metrics": document}
    elif isinstance(document, list):
        for one in document:
            yield from _jobs(one, name)
    elif isinstance(document, dict) and isinstance(document.get("job_metrics"), list):
        yield document
    elif isinstance(document, dict):
        for key in AROUND:
            yield from _jobs(document.get(key), name)


def _task(job: Mapping[str, Any]) -> Task:
    seen = {str(one["name"]): one.get("raw_value") for one in job["job_metrics"] if "name" in one}
    state = str(job.get("state"))
    usage = [
        spent * factor
        for name, factor in CPU_S.items()
        if (spent := number(seen.get(name), 1e18)) is not None
    ]
    peak = [size for name in PEAK if (size := number(seen.get(name), 1e18))]
    megabytes = number(seen.get("galaxy_memory_mb"))
    return Task(
        process=_tool(str(known(job.get("tool_id")) or "tool")),
        tag=str(job.get("history_id") or ""),
        outcome=OUTCOMES.get(state, "running"),
        status=state,
        realtime_s=number(seen.get("runtime_seconds")),
        cpu_s=usage[0] if usage else None,
        cpus=cpus(seen.get("galaxy_slots")),
        rss_mib=peak[0] / 2**20 if peak else None,
        # some sites give MiB and some MB: the larger of both readings
        requested_mib=megabytes or None,
        submit_s=epoch_s(job.get("create_time")),
        end_s=epoch_s(seen.get("end_epoch")),
        id=_id(job, seen),
    )


def _id(job: Mapping[str, Any], seen: Mapping[str, Any]) -> str | None:
    """Every server has a job 1: without its time of creation, only its metrics tell it from another's."""
    number_of_job = known(job.get("id"))
    others = "" if known(job.get("create_time")) else sorted(map(str, seen.items()))
    return number_of_job and f"{number_of_job} {job.get('tool_id')} {others}"


def _tool(name: str) -> str:
    """`toolshed.g2.bx.psu.edu/repos/OWNER/REPOSITORY/TOOL/VERSION` is TOOL."""
    parts = name.split("/")
    return parts[-2] if len(parts) > 2 else name


def _datasets(values: object) -> Iterator[tuple[str, str]]:
    for value in values.values() if isinstance(values, dict) else ():
        if isinstance(value, dict) and "id" in value:
            yield str(value.get("src")), str(value["id"])
