"""A misspelt key in a trigger's conf is refused; Airflow alone ignores it. A run that it names is one of the
folder of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.dags.stages.study_stages import runs_to_plan
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


def test_a_plan_is_written_to_a_run_in_the_folder_of_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNS", str(tmp_path / "runs"))
    own, strange = (tmp_path / folder / "s" / "r1" for folder in ("runs", "elsewhere"))
    for root in (own, strange):
        root.mkdir(parents=True)
        (root / "journal.jsonl").touch()
    assert runs_to_plan({"run": str(own)}, []) == [str(own)]
    assert runs_to_plan({}, [str(own), str(own), None]) == [str(own)]
    for path in (strange, own / "../../../elsewhere/s/r1", own.parent):
        with pytest.raises(InputError, match="not a run in the folder of runs"):
            runs_to_plan({"run": str(path)}, [])
        with pytest.raises(InputError, match="not a run in the folder of runs"):
            runs_to_plan({}, [str(path)])
