"""`study doctor --deep`: the least that a study does on an existing cluster, step by step, and its removal.

It is a run of the study with one file of 1 MiB and one row in place of its workloads. So whatever it needs
of HDFS, YARN and HBase is tried as the study would, and `study reap` removes what a killed one left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.existing.rights import remedy_for
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.removal import remove_run
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run
from density_study.workloads.planning.plan import Step
from density_study.workloads.planning.preflight import Check, tried
from density_study.workloads.study.study_file import read_study

_TAIL = 20_000
"""Characters of a client's error output that are searched."""
SUFFIX = "-deep"
"""Added to the study's name: its own runs must not resume this one."""
_YCSB = {
    "records": [1], "mixes": ["load", "c"], "threads": [1], "regions_per_server": 1, "duration": "10 s",
    "warm_up": "1 s", "warm_up_client": "off", "warm_up_daemons": "off",
}  # fmt: skip
_DFSIO = {"modes": ["write"], "files": 1, "file_size": "1 MiB"}
_WORDS = {
    "up": "make the study's folder and namespace, write a row and read it",
    "testdfsio": "one map writes 1 MiB to HDFS in the study's queue",
    "load": "create a table, and load one row",
    "c": "flush and compact the table, make a snapshot, restore it, and read the row",
    "down": "remove all of it",
}


def deep_checks(
    spec: Path, runs: Path, overrides: Mapping[str, object] | None = None
) -> Iterator[Check]:
    """Every step, with the missing right of one that fails. InputError unless the study is of an existing
    cluster, and could begin."""
    study = read_study(spec, overrides).study
    if study.existing is None:
        raise InputError(
            "--deep is for existing clusters; this study builds its own.",
            f"study {study.study!r}",
            "run it without --deep.",
        )
    made = _missing(runs)
    run = open_run(
        spec, runs, {**(overrides or {}), **least(study.study, study.store.store.hadoop)}
    )
    try:
        for step in run.plan.steps:
            outcome = carry_out(run, step)
            if outcome.outcome != "skipped":
                failed = outcome.outcome == "failed"
                yield Check(_named(step), _fault(run, step, outcome.message) if failed else None)
    except BaseException:
        close_run(run)
        raise
    yield tried("nothing is left", partial(_remove, run, made))


def least(study: str, has_hadoop: bool) -> dict[str, Any]:
    """The keys that make it the smallest study of its cluster."""
    workloads = [{"ycsb": _YCSB}, *([{"testdfsio": _DFSIO}] if has_hadoop else [])]
    return {
        "study": f"{study}{SUFFIX}", "workloads": workloads, "repetitions": 1, "expect": [], "questions": [],
        "slo": {}, "leave_out": [], "notify": [], "schedule": None, "compare": None,
    }  # fmt: skip


def _named(step: Step) -> str:
    kind = step.kind if step.test_case is None else step.test_case.workload
    return _WORDS.get(kind) or _WORDS[step.test_case.mode_name if step.test_case else kind]


def _fault(run: Run, step: Step, message: str) -> StudyError:
    """The error of a failed step. It names the missing right if the step's clients do."""
    said = [message, *(path.read_text(errors="replace")[-_TAIL:] for path in _errors(run, step))]
    remedy = next(filter(None, map(remedy_for, said)), "")
    return StudyError(
        message.rstrip("."),
        step.build,
        remedy or "read the cluster's logs, or run `study run SPEC`.",
    )


def _errors(run: Run, step: Step) -> list[Path]:
    """What the clients of a trial wrote to standard error."""
    return sorted((run.records / str(step.trial)).rglob("*.err")) if step.trial else []


def _missing(folder: Path) -> list[Path]:
    """`folder` and those around it, the innermost first, that are not there yet."""
    return [one for one in (folder, *folder.parents) if not one.exists()]


def _remove(run: Run, made: Sequence[Path]) -> None:
    """Not even the run's folder stays, nor those of `made`. What is left all the same, `study reap` finds."""
    try:
        close_run(run)
    except StudyError as error:
        end_run(run, "failed", error.what)
        raise
    end_run(run, "ok")
    remove_run(run.root)
    with suppress(OSError):  # another run lies there by now
        for folder in (run.root.parent, *made):
            folder.rmdir()
