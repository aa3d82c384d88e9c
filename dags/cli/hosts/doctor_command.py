"""`study doctor`: would this study start here? Thin, like dags/cli/main.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from density_study.dags.cli.arguments import RUNS, Json, Runs, Sets, Spec, examples, parse_overrides
from density_study.dags.cli.console import out, print_json

if TYPE_CHECKING:
    from density_study.workloads.planning.preflight import Check

EXAMPLES = examples(
    "study doctor workloads/studies/quickstart.yaml", "study doctor my-hosts.yaml --json"
)


def doctor(spec: Spec, runs: Runs = RUNS, sets: Sets = None, as_json: Json = False) -> None:
    """Check hosts, disks, ports, clocks and programs for a study, with a remedy for every fault.

    Starts nothing. Checks whatever `study run` would reject, and goes on after a fault. Missing KVM is a
    fault, too: `study run` would emulate the guests.

    Exit codes: 0 no fault, 1 a fault, 2 the study file itself is invalid.
    """
    from density_study.dags.cli.display import check_line
    from density_study.workloads.execution.examination import examine

    found = []
    for check in examine(spec, runs, parse_overrides(sets or [])):
        found.append(check)
        if not as_json:
            out.print(check_line(check), soft_wrap=True)
    faults = [check.fault for check in found if check.fault]
    if as_json:
        print_json(
            [{"check": check.name, "ok": not check.fault, **_fault(check)} for check in found]
        )
    else:
        out.print(f"{len(found)} checks, {len(faults) or 'no'} fault{'s' * (len(faults) != 1)}")
    raise typer.Exit(1 if faults else 0)


def _fault(check: Check) -> dict[str, str]:
    if check.fault is None:
        return {"warning": check.warning} if check.warning else {}
    return {"where": check.fault.where, "what": check.fault.what, "remedy": check.fault.remedy}
