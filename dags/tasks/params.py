"""Parameters of the DAGs, and their check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow.sdk import Param, get_current_context
from airflow.sdk.exceptions import AirflowFailException

from density_study.cluster.model.errors import InputError
from density_study.dags.tasks.known_keys import check_keys


def study_params(fresh: bool) -> dict[str, Param]:
    """Parameters of a study's DAG. Everything else is in the study file, which makes the graph."""
    return {
        "fresh": Param(
            fresh,
            type="boolean",
            title="Start a new run",
            description="Off: resume the newest unfinished run if the study has not changed.",
        )
    }


@contextmanager
def bad_input_fails() -> Iterator[None]:
    """Airflow does not repeat the task after an InputError: the input would be no better in 30 s."""
    try:
        yield
    except InputError as error:
        raise AirflowFailException(str(error)) from error


def checked_params() -> dict[str, Any]:
    """The parameters of the current DAG run. InputError if its conf has an unknown key."""
    context = get_current_context()
    known = context["dag"].params
    check_keys(context["dag_run"].conf or {}, known)
    return {key: context["params"][key] for key in known}
