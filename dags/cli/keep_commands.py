"""`study up`, `study down`, `study shell`: a cluster that is kept for people. Thin, like dags/cli/main.py."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from density_study.cluster.model.errors import InputError, StudyError
from density_study.dags.cli.arguments import (
    RUNS,
    Json,
    Runs,
    Sets,
    Spec,
    examples,
    option,
    parse_overrides,
)
from density_study.dags.cli.console import err, out, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from density_study.workloads.execution.keeping import Kept

LOG = "keeper.log"
DOWN_WITHIN_S = 300.0
UP = examples(
    "study up quickstart",
    "study up quickstart --build b1-v2-flash --expires '2 h'",
    "study up quickstart --foreground",
)
DOWN = examples("study down")
SHELL = examples("study shell", "study shell -- hdfs dfs -ls /", "study shell --json")


EXPIRES = "8 h"
Expires = Annotated[
    str, option("--expires", "TIME", "When a kept cluster is taken down by itself.")
]


def up(
    spec: Spec,
    runs: Runs = RUNS,
    build: Annotated[
        str | None, option("--build", "BUILD", "Which of the study's clusters. Default: the first.")
    ] = None,
    expires: Expires = EXPIRES,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay, and take it down on Ctrl-C.")
    ] = False,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Build one cluster of a study and keep it, for people to use.

    Prints how to reach it. It occupies this machine and the study's hosts until it expires, or until
    `study down`.
    """
    from density_study.dags.airflow_home.interrupt import interruptible

    lasts_s = expiry_s(expires)
    with interruptible():
        if foreground:
            _keep(spec, runs, build, lasts_s, sets or [], as_json)
        else:
            _detached(spec, runs, build, expires, sets or [], as_json)


def expiry_s(expires: str) -> float:
    """InputError unless it is a time."""
    from density_study.workloads.base.quantity import seconds

    try:
        return seconds(expires)
    except ValueError as error:
        raise InputError(
            str(error), "--expires", "write a number and a unit, as in '8 h'."
        ) from error


def _detached(
    spec: Path, runs: Path, build: str | None, expires: str, sets: list[str], as_json: bool
) -> None:
    """Start the keeper in a session of its own; return when its cluster stands or its start failed."""
    from density_study.dags.airflow_home.child import python
    from density_study.dags.airflow_home.interrupt import Interrupted

    argv = python("density_study.dags.cli.main", "up", "--foreground", f"--runs={runs}")
    argv += [f"--expires={expires}", *([f"--build={build}"] if build else [])]
    argv += [*(f"--set={each}" for each in sets), *(["--json"] if as_json else []), "--", str(spec)]
    environment = {**os.environ, DETACHES: "1"}
    keeper = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )
    assert keeper.stdout is not None
    try:
        for line in keeper.stdout:  # until it has ended, or stands and closes its output
            out.print(line.rstrip("\n"))
    except Interrupted:
        keeper.terminate()
        keeper.wait()
        raise
    if not _keeps(keeper.pid):
        raise typer.Exit(keeper.wait())


DETACHES = "STUDY_UP_DETACHES"
"""Environment variable of a keeper whose starter waits until its output is closed."""


def _keeps(pid: int) -> bool:
    from density_study.workloads.execution.keeping import kept

    try:
        found = kept()
    except InputError:
        return False
    return found is not None and found.owner.pid == pid


def _keep(
    spec: Path, runs: Path, build: str | None, lasts_s: float, sets: list[str], as_json: bool
) -> None:
    from density_study.cluster.state.owner import Owner
    from density_study.dags.airflow_home.interrupt import Interrupted
    from density_study.dags.cli.display import checklist
    from density_study.workloads.execution.keeping import SUFFIX, keep, step_of
    from density_study.workloads.execution.opening import RunRequest, open_run
    from density_study.workloads.execution.run import end_run
    from density_study.workloads.execution.steps import close_run
    from density_study.workloads.study.study_file import read_study

    overrides = parse_overrides(sets)
    name = read_study(spec, overrides).study.study
    stands = []

    def ready(found: Kept) -> None:
        stands.append(found)
        print_json(_facts(found)) if as_json else print_reach(found, out)
        if os.environ.pop(DETACHES, ""):
            _detach(found.root / LOG)

    with checklist(err if as_json else out) as report:
        run = open_run(
            spec, runs, {**overrides, "study": f"{name}{SUFFIX}"},
            request=RunRequest(fresh=True),
            owner=Owner.of_process(os.getpid(), holds_lock=True),
            report=report,
        )  # fmt: skip
    try:
        step = step_of(run, build)
    except InputError:
        close_run(run)
        end_run(run, "failed", "the build is not in the study")
        raise
    if not as_json:
        out.print(f"up    {step.build}, about {step.estimate_s:.0f} s")
    try:
        keep(run, step, lasts_s, ready)
    except Interrupted:
        if not stands:
            raise
    if not as_json:
        out.print(f"down  {run.tag}: taken down; nothing of it is left")


def _detach(log: Path) -> None:
    """Give up the terminal, so that the process that started this one returns."""
    out.file.flush()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)


def _facts(found: Kept) -> dict[str, Any]:
    """The kept cluster as plain values, for other programs."""
    from density_study.cluster.clients.launchers import client_conf

    cluster = found.cluster
    return {
        "run": found.tag,
        "folder": found.root,
        "build": found.build,
        "until": found.until,
        "client_conf": client_conf(cluster),
        "endpoints": cluster.endpoints,
    }


