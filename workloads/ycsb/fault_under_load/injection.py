"""Kills daemons while the clients run, and reads back afterwards what the clients know to be written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.model.transport import ProcessId
from density_study.workloads.base.client_run import Deed
from density_study.workloads.base.fault import Fault, InjectedFault
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.act_under_load.performing import PerformedAct
from density_study.workloads.ycsb.fault_under_load.lasting import LastingFault
from density_study.workloads.ycsb.fault_under_load.processes import victims_of
from density_study.workloads.ycsb.output.summary import operation_counts, parse_summary
from density_study.workloads.ycsb.properties import INSERTS, KEY_DIGITS, client_name, table_on
from density_study.workloads.ycsb.table_tool import table_tool
from density_study.workloads.ycsb.test_case import YcsbTestCase

READ_BACK_ROWS_S = 1000.0
"""Rows that are read back per second at least, which bounds how long it may take."""


@contextmanager
def fault_of(context: TrialContext, test_case: YcsbTestCase) -> Iterator[Deed | None]:
    """What is done to the cluster meanwhile; afterwards, what lasts for a time is undone."""
    if test_case.fault is None:
        yield None
        return
    if test_case.fault.kill:
        yield killing(context, test_case, test_case.fault)
        return
    lasting = _lasting(context, test_case, test_case.fault)
    lasting.prepare()
    try:
        yield _deed(test_case, test_case.fault, lasting.begin)
        lasting.finish()
    finally:
        lasting.stop()


def _lasting(
    context: TrialContext, test_case: YcsbTestCase, fault: Fault
) -> LastingFault | PerformedAct:
    return PerformedAct(context, test_case) if fault.act else LastingFault(context, fault)


def killing(context: TrialContext, test_case: YcsbTestCase, fault: Fault) -> Deed:
    """What kills the victims when their time has come."""
    return _deed(test_case, fault, partial(_kill, context, fault, victims_of(context, fault)))


def _deed(test_case: YcsbTestCase, fault: Fault, do: Callable[[], None]) -> Deed:
    return Deed(do, test_case.warm_up_s + fault.at_s, test_case.warm_up_client_s)


def _kill(context: TrialContext, fault: Fault, victims: Sequence[ProcessId]) -> None:
    # known before it is done: from then on, their death is no surprise
    now_s = time.time()
    context.injected.extend(
        InjectedFault(kill=fault.kill, node=victim.node, name=victim.name, epoch_s=now_s)
        for victim in victims
    )
    nodes = {node.name: node for node in context.cluster.topology.nodes}
    for machine in _machines(context.cluster.topology, victims):
        at = nodes[machine[0].node]
        context.transport.act(at, "kill", [[p.node, p.name, p.pid, p.start_ticks] for p in machine])
    for victim in victims:
        context.journal.write(
            "process-stopped", pid=victim.pid, start_ticks=victim.start_ticks, by="fault"
        )


def _machines(topology: AnyTopology, victims: Sequence[ProcessId]) -> Iterator[list[ProcessId]]:
    """The victims by the kernel that they run on: one call kills all of them."""
    hosts = {node.name: node.host for node in topology.nodes}
    guests = topology.isolation.facts.own_kernel
    groups: dict[str, list[ProcessId]] = {}
    for victim in victims:
        groups.setdefault(victim.node if guests else hosts[victim.node], []).append(victim)
    yield from groups.values()


def rows_after(context: TrialContext, test_case: YcsbTestCase) -> dict[str, Any]:
    """Rows that clients know to be in the table (loaded, and acknowledged inserts), and how many of them are
    found there, each by its key; and keys of some that are not.

    StudyError if a client's log of its inserts does not agree with its summary.
    """
    ranges = [f"0 {test_case.records - 1} 1"]
    for number in range(1, test_case.clients + 1):
        logged = _acknowledged(context, number)
        if logged:
            ranges += logged
    record = context.record.root
    node = context.cluster.topology.client
    numbers = record / "logs" / "acknowledged.txt"
    context.transport.put(node, "".join(f"{line}\n" for line in ranges), numbers)
    order = ("--digits", str(KEY_DIGITS)) if test_case.insert_order == "ordered" else ()
    verb = ("read-back", "--table", table_on(context.cluster, test_case),
            "--numbers", str(context.at(numbers, node)), *order)  # fmt: skip
    rows = sum(map(_size, ranges))
    (back,) = table_tool(context, "rows-after", verb, more_s=rows / READ_BACK_ROWS_S)
    return {"acknowledged": back["asked"], "found": back["found"], "lost_keys": back["lost"]}


def _acknowledged(context: TrialContext, number: int) -> list[str]:
    """Lines FIRST LAST STEP of the record numbers whose insert was acknowledged to a client."""
    client = client_name(number)
    summary, log = context.record.raw / f"{client}.out", context.record.raw / f"{client}-{INSERTS}"
    try:
        counts = operation_counts(parse_summary(summary.read_bytes(), summary.name).rows)
        lines = log.read_text(encoding="utf-8").splitlines()
    except (ParseError, OSError) as error:
        raise StudyError(str(error), client, f"read the client's output: {summary}.") from error
    succeeded = counts["INSERT"].ok if "INSERT" in counts else 0
    if sum(map(_size, lines)) != succeeded:
        raise StudyError(
            f"{log.name} has {sum(map(_size, lines))} acknowledged inserts, the summary {succeeded}.",
            client,
            "report this: the client's log of inserts is wrong.",
        )
    return lines


def _size(line: str) -> int:
    first, last, step = map(int, line.split())
    return (last - first) // step + 1
