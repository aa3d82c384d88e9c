"""A misspelt key in a trigger's conf is refused; Airflow alone ignores it."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.dags.tasks.known_keys import check_keys

KNOWN = ("spec", "fresh", "runs")


def test_known_keys_and_airflows_own_are_accepted() -> None:
    check_keys({}, KNOWN)
    check_keys({"spec": "a.yaml", "runs": "r", "airflow/task_span_detail_level": 2}, KNOWN)


def test_an_unknown_key_is_named_with_the_nearest_and_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        check_keys({"spec": "a.yaml", "frsh": True}, KNOWN)
    assert caught.value.what == "unknown key 'frsh'; did you mean 'fresh'?"
    assert caught.value.remedy.endswith(": fresh, runs, spec.")


def test_a_key_without_similar_ones_gets_no_suggestion() -> None:
    with pytest.raises(InputError) as caught:
        check_keys({"zzz": 1}, KNOWN)
    assert caught.value.what == "unknown key 'zzz'."
