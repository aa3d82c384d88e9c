"""Runs the project's TableTool (Java): several table commands in one JVM, with results as JSON."""

from __future__ import annotations

from typing import Any

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.java_tools import TOOL_HEAP_MIB, results_of
from density_study.cluster.model.transport import Command
from density_study.cluster.render.jvm import FAST_START
from density_study.cluster.stack import classpath, ensure
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.workload import TrialContext

MAIN = "org.densitystudy.table.TableTool"
TIMEOUT_S = 600.0


def tool_command(cluster: Cluster, name: str, *verbs: tuple[str, ...]) -> Command:
    """The command that runs `verbs` in order."""
    chain = [word for verb in verbs for word in ("+", *verb)][1:]
    path = classpath(ensure("ycsb"))
    return java_command(cluster, name, path, MAIN, tuple(chain), serial(TOOL_HEAP_MIB), FAST_START)


def table_tool(
    context: TrialContext, name: str, *verbs: tuple[str, ...], more_s: float = 0.0
) -> list[dict[str, Any]]:
    """Run `verbs` in order, and return the result of each. StudyError if one fails. `more_s`: what they may
    take in addition to TIMEOUT_S.

    The record keeps the output as logs/<name>.out and .err.
    """
    command = tool_command(context.cluster, name, *verbs)
    run = run_client(context, command, TIMEOUT_S + more_s, folder="logs")
    require_success(context, run, f"preparing the table ({', '.join(v[0] for v in verbs)})")
    # an earlier call of this name left its results in the same file
    results = results_of((context.record.root / run.stdout).read_text(encoding="utf-8"))
    return results[-len(verbs) :]
