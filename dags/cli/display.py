"""Plans, checks and status as `study` prints them. Colours appear on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from density_study.cluster.model.isolation import isolation_of
from density_study.cluster.model.store import cautions
from density_study.cluster.state.events import Notified
from density_study.dags.cli.layout import rows_table
from density_study.dags.cli.progress_display import headline
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.planning.requests import requests_of
from density_study.workloads.study.factors.tier import is_emulated

if TYPE_CHECKING:
    from density_study.dags.run_status.status import Status
    from density_study.workloads.execution.run import Run
    from density_study.workloads.planning.preflight import Check

MIN_REPETITIONS = 5
"""Fewer builds per variant allow no claim (docs/methodology.md, rule 2)."""

# ---------------------------------------------------------------------------------- the plan


def plan_page(
    plan: Plan,
    need_mib: int,
    analysis_s: float,
    design_notes: Iterable[str] = (),
    design_warnings: Iterable[str] = (),
    budget_s: float | None = None,
    source: str = "",
) -> RenderableType:
    """The steps in order with their estimates, the topologies, and what the study can and cannot show.
    `source`: of the times, in words."""
    return Group(
        Text(
            f"study {plan.study}: {_repetitions(plan)}, {len(plan.builds)} build(s), "
            f"{len(plan.trials)} trial(s), seed {plan.seed}",
            style="bold",
        ),
        Text(""),
        *_steps_lines(plan),
        Text(""),
        _topologies_table(plan),
        Text(""),
        Text(f"time     {_about(plan, analysis_s, budget_s)}, of which analysis {duration(analysis_s)}"),
        Text(f"         {source}"),
        Text(f"disk     up to {_size(need_mib)} at once; the data of a build are deleted with it"),
        *(Text(f"asks     {requests}") for requests in requests_of(plan)),
        *(Text(f"shows    {line}") for line in design_notes),
        *(
            Text(f"warning  {warning}", style="yellow")
            for warning in (*warnings_of(plan), *design_warnings)
        ),
    )  # fmt: skip


def _repetitions(plan: Plan) -> str:
    return str(plan.precise) if plan.precise else f"{plan.repetitions} repetition(s)"


def _about(plan: Plan, analysis_s: float, budget_s: float | None) -> str:
    """A search ends when it has its answer, and repetitions may end when comparisons are precise enough: what
    is planned is the most that they may take."""
    bounded = plan.precise or any(step.probe for step in plan.trials)
    most = "at most about" if bounded else "about"
    return f"{most} {duration(min(plan.estimate_s + analysis_s, budget_s or inf))}"


def _size(mib: int) -> str:
    return f"{mib:,} MiB" if mib < 10_240 else f"{mib / 1024:,.0f} GiB"


def warnings_of(plan: Plan) -> Iterator[str]:
    """What the plan cannot show, for the reader to know before spending hours on it."""
    if plan.repetitions < MIN_REPETITIONS:
        repetitions = "1 repetition" if plan.repetitions == 1 else f"{plan.repetitions} repetitions"
        yield (
            f"{repetitions}: points only, no claims; a claim needs at least {MIN_REPETITIONS} builds "
            f"per variant (--set repetitions={MIN_REPETITIONS})"
        )
    nodes = isolation_of(topology.isolation for topology in plan.topologies.values()).facts
    densities = {topology.variant.vms_per_host for topology in plan.built}
    if nodes.stand_in and len(densities) > 1:
        limit = f"may support claims about {nodes.noun}s only"
        limit = "support no claim about VMs" if nodes.only_stands_in else limit
        yield f"nodes are {nodes.stand_in}; the results {limit}"
    if any(is_emulated(one.levels.get("tier", "")) for one in plan.topologies.values()):
        yield "persistent memory is emulated (tmpfs); its variants support no claim"
    stores = dict.fromkeys(topology.store for topology in plan.topologies.values())
    if len({store.durability for store in stores}) > 1:
        yield (
            f"stores with unequal durability are not compared: {'; '.join(one.words for one in stores)}"
        )
    yield from cautions(topology.store for topology in plan.topologies.values())
    yield from _shared_drives(plan)


def _shared_drives(plan: Plan) -> Iterator[str]:
    """Densities at which nodes share drives although neither number divides the other."""
    for topology in plan.built:
        for host in dict.fromkeys(node.host for node in topology.workers):
            nodes = [node for node in topology.workers if node.host == host]
            drives = {disk for node in nodes for disk in node.disks}
            if drives and len(nodes) % len(drives) and len(drives) % len(nodes):
                each = sum(next(iter(drives)) in node.disks for node in nodes)
                yield (
                    f"{topology.name}: {len(nodes)} nodes of {host} share its {len(drives)} "
                    f"{topology.variant.disk_type} drives evenly, {each} on each; with a density that "
                    "divides the drives, each node would have its own"
                )
                break


def _steps_lines(plan: Plan) -> Iterator[Text]:
    """Columns formatted by hand: a rich table takes seconds for a thousand rows."""
    rows = [("step", "build", "what", "about")]
    rows += [(f"{s.index + 1}", s.build, _what(s), duration(s.estimate_s)) for s in plan.steps]
    step_w, build_w, what_w, about_w = (max(map(len, column)) for column in zip(*rows, strict=True))
    styles = ("bold", *("" if step.kind == "trial" else "dim" for step in plan.steps))
    for (step, build, what, about), style in zip(rows, styles, strict=True):
        line = f"{step:>{step_w}} {build:<{build_w}} {what:<{what_w}} {about:>{about_w}}"
        yield Text(line, style, no_wrap=True, overflow="ignore")


def _what(step: Step) -> str:
    if step.test_case is None:
        return {"up": "bring up", "down": "tear down"}[step.kind]
    on = step.monitored if step.overhead_of is None else bool(step.devices)
    what = f"{'with' if on else 'without'} {step.overhead_of or 'monitors'}"
    pair = f", overhead pair {step.overhead_pair}, {what}" if step.overhead_pair else ""
    probe = f", probe {step.probe} of at most {_probes(step)}" if step.probe else ""
    return step.test_case.id + pair + probe


def _probes(step: Step) -> int:
    search = step.test_case.sought if step.test_case else None
    return search.probes if search else 0


def _topologies_table(plan: Plan) -> Table:
    rows = []
    for topology in plan.topologies.values():
        for host in topology.hosts:
            nodes = [node for node in topology.nodes if node.host == host.name]
            rows.append((
                topology.name,
                f"{host.name} ({host.cores} cores, {host.memory_mib:,} MiB)",
                "the client of an existing cluster"
                if topology.existing
                else f"{sum('worker' in node.roles for node in nodes)} {topology.isolation.facts.workers}",
                ", ".join(f"{node.name} {node.memory_mib:,} MiB" for node in nodes),
            ))  # fmt: skip
        watched = topology.existing.watched if topology.existing else ()
        rows += [(topology.name, f"{h.name} ({h.cores} cores)", "watched", "") for h in watched]
    return rows_table(("topology", "host", "nodes", "memory"), rows)


def check_line(check: Check) -> Text:
    """A line of the checklist before a run; of a fault also where, what and remedy."""
    if check.warning:
        return Text.assemble(("warn   ", "yellow"), f"{check.name}\n       {check.warning}")
    if check.fault is None:
        return Text.assemble(("ok     ", "green"), check.name)
    fault = f"{check.name}\n       {check.fault.where}: {check.fault.what}"
    return Text.assemble(("fault  ", "bold red"), f"{fault}\n       remedy: {check.fault.remedy}")


# ------------------------------------------------------------------------------------ status


def status_page(status: Status) -> RenderableType:
    """State, step, elapsed and remaining time, failures, and the next command."""
    seen = status.progress
    rows = [
        ("folder", str(status.run.root)),
        ("step", f"{seen.position} of {seen.total}"),
        ("elapsed", duration(seen.elapsed_s)),
    ]
    if status.state == "running" and seen.kept:
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(seen.kept.until))
        rows[1:] = [("kept", f"{seen.kept.build}, until {until}; study down takes it down before")]
    elif status.state == "running":
        rows += [("now", headline(seen)), ("left", f"about {duration(seen.remaining_s)}")]
    if status.stopped:
        rows.append(("next", "study run SPEC resumes it"))
    if status.state == "unknown":
        owner = status.owner
        silent_s = status.silent_s
        last = (
            "its last sign of life is unknown"
            if silent_s is None
            else f"last seen {duration(silent_s)} ago"
        )
        remedy = f"if you know that the owner is dead: study reap --force {owner}"
        rows += [
            ("owner", f"{owner}, {last}; it cannot be checked from this machine"),
            ("next", remedy),
        ]
    if status.state == "interrupted":
        rows.append(("next", "study reap cleans up; study run SPEC resumes it"))
    return Group(
        Text(f"{seen.study} {seen.run}: {status.state}", style="bold"),
        *(Text(f"{name:<8} {text}", overflow="fold") for name, text in rows),
        *failure_lines(status.failures),
        *notification_lines(status.run),
    )


def failure_lines(failures: Iterable[str]) -> Iterator[Text]:
    return (Text(f"failed   {failure}", style="red") for failure in failures)


def notification_lines(run: Run) -> Iterator[Text]:
    """The receivers that did not get the message about this run, and why."""
    for told in run.journal.since_opening(Notified):
        yield from (Text(f"not notified  {fault}", style="yellow") for fault in told.faults)
