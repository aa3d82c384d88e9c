"""Slurm's accounting: `sacct -P` or `-p`, with a header, in any order of columns and with any delimiter.

A job's row has its state, time, CPUs and request; the rows of its steps (`123.batch`, `123.0`) have the
memory. A job that was requeued (`--duplicates`) has several attempts. `4Gn` is per node, `4Gc` per
CPU, `4G` of the job, all of 1024. (Slurm's manual, "sacct".)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from density_study.analysis.capacity.traces.amounts import (
    clock_s,
    cpus,
    epoch_s,
    is_local,
    known,
    mib,
    number,
)
from density_study.analysis.capacity.traces.source import Row, Source
from density_study.analysis.capacity.traces.task import NO_GPUS, Outcome, Record, Task
from density_study.cluster.state.plain_file import why_unread

COMMAND = (
    "export it with TZ=UTC sacct -P --duplicates -o JobID,JobName,State,Submit,Start,End,ElapsedRaw,"
    "AllocCPUS,AllocTRES,NNodes,NTasks,TotalCPU,ReqMem,MaxRSS,MaxDiskRead,MaxDiskWrite."
)
# A row that is REQUEUED is of an attempt that ended; while the job waits for the next, that is PENDING.
RUNNING = {"RUNNING", "PENDING", "SUSPENDED", "CONFIGURING", "COMPLETING", "RESIZING"}
ALL = "jobs"
MOST_NAME = (
    1024  # Slurm's limit for the name of a job; the pattern would take long for a longer one
)

OF_NEXTFLOW = re.compile(r"nf-(?P<process>.+?)(?:_\((?P<tag>.*)\))?")
OF_SNAKEMAKE = re.compile(r"rule_(?P<process>.+?)(?:_wildcards_(?P<tag>.*))?")  # a comment
_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DELIMITER = re.compile(r"\bJobID(?:Raw)?\b([^\w\n]+)|([^\w\n]+)JobID(?:Raw)?\b")
_REQUEST = re.compile(r"(?P<size>[0-9.]+[KMGTP]?)(?P<per>[nc]?)", re.IGNORECASE)


@dataclass
class Attempt:
    """A row of a job, and those of its steps."""

    line: int
    job: Row
    steps: list[Row] = field(default_factory=list)


def read(source: Source) -> Record:
    """InputError, with the line and the command to export with, if it cannot be read."""
    header = source.head.decode("utf-8-sig", "replace").split("\n", 1)[0]
    if not re.search(r"\bJobID(Raw)?\b", header):
        source.refuse("the column JobID is missing.", COMMAND)
    marks = _DELIMITER.search(header)
    mark = (marks[1] or marks[2]).strip(' "') if marks else ""
    if not mark:
        source.refuse("the columns are cut to a width, for people to read.", COMMAND)
    tasks = []
    for attempt in _attempts(source.table(mark)):
        lacking = [] if "State" in attempt.job else ["State"]
        if not {"Elapsed", "ElapsedRaw"} & attempt.job.keys():
            lacking.append("Elapsed")
        if lacking:
            source.refuse(f"the column {lacking[0]} is missing.", COMMAND)
        try:
            tasks.append(_task(attempt))
        except (ValueError, OverflowError) as error:
            source.refuse(f"the line cannot be parsed: {why_unread(error)}.", COMMAND, attempt.line)
    unknown = []
    if tasks and all(task.process == ALL for task in tasks):
        unknown.append("the record has no JobName: all jobs are one stage")
    if not re.search(r"\bNTasks\b", header) and any(task.rss_mib for task in tasks):
        unknown.append(
            "the record has no NTasks: a step's memory and I/O are only those of its largest task"
        )
    if not re.search(r"\b(Alloc|Req)TRES\b", header):
        unknown.append(NO_GPUS)
    if any(_RUN_ID.fullmatch(task.process) for task in tasks):
        unknown.append(
            "Snakemake names jobs by the run, and the record has no Comment: all rules are one stage"
        )
    return Record(tuple(tasks), tuple(unknown))


def _attempts(rows: Iterator[tuple[int, Row]]) -> list[Attempt]:
    found: list[Attempt] = []
    latest: dict[str, Attempt] = {}
    for line, row in rows:
        job, _, step = (row.get("JobID") or row.get("JobIDRaw", "")).partition(".")
        attempt = latest.get(job)
        if step and attempt is not None:
            attempt.steps.append(row)
            continue
        # without a row of the job, the batch step stands for it
        attempt = latest[job] = Attempt(line, row, [row] if step else [])
        found.append(attempt)
    return found


def _task(attempt: Attempt) -> Task:
    job = attempt.job
    status = job["State"].split(" ")[0].rstrip("+")  # CANCELLED by 1000
    name = job.get("JobName") or ALL
    match = OF_NEXTFLOW.fullmatch(name) if len(name) <= MOST_NAME else None
    if _RUN_ID.fullmatch(name):
        match = OF_SNAKEMAKE.fullmatch(job.get("Comment", "")[:MOST_NAME])
    array = (job.get("JobID") or "").partition("_")[2]
    elapsed_s = number(job.get("ElapsedRaw"))
    if elapsed_s is None:
        elapsed_s = clock_s(job.get("Elapsed"))
    submit = known(job.get("Submit")) or job.get("Start")
    allocated = job.get("AllocTRES") or job.get("ReqTRES") or ""
    reserved = cpus(
        job.get("AllocCPUS") or job.get("NCPUS") or _in_tres(allocated, "cpu") or job.get("ReqCPUS")
    )
    of_job_mib = mib(_in_tres(allocated, "mem"), None)
    outcome: Outcome = "done" if status == "COMPLETED" else "lost"
    return Task(
        process=match["process"] if match else name,
        tag=(match["tag"] if match else None) or array.partition(".")[0],
        outcome="running" if status in RUNNING else outcome,
        status=status,
        realtime_s=elapsed_s,
        cpu_s=_cpu_s(job, outcome == "lost" and status != "FAILED" and elapsed_s != 0),
        cpus=reserved,
        rss_mib=_most(_used_mib(step) for step in (job, *attempt.steps)),
        requested_mib=_requested_mib(job, reserved) or of_job_mib or None,
        read_mib=_sum(_moved_mib(step, "TRESUsageInTot", "MaxDiskRead") for step in attempt.steps),
        write_mib=_sum(
            _moved_mib(step, "TRESUsageOutTot", "MaxDiskWrite") for step in attempt.steps
        ),
        submit_s=epoch_s(submit),
        submit_is_local=is_local(submit),
        start_s=epoch_s(job.get("Start")),
        end_s=epoch_s(job.get("End")),
        id=_id(job),
        uses_gpus=bool(number(_in_tres(allocated, "gres/gpu(?::[^=,]+)?"))),
    )


def _id(job: Row) -> str | None:
    """A job that was requeued has its number again, and starts anew."""
    start = known(job.get("Start"))
    number_of_job = job.get("JobID") or job.get("JobIDRaw")
    return start and f"{job.get('Cluster', '')} {number_of_job} {start}"


def _cpu_s(job: Row, killed: bool) -> float | None:
    """killed: nobody counts the CPU time of steps that are killed, and 0 is what sacct prints then."""
    total = clock_s(job.get("TotalCPU"))
    if total is None:
        user, system = clock_s(job.get("UserCPU")), clock_s(job.get("SystemCPU"))
        total = None if user is None or system is None else user + system
    return None if killed and not total else total


def _used_mib(step: Row) -> float | None:
    """Memory of all processes of a step. MaxRSS is only that of its largest task."""
    total = mib(_in_tres(step.get("TRESUsageInTot", ""), "mem"), None)
    return total if total is not None else _of_all_tasks(step, "MaxRSS")


def _moved_mib(step: Row, total: str, largest: str) -> float | None:
    """What all processes of a step read or wrote; at most that of the largest task for each task."""
    found = mib(_in_tres(step.get(total, ""), "fs/disk"))
    return found if found is not None else _of_all_tasks(step, largest)


def _of_all_tasks(step: Row, column: str) -> float | None:
    of_one = mib(step.get(column), None)
    return None if of_one is None else of_one * (number(step.get("NTasks")) or 1)


def _in_tres(text: str, name: str) -> str | None:
    """The amount of one resource in a text such as `billing=8,cpu=8,mem=32G,node=1`. name: a pattern."""
    found = re.search(rf"(?:^|,){name}=([0-9.]+[KMGTP]?)(?:,|$)", text)
    return None if found is None else found[1]


def _requested_mib(job: Row, reserved: int | None) -> float | None:
    text = known(job.get("ReqMem"))
    if text is None:
        return None
    match = _REQUEST.fullmatch(text)
    if match is None:
        raise ValueError(f"ReqMem {text[:40]!r}")
    size = mib(match["size"], None)
    if not size:  # 0n: all memory of the node
        return None
    nodes = number(job.get("NNodes") or job.get("AllocNodes"))
    times = {"n": nodes, "c": reserved, "": 1}[match["per"].lower()]
    return None if times is None else size * times


def _sum(values: Iterator[float | None]) -> float | None:
    amounts = [value for value in values if value is not None]
    return sum(amounts) if amounts else None


def _most(values: Iterator[float | None]) -> float | None:
    return max((value for value in values if value), default=None)
