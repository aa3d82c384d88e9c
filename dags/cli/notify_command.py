"""`study notify`: a test message to the receivers of a study. Thin, like dags/cli/main.py."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.text import Text

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.extras import need
from density_study.dags.cli.arguments import Json, Spec, examples
from density_study.dags.cli.console import err, out, print_json, progress

EXAMPLES = examples("study notify nightly.yaml", "study notify nightly.yaml --json")


def notify(spec: Spec, as_json: Json = False) -> None:
    """Send a test message to every receiver that a study names under `notify`.

    Uses the Airflow connections of the environment (`AIRFLOW_CONN_<ID>`), as `study run` does.

    Exit codes: 0 all got it, 1 a receiver did not, 2 the study file is invalid or names no receiver.
    """
    from density_study.workloads.study.study_file import read_study

    if not read_study(spec).study.notify:
        raise InputError(
            "the study names no receiver.",
            str(spec),
            "add the key `notify`, for example notify: [{mail: [me@example.org]}].",
        )
    need("study notify", "airflow")
    with progress(err).status("Sending a test message"):
        faults = _sent(str(spec))
    if as_json:
        print_json([{"receiver": name, "fault": fault} for name, fault in faults.items()])
    else:
        for name, fault in faults.items():
            line = Text(f"failed   {fault}", style="red") if fault else f"sent     {name}"
            out.print(line)
    raise typer.Exit(1 if any(faults.values()) else 0)


def _sent(spec: str) -> dict[str, str]:
    """Receiver -> fault, from a child process with Airflow's environment."""
    from density_study.dags.airflow_home.child import python
    from density_study.dags.airflow_home.home import home

    with TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        ended = subprocess.run(
            python("density_study.dags.notify", "test", spec, str(result)),
            env={**os.environ, **home().command_environment()},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if ended.returncode:
            last = (ended.stderr.strip().splitlines() or ["no output"])[-1]
            raise StudyError(
                f"Airflow, which sends the messages, ended with: {last}",
                spec,
                "run `study run` on a small study first, and see its airflow.log.",
            )
        faults: dict[str, str] = json.loads(result.read_text(encoding="utf-8"))
    return faults
