"""Plans, progress and status as `study` prints them. Colours appear on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dags.run_status.progress import Ended, Progress
from dags.stages.task_names import STAGES
from workloads.planning.plan import Plan, Step

if TYPE_CHECKING:
    from cluster.model.topology import Topology
    from dags.run_status.status import Status
    from workloads.planning.preflight import Check

MIN_REPETITIONS = 5
"""Fewer builds per arm allow no claim (docs/methodology.md, rule 2)."""

Show = Callable[[Progress], None]


def clock(seconds: float) -> str:
    """Seconds as 4:05 or 1:02:03."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# ---------------------------------------------------------------------------------- the plan


def plan_page(
    plan: Plan,
    need_mib: int,
    analysis_s: float,
    design_notes: Iterable[str] = (),
    design_warnings: Iterable[str] = (),
) -> RenderableType:
    """The steps in order with their estimates, the topologies, and what the study can and cannot show."""
    return Group(
        Text(
            f"study {plan.study}: {plan.repetitions} repetition(s), {len(plan.builds)} build(s), "
            f"{len(plan.trials)} trial(s), seed {plan.seed}",
            style="bold",
        ),
        Text(""),
        *_steps_lines(plan),
        Text(""),
        _topologies_table(plan),
        Text(""),
        Text(f"time     about {clock(plan.estimate_s + analysis_s)}, of which analysis {clock(analysis_s)}"),
        Text(f"disk     up to {need_mib:,} MiB at once; the data of a build are deleted with it"),
        *(Text(f"shows    {line}") for line in design_notes),
        *(
            Text(f"warning  {warning}", style="yellow")
            for warning in (*warnings_of(plan), *design_warnings)
        ),
    )  # fmt: skip


_NOUNS = {"process": "worker(s)", "host": "worker(s) on the bare host", "vm": "worker VM(s)"}


def warnings_of(plan: Plan) -> Iterator[str]:
    """What the plan cannot show, for the reader to know before spending hours on it."""
    if plan.repetitions < MIN_REPETITIONS:
        repetitions = "1 repetition" if plan.repetitions == 1 else f"{plan.repetitions} repetitions"
        yield (
            f"{repetitions}: points only, no claims; a claim needs at least {MIN_REPETITIONS} builds "
            f"per arm (--set repetitions={MIN_REPETITIONS})"
        )
    if any(topology.isolation == "process" for topology in plan.topologies.values()):
        yield "nodes are groups of processes, not VMs; the results support no claim about VMs"
    for topology in plan.topologies.values():
        used, most = _drives(topology, plan)
        if topology.isolation == "vm" and used < most:
            yield (
                f"{topology.name}: one drive per VM uses {used} of the {most} {topology.medium} drives "
                "of a host (as in the talk); other densities use more"
            )


def _drives(topology: Topology, plan: Plan) -> tuple[int, int]:
    """Drives of the topology's medium that its workers use on one host, and the maximum over topologies."""

    def used(one: Topology) -> int:
        drives = {(node.host, disk.path) for node in one.workers for disk in node.disks}
        return max(sum(host == name for host, _ in drives) for name in {h for h, _ in drives})

    same = [one for one in plan.topologies.values() if one.medium == topology.medium]
    return used(topology), max(used(one) for one in same)


def _steps_lines(plan: Plan) -> Iterator[Text]:
    """Columns formatted by hand: a rich table takes seconds for a thousand rows."""
    rows = [("step", "build", "what", "about")]
    rows += [(f"{s.index + 1}", s.build, _what(s), clock(s.estimate_s)) for s in plan.steps]
    step_w, build_w, what_w, about_w = (max(map(len, column)) for column in zip(*rows, strict=True))
    styles = ("bold", *("" if step.kind == "trial" else "dim" for step in plan.steps))
    for (step, build, what, about), style in zip(rows, styles, strict=True):
        line = f"{step:>{step_w}} {build:<{build_w}} {what:<{what_w}} {about:>{about_w}}"
        yield Text(line, style, no_wrap=True, overflow="ignore")


def _what(step: Step) -> str:
    if step.setting is None:
        return {"up": "bring up", "down": "tear down"}[step.kind]
    monitors = "with" if step.monitored else "without"
    pair = (
        f", overhead pair {step.overhead_pair}, {monitors} monitors" if step.overhead_pair else ""
    )
    return step.setting.id + pair


def _topologies_table(plan: Plan) -> Table:
    rows = []
    for topology in plan.topologies.values():
        for host in topology.hosts:
            nodes = [node for node in topology.nodes if node.host == host.name]
            rows.append((
                topology.name,
                f"{host.name} ({host.cores} cores, {host.memory_mib:,} MiB)",
                f"{sum('worker' in node.roles for node in nodes)} {_NOUNS[topology.isolation]}",
                ", ".join(f"{node.name} {node.memory_mib:,} MiB" for node in nodes),
            ))  # fmt: skip
    return rows_table(("topology", "host", "nodes", "memory"), rows)


# ------------------------------------------------------------------------------------ progress


