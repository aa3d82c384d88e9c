"""The project's TableTool (Java): several acts on the table in one JVM start, facts back as JSON."""

from __future__ import annotations

import json
from typing import Any

from cluster.clients.client_commands import java_command
from cluster.stack import classpath, ensure
from workloads.base.client_run import require_success, run_client
from workloads.base.workload import TrialContext

MAIN = "org.densitystudy.table.TableTool"
TIMEOUT_S = 600.0
HEAP_MIB = 128
FAST_START = ("-XX:TieredStopAtLevel=1",)
"""This JVM is never measured; it had better start fast."""


def table_tool(context: TrialContext, name: str, *verbs: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run `verbs` in order; the result of each. StudyError when one fails.

    Output stays in the record as logs/<name>.out and .err.
    """
    chain: list[str] = []
    for verb in verbs:
        chain += [*(["+"] if chain else []), *verb]
    command = java_command(
        context.cluster,
        name,
        classpath(ensure("ycsb")),
        MAIN,
        tuple(chain),
        heap_mib=HEAP_MIB,
        jvm_flags=FAST_START,
    )
    run = run_client(context, command, TIMEOUT_S, folder="logs")
    require_success(context, run, f"preparing the table ({', '.join(v[0] for v in verbs)})")
    lines = (context.record.root / run.stdout).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["result"] for line in lines if line.startswith("{")]
