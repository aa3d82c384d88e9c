"""`study doctor`: would this study start here? Thin, like dags/cli/main.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from density_study.dags.cli.arguments import RUNS, Json, Runs, Sets, Spec, examples, parse_overrides
from density_study.dags.cli.console import out, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from density_study.workloads.planning.preflight import Check

EXAMPLES = examples(
    "study doctor quickstart",
    "study doctor my-hosts.yaml --json",
    "study doctor our-cluster.yaml --deep",
)
Deep = Annotated[
    bool,
    typer.Option(
        "--deep", help="Use an existing cluster once: 1 MiB, one row. Names missing rights."
    ),
]


def doctor(
    spec: Spec, runs: Runs = RUNS, sets: Sets = None, deep: Deep = False, as_json: Json = False
) -> None:
    """Check hosts, disks, ports, clocks and programs for a study, with a remedy for every fault.

    Starts nothing. Checks whatever `study run` would reject, and continues after a fault. Missing KVM is
    also a fault: `study run` would emulate the guests.

    With `--deep`, it also uses an existing cluster once, as the study would: one map of 1 MiB, one table of
    one row. It names each right that is missing, and removes all that it made.

    Exit codes: 0 no fault, 1 a fault, 2 the study file itself is invalid.
    """
    from density_study.dags.cli.display import check_line
    from density_study.workloads.execution.deep_check import deep_checks
    from density_study.workloads.execution.examination import examine

    found: list[Check] = []
    overrides = parse_overrides(sets or [])

    def checks() -> Iterator[Check]:
        yield from examine(spec, runs, overrides)
        if deep and not any(check.fault for check in found):
            yield from deep_checks(spec, runs, overrides)

    for check in checks():
        found.append(check)
        if not as_json:
            out.print(check_line(check))
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
