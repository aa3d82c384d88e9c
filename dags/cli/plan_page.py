"""A plan as `study plan` prints it: totals and questions first, then variants and steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from density_study.analysis.findings.outlook import AtNoise, Outlook
from density_study.analysis.statistics.power import MAX_UNITS
from density_study.cluster.model.isolation import IsolationFacts, isolation_of
from density_study.cluster.model.plain import counted
from density_study.cluster.model.store import cautions
from density_study.cluster.model.topology import Node
from density_study.dags.cli.layout import rows_table
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.cautions import cautions_of
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.planning.requests import requests_of
from density_study.workloads.study.factors.tier import is_emulated

MIN_REPETITIONS = 5
"""Fewer builds per variant allow no claim (docs/methodology.md, rule 2)."""
MOST_STEPS = 60
"""A longer plan is printed by build."""


def plan_page(
    plan: Plan,
    time_s: float,
    need_mib: int,
    questions: Sequence[Outlook],
    design_notes: Iterable[str],
    design_warnings: Iterable[str],
    source: str,
) -> RenderableType:
    """Totals, what the study can and cannot show, its topologies, and its steps with their estimates. time_s:
    that of all, with the analysis. `source`: that of the times, in words."""
    return Group(
        Text(
            f"study {plan.study}: {_repetitions(plan)}, {counted(len(plan.builds), 'build')}, "
            f"{counted(len(plan.trials), 'trial')}, seed {plan.seed}",
            style="bold",
        ),
        Text(""),
        Text(f"time     {_about(plan, time_s)}, of which {_parts(plan)}"),
        Text(f"         {source}"),
        Text(f"disk     up to {_size(need_mib)} at once; the data of a build are deleted with it"),
        *(Text(f"asks     {requests}") for requests in requests_of(plan)),
        *(Text(f"shows    {line}") for line in design_notes),
        *(
            Text(f"warning  {warning}", style="yellow")
            for warning in (*warnings_of(plan), *design_warnings)
        ),
        *_questions(questions),
        Text(""),
        _topologies_table(plan),
        Text(""),
        *_steps_lines(plan),
    )


def _questions(questions: Sequence[Outlook]) -> Iterator[RenderableType]:
    """A table of those that can be decided."""
    rows = [one for one in questions if one.at]
    if not rows:
        return
    levels = "/".join(_noise(one) for one in rows[0].at)
    header = ("question", "tests", "cases", "variants", "time", "power", "enough", "detects",
              "true ratio")  # fmt: skip
    yield Text("")
    yield rows_table(header, map(_cells, rows))
    yield Text(
        f"by noise between builds of {levels}: power for the right verdicts at the true ratio, enough "
        "repetitions for a power of 80 %, and the smallest ratio that every test detects"
    )


def _noise(one: AtNoise) -> str:
    return "earlier runs" if one.noise is None else f"{one.noise:.1%}"


def _cells(one: Outlook) -> tuple[str, ...]:
    detects = [f"{at.detects:.2f}" for at in one.at if at.detects]
    return (
        one.question,
        *map(str, (one.comparisons, one.test_cases, one.variants)),
        duration(one.time_s),
        "/".join(f"{at.power:.0%}" for at in one.at),
        "/".join(f"{at.needs:,}" if at.needs else f"none up to {MAX_UNITS:,}" for at in one.at),
        "/".join(detects) or "-",
        ", ".join(f"{ratio:g}" for ratio in one.ratios),
    )


def _repetitions(plan: Plan) -> str:
    return str(plan.precise) if plan.precise else counted(plan.repetitions, "repetition")


def _about(plan: Plan, time_s: float) -> str:
    """A search ends when it has its answer, and repetitions may end when comparisons are precise enough: what
    is planned is the most that they may take."""
    bounded = plan.precise or any(step.probe for step in plan.trials)
    most = "at most about" if bounded else "about"
    return f"{most} {duration(time_s)}"


def _parts(plan: Plan) -> str:
    """Windows and analysis: the rest builds clusters, loads, warms up and settles."""
    windows_s = sum(
        min(step.test_case.window_s, step.estimate_s) for step in plan.trials if step.test_case
    )
    share = windows_s / (plan.estimate_s + ANALYSIS_ESTIMATE_S)
    return f"windows {share:.0%}, analysis {duration(ANALYSIS_ESTIMATE_S)}"


def _size(mib: int) -> str:
    return f"{mib:,} MiB" if mib < 10_240 else f"{mib / 1024:,.0f} GiB"


def warnings_of(plan: Plan) -> Iterator[str]:
    """What the plan cannot show, for the reader to know before spending hours on it."""
    if plan.repetitions < MIN_REPETITIONS:
        yield (
            f"{counted(plan.repetitions, 'repetition')}: points only, no claims; a claim needs at least "
            f"{MIN_REPETITIONS} builds per variant (--set repetitions={MIN_REPETITIONS})"
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
    yield from cautions_of(plan)


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
    if len(plan.steps) <= MOST_STEPS:
        rows = [("step", "build", "what", "about")]
        rows += [(f"{s.index + 1}", s.build, _what(s), duration(s.estimate_s)) for s in plan.steps]
        styles = ("bold", *("" if step.kind == "trial" else "dim" for step in plan.steps))
    else:
        rows = [("steps", "build", "what", "about"), *_builds(plan)]
        styles = ("bold", *("" for _ in rows[1:]))
    step_w, build_w, what_w, about_w = (max(map(len, column)) for column in zip(*rows, strict=True))
    for (step, build, what, about), style in zip(rows, styles, strict=True):
        line = f"{step:>{step_w}} {build:<{build_w}} {what:<{what_w}} {about:>{about_w}}"
        yield Text(line, style, no_wrap=True, overflow="ignore")
    if len(plan.steps) > MOST_STEPS:
        yield Text(f"{len(plan.steps):,} steps; --json has all of them.")


def _builds(plan: Plan) -> Iterator[tuple[str, str, str, str]]:
    for build, group in groupby(plan.steps, key=lambda step: step.build):
        steps = list(group)
        trials = sum(step.kind == "trial" for step in steps)
        first, last = steps[0].index + 1, steps[-1].index + 1
        time_s = sum(step.estimate_s for step in steps)
        yield f"{first}-{last}", build, counted(trials, "trial"), duration(time_s)


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
    """A row for each kind of host of a topology: a rack of equal hosts is one."""
    rows = []
    for topology in plan.topologies.values():
        alike: dict[tuple[str, ...], list[str]] = {}
        for host in topology.hosts:
            nodes = [node for node in topology.nodes if node.host == host.name]
            what = (
                "the client of an existing cluster"
                if topology.existing
                else _workers(nodes, topology.isolation.facts)
            )
            size = f"{counted(host.cores, 'core')}, {host.memory_mib:,} MiB"
            memory = ", ".join(f"{node.memory_mib:,} MiB" for node in nodes)
            alike.setdefault((size, what, memory), []).append(host.name)
        for (size, what, memory), names in alike.items():
            each = " each" if len(names) > 1 else ""
            rows.append((topology.name, f"{_names(names)} ({size})", what + each, memory))
        watched = topology.existing.watched if topology.existing else ()
        rows += [
            (topology.name, f"{h.name} ({counted(h.cores, 'core')})", "watched", "")
            for h in watched
        ]
    return rows_table(("topology", "host", "nodes", "memory of nodes"), rows)


def _workers(nodes: Sequence[Node], facts: IsolationFacts) -> str:
    """'2 worker VMs', '1 worker on the bare host', 'no worker'."""
    count = sum("worker" in node.roles for node in nodes)
    on = " on the bare host" * facts.is_bare
    return counted(count, facts.workers) + on if count else "no worker"


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} hosts, {names[0]} to {names[-1]}"