@contextmanager
def progress_display(console: Console) -> Iterator[Show]:
    """A live display on a terminal; elsewhere one line per step."""
    if not console.is_terminal:
        yield _Lines(console).show
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda seen: live.update(progress_panel(seen), refresh=True)


LINE_EVERY_S = 10.0
"""Seconds between two lines about a running trial, where there is no terminal."""


class _Lines:
    """Prints what is new since the last call: for files and pipes, which cannot be redrawn."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ended = 0
        self.printed: object = None
        self.live_t = 0.0

    def show(self, seen: Progress) -> None:
        for ended in seen.ended[self.ended :]:
            self._print(seen, ended_line(ended, seen))
        self.ended = len(seen.ended)
        what = seen.stage or (seen.current and seen.current.index)
        if what is not None and what != self.printed:
            self._print(seen, f"{headline(seen)}  (about {clock(seen.remaining_s)} left)")
            self.printed = what
            self.live_t = seen.elapsed_s
        elif seen.live and seen.elapsed_s - self.live_t >= LINE_EVERY_S:
            self._print(seen, f"    {seen.live}")
            self.live_t = seen.elapsed_s

    def _print(self, seen: Progress, line: str) -> None:
        self.console.print(f"[{clock(seen.elapsed_s):>7}] {line}", markup=False, soft_wrap=True)


def headline(seen: Progress) -> str:
    """The current activity, in one line."""
    if seen.stage and not seen.current:
        return f"analysis {STAGES.index(seen.stage) + 1}/{len(STAGES)}: {seen.stage}"
    if seen.current:
        return f"step {seen.position}/{seen.total}: {seen.current.label}"
    return "starting Airflow" if seen.state == "starting" else "between two steps"


def ended_line(ended: Ended, seen: Progress) -> str:
    line = f"step {ended.step.index + 1}/{seen.total}: {ended.step.label}: {ended.outcome}"
    line += f" in {clock(ended.seconds)}"
    if number := seen.numbers.get(ended.step.trial or ""):
        line += f", {number} (not validated yet)"
    return f"{line}\n          {ended.message}" if ended.message else line


def progress_panel(seen: Progress) -> RenderableType:
    """Study, build, step and activity; a progress bar; elapsed and remaining time; failures so far."""
    done_s, left_s = seen.elapsed_s, seen.remaining_s
    bar = ProgressBar(total=max(1.0, done_s + left_s), completed=done_s, width=50)
    where = (
        f" · topology {seen.topology} · repetition {seen.current.repetition}"
        if seen.current
        else ""
    )
    activity = f" · {seen.activity}" if seen.activity and seen.current else ""
    return Group(
        Text(f"{seen.study} {seen.run}{where}", style="bold"),
        Text(headline(seen) + activity),
        *([Text(seen.live, style="cyan", no_wrap=True)] if seen.live else []),
        bar,
        Text(f"elapsed {clock(done_s)} · about {clock(left_s)} left", style="dim"),
        *(Text(ended_line(e, seen), style="dim") for e in seen.ended[-3:] if e.step.trial in seen.numbers),
        *(Text(f"failed: {e.step.label}: {first_line(e.message)}", style="red") for e in seen.failed),
    )  # fmt: skip


def check_line(check: Check) -> Text:
    """A line of the checklist before a run; of a fault also where, what and remedy."""
    if check.fault is None:
        return Text.assemble(("ok     ", "green"), check.name)
    fault = f"{check.name}\n       {check.fault.where}: {check.fault.what}"
    return Text.assemble(("fault  ", "bold red"), f"{fault}\n       remedy: {check.fault.remedy}")


def first_line(text: str) -> str:
    return text.split("\n", 1)[0]


# ------------------------------------------------------------------------------------ status


def status_page(status: Status) -> RenderableType:
    """State, step, elapsed and remaining time, failures, and the next command."""
    seen = status.progress
    rows = [
        ("folder", str(status.run.root)),
        ("step", f"{seen.position} of {seen.total}"),
        ("elapsed", clock(seen.elapsed_s)),
    ]
    if status.state == "running":
        rows += [("now", headline(seen)), ("left", f"about {clock(seen.remaining_s)}")]
    if status.stopped:
        rows.append(("next", "study run SPEC resumes it"))
    if status.state == "unknown":
        owner, silent = status.owner, clock(status.silent_s)
        remedy = f"if you know that the owner is dead: study reap --force {owner}"
        rows += [
            ("owner", f"{owner}, last seen {silent} ago; it cannot be checked from this machine"),
            ("next", remedy),
        ]
    if status.state == "interrupted":
        rows.append(("next", "study reap cleans up; study run SPEC resumes it"))
    return Group(
        Text(f"{seen.study} {seen.run}: {status.state}", style="bold"),
        *(Text(f"{name:<8} {text}", overflow="fold") for name, text in rows),
        *failure_lines(status.failures),
    )


def rows_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    table = Table(*header, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    return table


def failure_lines(failures: Iterable[str]) -> Iterator[Text]:
    return (Text(f"failed   {failure}", style="red") for failure in failures)
