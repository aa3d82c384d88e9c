"""Keys of a DAG run's conf. Without Airflow, which takes a second to import."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from density_study.cluster.model.errors import InputError

AIRFLOWS_OWN = "airflow/"
"""Prefix of keys for Airflow itself, for example `airflow/task_span_detail_level`."""


def check_keys(conf: Mapping[str, object], known: Iterable[str]) -> None:
    """InputError for the first key of `conf` that is not in `known`.

    Airflow ignores unknown keys, so that a misspelt `fresh` would resume a run.
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
