"""A plan as text for other programs: `nextflow-config`, `slurm`, and `csv` by stage."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from density_study.analysis.capacity.inputs.catalogue import Catalogue, HostType
from density_study.analysis.capacity.inputs.profile import Profile, Stage
from density_study.analysis.capacity.plan.carried import Purchase
from density_study.analysis.capacity.plan.plan import Plan, plan_sentence
from density_study.cluster.model.plain import csv_cell
from density_study.dags.cli.capacity.inputs import Format

SPARE = 1.25  # of a request over the peak that was used
STAGE_COLUMNS = (
    "stage", "tasks", "cores_per_task", "request_gib", "core_hours", "lost_share", "hours_q05",
    "hours_q50", "hours_q95", "slots_share_q50",
)  # fmt: skip
YEAR_COLUMNS = (
    "host_type", "price", "vms_per_host", "year", "genomes_per_day", "hosts", "usd", "kw", "rack_units",
)  # fmt: skip


def plan_text(plan: Plan, profile: Profile, catalogue: Catalogue, form: Format) -> str:
    """The text in a form other than a table."""
    host = next(one for one in catalogue.hosts if one.name == plan.host_type)
    if form is Format.csv:
        return _csv(STAGE_COLUMNS, _stage_rows(plan, profile, host))
    write = _slurm if form is Format.slurm else _nextflow
    return "\n".join(write(plan, profile, host)) + "\n"


def years_csv(rows: Sequence[Purchase]) -> str:
    """One row for each host type and year. A cell is empty where a number is unknown."""
    return _csv(YEAR_COLUMNS, (
        (row.host_type, row.price, row.vms_per_host, year.year, f"{year.genomes_per_day:.6g}",
         *("" if one is None else f"{one:.6g}" for one in (year.hosts, year.usd, year.kw, year.rack_units)))
        for row in rows for year in row.years
    ))  # fmt: skip


def request_gib(stage: Stage) -> int | None:
    """Memory to request for one task: its peak with a quarter to spare; without a peak what it requests now.
    Whole GiB; None if both are unknown."""
    if stage.ram_used_gib is not None:
        return max(1, math.ceil(stage.ram_used_gib.high * SPARE))
    return None if stage.ram_gib is None else max(1, math.ceil(stage.ram_gib.high))


def _one_line(plan: Plan) -> str:
    """For a comment: names from a catalogue of others may have line ends, after which text would be code, and
    Groovy reads the escape of one as one."""
    return " ".join(plan_sentence(plan).replace("\\", "/").split())


def _word(name: str) -> str:
    """A name from a file of others, with nothing that the program might read as more than a name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def _cores(stage: Stage, plan: Plan, host: HostType) -> int:
    return max(1, min(stage.cores_per_task, host.cores // max(1, plan.vms_per_host)))


def _stage_rows(plan: Plan, profile: Profile, host: HostType) -> Iterator[Sequence[object]]:
    shown = {row.stage: row for row in plan.stages}
    for stage in profile.stages:
        row, hours = shown[stage.name], stage.core_hours
        spread = (row.hours.q05, row.hours.q50, row.hours.q95, row.share.q50)
        yield (
            stage.name, stage.tasks, _cores(stage, plan, host), request_gib(stage) or "",
            "" if hours is None else f"{hours.value:.6g}", stage.lost,
            *(f"{one:.6g}" if stage.computes else "" for one in spread),
        )  # fmt: skip


def _nextflow(plan: Plan, profile: Profile, host: HostType) -> Iterator[str]:
    yield f"// {_one_line(plan)}"
    yield "process {"
    for stage in profile.stages:
        pattern = f"(?i)(.*:)?{stage.name.replace('-', '[^A-Za-z0-9]+')}"
        memory = request_gib(stage)
        asked = f"memory = '{memory} GB'" if memory else "// memory unknown"
        yield f"    withName: '{pattern}' {{"
        yield f"        cpus = {_cores(stage, plan, host)}"
        yield f"        {asked}"
        if stage.accelerator is not None:
            one = stage.accelerator
            yield f"        accelerator = [request: {one.per_task}, type: '{_word(one.kind)}']"
        yield "    }"
    yield "}"


def _slurm(plan: Plan, profile: Profile, host: HostType) -> Iterator[str]:
    vms = max(1, plan.vms_per_host)
    nodes = f"node[1-{plan.hosts * vms}]"
    real_mib = int((host.ram_gib / vms - profile.daemon_gib.high) * 1024)
    yield f"# {_one_line(plan)}"
    yield "# A node is a VM; RealMemory leaves out what daemons take."
    gres = ",".join(f"gpu:{_word(one.kind)}:{one.count // vms}" for one in host.accelerators)
    has = f" Gres={gres}" if gres else ""
    yield f"NodeName={nodes} CPUs={host.cores // vms} RealMemory={max(1, real_mib)}{has} State=UNKNOWN"
    yield f"PartitionName=genomics Nodes={nodes} Default=YES MaxTime=INFINITE State=UP"
    for stage in profile.stages:
        memory = request_gib(stage)
        asked = f"--mem={memory}G" if memory else "(memory unknown)"
        yield f"# {stage.name}: sbatch --cpus-per-task={_cores(stage, plan, host)} {asked}"


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(csv_cell, row) for row in rows)
    return text.getvalue()
