"""What a DAG run was asked: its params, once its conf holds no key that Airflow would ignore."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from airflow.sdk import get_current_context

from cluster.model.errors import InputError

AIRFLOWS_OWN = "airflow/"
"""Keys with this prefix are addressed to Airflow itself, as `airflow/task_span_detail_level`."""


def asked() -> dict[str, Any]:
    """The params of the DAG run whose task this is. InputError for a conf with an unknown key."""
    context = get_current_context()
    known = context["dag"].params
    check_keys(context["dag_run"].conf or {}, known)
    return {key: context["params"][key] for key in known}


def check_keys(conf: Mapping[str, object], known: Iterable[str]) -> None:
    """InputError for the first key of `conf` that is not `known`: a misspelt key would go unnoticed,
    and the default study would run."""
    names = sorted(known)
    for key in conf:
        if key in names or key.startswith(AIRFLOWS_OWN):
            continue
        near = difflib.get_close_matches(key, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InputError(
            f"unknown key {key!r}{hint}",
            "the conf of the DAG run",
            f"trigger it with these keys only: {', '.join(names)}.",
        )