def print_reach(found: Kept, console: Console) -> None:
    """How people use the kept cluster."""
    from density_study.cluster.clients.launchers import client_conf

    cluster = found.cluster
    points = cluster.endpoints
    until = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.until))
    rows = {
        "cluster": str(found.folder),
        "nodes": ", ".join(node.name for node in cluster.topology.nodes),
        "HDFS": f"hdfs://{points.one('namenode.rpc')}  http://{points.one('namenode.http')}",
        "YARN": f"http://{points.one('resourcemanager.http')}",
        "HBase": f"http://{points.one('hmaster.http')}  ZooKeeper {points.one('zookeeper.client')}",
        "client": f"HADOOP_CONF_DIR and HBASE_CONF_DIR: {client_conf(cluster)}",
        "shell": "study shell; its web pages: study shell --pages",
        "expires": f"{until}; `study down` takes it down before",
    }
    for name, value in rows.items():
        console.print(f"{name:9}{value}")


def down(as_json: Json = False) -> None:
    """Take down the cluster that is kept on this machine, and verify that it is gone.

    A study that keeps it, with `--keep`, then ends. Safe to repeat. A study that measures is left alone.
    """
    from density_study.cluster.state.events import BuildDestroyed, KeptReleased
    from density_study.cluster.state.owner import here
    from density_study.cluster.state.run_state import how_to_reap
    from density_study.cluster.state.tags import start_ticks
    from density_study.workloads.execution.keeping import kept
    from density_study.workloads.execution.run import load_run
    from density_study.workloads.execution.steps import keep_asked

    found = kept()
    if found is None:
        print_json({"down": None}) if as_json else out.print("No cluster is kept.")
        return
    owner = found.owner
    if owner.pid is None or owner.place != here():
        raise StudyError(
            "its keeper cannot be reached from here.",
            found.tag,
            f"run `study down` on {owner.place.host}, in PID namespace {owner.place.pid_namespace}.",
        )
    run = load_run(found.root)
    if keep_asked(run):
        run.journal.record(KeptReleased())
    else:
        os.kill(owner.pid, signal.SIGTERM)
    deadline = time.monotonic() + DOWN_WITHIN_S
    while start_ticks(owner.pid) == owner.start_ticks:
        if time.monotonic() > deadline:
            raise StudyError(
                f"its keeper, process {owner.pid}, has not ended within {DOWN_WITHIN_S:.0f} s.",
                found.tag,
                f"read {found.root / LOG}; then end the process and run `{how_to_reap(found.root)}`.",
            )
        time.sleep(0.1)
    gone = {event.build for event in run.journal.since_opening(BuildDestroyed)}
    if found.build not in gone:
        raise StudyError(
            "its keeper ended without taking it down.",
            found.tag,
            f"run `{how_to_reap(found.root)}`; the keeper's log is {found.root / LOG}.",
        )
    if as_json:
        print_json({"down": found.tag})
    else:
        out.print(f"down  {found.tag}: taken down; nothing of it is left")


def shell(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND ...]", help="Default: your shell.")
    ] = None,
    pages: Annotated[
        bool,
        typer.Option("--pages", help="Show the cluster's web pages to your browser until Ctrl-C."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a command, or a shell, as a client of the kept cluster.

    HADOOP_CONF_DIR, YARN_CONF_DIR, HBASE_CONF_DIR and JAVA_HOME are the client's. `hadoop`, `hdfs`, `yarn`,
    `mapred` and `hbase` are on PATH, with the cluster's own versions. The exit code is the command's.

    The command runs in the cluster's own network, which no other user of this machine can enter. With
    --pages, the cluster's web pages are at their addresses for your browser, and for nobody else's.
    """
    from density_study.cluster.clients.launchers import client_environment, write_launchers
    from density_study.cluster.providers.local.transport import entry_of
    from density_study.cluster.state.journal import JOURNAL, Journal
    from density_study.cluster.state.own_runs import keep_others_out
    from density_study.workloads.execution.keeping import kept

    found = kept()
    if found is None:
        raise InputError(
            "no cluster is kept.",
            "this machine",
            "build one, for example with `study up quickstart`.",
        )
    if as_json:
        print_json(_facts(found))
        return
    if pages:
        _show_pages(found)
        return
    keep_others_out()
    folder = found.folder / "bin"
    write_launchers(found.cluster, folder)
    environment = client_environment(found.cluster, folder)
    argv = command or [os.environ.get("SHELL", "/bin/sh")]
    if shutil.which(argv[0], path=environment["PATH"]) is None:
        raise InputError(
            f"there is no program {argv[0]!r}.",
            "study shell",
            "hdfs, hadoop, yarn, mapred and hbase are on PATH.",
        )
    enter = entry_of(found.cluster.site.tag, Journal(found.root / JOURNAL))
    os.execvpe((*enter, *argv)[0], (*enter, *argv), environment)


def _show_pages(found: Kept) -> None:
    from density_study.cluster.clients.web_pages import carry, pages_of
    from density_study.dags.airflow_home.interrupt import Interrupted, interruptible

    points = found.cluster.endpoints
    pages = pages_of(points)
    if points.network:
        with interruptible(), suppress(Interrupted), carry(points.network, pages):
            _print_pages(pages)
            signal.pause()
    else:
        _print_pages(pages)


def _print_pages(pages: list[tuple[str, int]]) -> None:
    for host, port in pages:
        out.print(f"http://{host}:{port}")
