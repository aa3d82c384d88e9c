"""Kills a daemon while the clients run, and reads afterwards what they wrote."""

from __future__ import annotations

import time
from functools import partial

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import ProcessId
from density_study.workloads.base.client_run import Deed
from density_study.workloads.base.fault import Fault, InjectedFault
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.output.summary import operation_counts, parse_summary
from density_study.workloads.ycsb.properties import client_name, table_on
from density_study.workloads.ycsb.setting import YcsbSetting
from density_study.workloads.ycsb.table_tool import table_tool


def killing(context: TrialContext, setting: YcsbSetting, fault: Fault) -> Deed:
    """What kills the victim when its time has come."""
    victim = victim_of(context, fault)
    do = partial(_kill, context, fault, victim)
    return Deed(do, setting.warm_up_s + fault.at_s, setting.warm_up_client_s)


def victim_of(context: TrialContext, fault: Fault) -> ProcessId:
    """The daemon to kill: on the last node that has one, so that every repetition kills the same."""
    found = [one for one in context.cluster.processes if one.name.startswith(fault.kill)]
    if not found:
        raise StudyError(
            f"the cluster has no process of a {fault.kill}.",
            context.cluster.site.root.name,
            "see the build's cluster.json.",
        )
    return max(found, key=lambda one: (one.node, one.name))


def _kill(context: TrialContext, fault: Fault, victim: ProcessId) -> None:
    # known before it is done: from then on, its death is no surprise
    injected = InjectedFault(
        kill=fault.kill, node=victim.node, name=victim.name, epoch_s=time.time()
    )
    context.injected.append(injected)
    context.transport.stop(victim, grace_s=0.0)


def rows_after(context: TrialContext, setting: YcsbSetting) -> dict[str, int]:
    """Rows that clients know to be in the table (loaded, and acknowledged inserts), and rows found in it."""
    acknowledged = 0
    for number in range(1, setting.clients + 1):
        path = context.record.raw / f"{client_name(number)}.out"
        try:
            counts = operation_counts(parse_summary(path.read_bytes(), path.name).rows)
        except ParseError as error:
            raise StudyError(str(error), path.name, "see the client's output in raw/.") from error
        acknowledged += counts["INSERT"].ok if "INSERT" in counts else 0
    (counted,) = table_tool(
        context, "rows-after", ("count", "--table", table_on(context.cluster, setting))
    )
    return {"acknowledged": setting.records + acknowledged, "found": counted["rows"]}
