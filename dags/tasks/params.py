"""Parameters of the DAGs: those of a study, defined once for all DAGs that run studies, and their check."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from airflow.sdk import Param, get_current_context

from cluster.model.errors import InputError

AIRFLOWS_OWN = "airflow/"
"""Prefix of keys for Airflow itself, for example `airflow/task_span_detail_level`."""
_PATHS = "Paths"


def study_params(
    spec: str, *, shipped: Iterable[str] = (), fresh: bool = False, runs: str = "runs"
) -> dict[str, Param]:
    """Parameters of a DAG that runs studies (`dags.tasks.study_tasks`), with these defaults."""
    return {
        "spec": Param(
            spec,
            type="string",
            minLength=1,
            title="Study",
            description="Name of a shipped study, or a YAML file: absolute, or relative to the base folder.",
            examples=list(shipped) or [spec],
        ),
        "overrides": Param(
            {},
            type="object",
            additionalProperties=True,
            title="Overrides",
            description=(
                "Keys of the study to override in this run. Write nested keys with dots: "
                '{"repetitions": 2, "stack.base_port": 22000}.'
            ),
        ),
        "fresh": Param(
            fresh,
            type="boolean",
            title="Start a new run",
            description="Off: resume the newest unfinished run if the study has not changed.",
        ),
        "add_repetitions": Param(
            0,
            type="integer",
            minimum=0,
            maximum=1000,
            title="Add repetitions",
            description="Extend the newest finished run by this number of repetitions.",
        ),
        "only": Param(
            [],
            type="array",
            items={"type": "string"},
            title="Only these settings",
            description="Globs of setting ids, for example ycsb-*. Empty: all settings. "
            "Extends a finished run.",
        ),
        "runs": runs_param(runs, section=_PATHS),
        "run": Param(
            None,
            type=["null", "string"],
            title="Opened run",
            description="Folder of an opened run to execute as it is. Usually empty.",
            section=_PATHS,
        ),
    }


def runs_param(default: str, **schema: Any) -> Param:
    return Param(
        default,
        type="string",
        minLength=1,
        title="Runs folder",
        description="Folder that holds all runs: absolute path, or relative to the project folder.",
        **schema,
    )


def checked_params() -> dict[str, Any]:
    """The parameters of the current DAG run. InputError if its conf has an unknown key."""
    context = get_current_context()
    known = context["dag"].params
    check_keys(context["dag_run"].conf or {}, known)
    return {key: context["params"][key] for key in known}


def check_keys(conf: Mapping[str, object], known: Iterable[str]) -> None:
    """InputError for the first key of `conf` that is not in `known`.

    Airflow ignores unknown keys, so that a misspelt `spec` would run the default study.
    """
    names = sorted(known)
    for key in conf:
        if key in names or key.startswith(AIRFLOWS_OWN):
            continue
        similar = difflib.get_close_matches(key, names, 1)
        hint = f"; did you mean {similar[0]!r}?" if similar else "."
        raise InputError(
            f"unknown key {key!r}{hint}",
            "conf of the DAG run",
            f"use only these keys: {', '.join(names)}.",
        )
