"""Why a file or an answer cannot be read, in the words of its reader and not in those of Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from density_study.analysis.capacity.inputs.question import parse_promises
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.existing.web import understood
from density_study.cluster.state.plain_file import MOST_WHY, NotPlainError, why_unread
from tests.unit.analysis.capacity.traces.records import (
    END,
    SPARK,
    START,
    TASK,
    event,
    galaxy,
    nextflow,
    profile_from,
    sacct,
)

PYTHONS = re.compile(
    r"could not convert|invalid literal|isoformat|object has no|indices must|subscriptable|unpack|Expecting"
    r"|out of range|unhashable|\(char |codec can|Error\(|must be a string"
)


class Model(BaseModel):
    inner: Mapping[str, int]
    other: int


def raised(act: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:
        act()
    found = caught.value
    assert isinstance(found, Exception)
    return found


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: {}["tasks"], "tasks is missing"),
        (lambda: json.loads("{\n 'a'"), "line 2, column 2 is not JSON"),
        (lambda: b"ab\xff".decode(), "byte 3 is not UTF-8"),
        (lambda: b"\xe4".decode("ascii"), "byte 1 is not ASCII"),
        (lambda: [][0], "a value in it is of another kind, or missing"),
        (lambda: "a".get("b"), "a value in it is of another kind, or missing"),  # type: ignore[attr-defined]
        (lambda: len(5), "a value in it is of another kind, or missing"),  # type: ignore[arg-type]
        (lambda: int(1e999), "a number in it is too large"),
        (lambda: json.loads("[" * 100_000), "it is nested too deeply"),
        (lambda: open("/nonexistent/x"), "No such file or directory"),  # noqa: PTH123, SIM115
        (lambda: Model.model_validate({"inner": {"a": "x"}}),
         "inner.a: Input should be a valid integer, unable to parse string as an integer; "
         "other: Field required"),
    ],
)  # fmt: skip
def test_no_word_is_pythons(act: Callable[[], Any], words: str) -> None:
    assert why_unread(raised(act)) == words


def test_own_words_stay_in_one_line_of_bounded_length(tmp_path: Any) -> None:
    assert why_unread(ValueError("a text\nin it is too long")) == "a text in it is too long"
    assert why_unread(NotPlainError(tmp_path, "a symbolic link")) == "a symbolic link"
    assert len(why_unread(ValueError("x" * 9999))) == MOST_WHY


def spark(*events: str) -> str:
    return "".join((START, *events, TASK, END))


STAGE = {"Stage ID": "first", "Stage Name": "a", "RDD Info": []}
RECORDS = {
    "a duration": (nextflow("x|a (1)|COMPLETED|1.2.3h|100%|1"), "duration '1.2.3h'"),
    "a share of cores": (nextflow("x|a (1)|COMPLETED|1h|lots%|1"), "not a number from 0 to"),
    "a count of cores": (nextflow("x|a (1)|COMPLETED|1h|100%|1_0"), "not a number from 0 to"),
    "a time": (sacct("7|a|COMPLETED|soon|soon|60|1|00:01:00"), "not an ISO time: 'soon'"),
    "a number": (sacct("7|a|COMPLETED|2026-01-01T00:00:00Z||sixty|1|"), "'sixty'"),
    "metrics": (json.dumps([{**galaxy("7"), "job_metrics": [5]}]), "of another kind"),
    "a stage": (spark(event("StageSubmitted", **{"Stage Info": STAGE})),
                "Stage ID is 'first', not a whole number"),
    "a key": (spark(event("StageSubmitted", **{"Stage Info": {"Stage ID": 1}})),
              "Stage Name is missing"),
    "executors": (spark(event("ExecutorAdded", **{"Executor Info": 4})), "of another kind"),
    "cut": (json.dumps([galaxy("7")])[:-2], "not valid JSON: line 1, column"),
    "memory": (spark(event("EnvironmentUpdate",
                           **{"Spark Properties": {**SPARK, "spark.task.cpus": "two"}})), "'two'"),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_wrong_in_a_record_is_named(name: str, tmp_path: Any) -> None:
    text, words = RECORDS[name]
    with pytest.raises(InputError) as caught:
        profile_from(tmp_path, {"record": text})
    assert words in caught.value.what
    assert not PYTHONS.search(caught.value.what), caught.value.what


def test_a_promise_with_two_points_is_of_the_wrong_form() -> None:
    with pytest.raises(InputError, match="the form must be"):
        parse_promises(["turnaround_p95=2.4.0h"])


@pytest.mark.parametrize(
    ("read", "words"),
    [(lambda: {}["beans"], "beans is missing"),
     (lambda: min([]), "a value in it is of another kind, or missing"),
     (lambda: int("many"), "a value in it is of another kind, or missing")],
)  # fmt: skip
def test_what_a_daemons_answer_lacks_is_named(read: Callable[[], object], words: str) -> None:
    with pytest.raises(StudyError) as caught, understood("nn:9870"):
        read()
    assert caught.value.what == f"its answer lacks what a daemon of Hadoop says: {words}."
