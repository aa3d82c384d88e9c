"""Spark SQL: what a study may say, the answers of its queries, its program's output, and its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.store import store_named
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.sparksql.facts import facts
from density_study.workloads.sparksql.output import answer_faults, parse_queries, query_rows
from density_study.workloads.sparksql.queries import FIELDS, PARTS, QUERIES, Answer
from density_study.workloads.sparksql.spec import MAX_MIB
from density_study.workloads.sparksql.test_case import SparkSqlTestCase
from tests.support.drafts import plan, study
from tests.support.topologies import local, with_variant
from tests.unit.facts.made_rows import made_rows

TABLE = SparkSqlTestCase(size_mib=1024, files=8)
HEADER = ",".join(FIELDS)
ROWS = 2000
WRITTEN = f"""{HEADER}
aggregate,1764000000.000,1764000002.500,2.500001,200,100
join,1764000002.501,1764000006.500,4.000000,1000,500
sort,1764000006.501,1764000010.000,3.500000,2000,1000
"""


def test_one_trial_for_each_size() -> None:
    given = {"sparksql": {"size": ["1 GiB", "2 GiB"], "files": 8}}
    cases = study(workloads=[given]).test_cases()
    assert [one.id for one in cases] == ["sparksql-1024m-n8", "sparksql-2048m-n8"]
    assert TABLE.rows % PARTS == 0
    assert 0 <= 2**30 - TABLE.asked_bytes < PARTS * 150


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"size": []}, "give 1 or more values"),
        ({"size": [100]}, "has no unit"),
        ({"size": ["17 TiB"]}, "exceeds the maximum of 16,777,216: MiB, 16 TiB"),
        ({"files": 0}, "it must be 1 or more"),
        ({"files": 10**6}, "exceeds the maximum"),
    ],
)
def test_a_wrong_value_is_named(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        study(workloads=[{"sparksql": {"size": ["1 GiB"], "files": 8, **keys}}])


def test_too_little_room_for_an_executor_is_found_by_the_plan() -> None:
    with pytest.raises(InputError, match="YARN has 1024 MiB per node; Spark needs 1536 MiB"):
        plan(workloads=[{"sparksql": {"size": ["1 GiB"], "files": 8}}])


def test_a_shuffle_has_a_task_for_every_core_at_every_density() -> None:
    """Spark's default is 200: ten hosts with 64 cores had work for less than a third of them."""
    (host,) = local().hosts
    wide = [replace(local(nodes), hosts=(replace(host, cores=640),)) for nodes in (1, 2, 8)]
    assert [TABLE.partitions_on(one) for one in wide] == [1920] * 3
    assert TABLE.partitions_on(local()) == 200
    large = SparkSqlTestCase(size_mib=10 * 2**20, files=8)
    assert large.partitions_on(local()) == 20480  # none has more than half a GiB


def test_it_is_left_out_where_there_is_no_yarn() -> None:
    redis = with_variant(local(), store=store_named("redis"))
    obstacle = TABLE.obstacle(redis)
    assert obstacle is not None and "has no HDFS and no YARN" in str(obstacle)
    TABLE.check_topology(redis)
    assert TABLE.obstacle(local()) is None


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_answers_are_those_of_counting_row_by_row(blocks: int) -> None:
    rows = blocks * PARTS
    for name, parts in (("aggregate", 100), ("join", 500), ("sort", 1000)):
        ids = [one for one in range(rows) if one % PARTS < parts]
        assert QUERIES[name].answer(rows) == Answer(len(ids), sum(one // PARTS for one in ids))


def test_answers_of_the_largest_table_fit_the_integers_of_spark() -> None:
    """A sum of ids left 64 bits at 600 GiB, a quarter of the memory of ten hosts."""
    largest = SparkSqlTestCase(size_mib=MAX_MIB, files=8)
    assert {query.answer(largest.rows).total < 2**63 for query in QUERIES.values()} == {True}
    assert QUERIES["sort"].answer(2 * largest.rows).total > 2**63  # and none are refused in vain


def test_what_the_program_writes_is_read() -> None:
    parsed = parse_queries(WRITTEN, "q.csv")
    assert (parsed.parsed, parsed.skipped, len(parsed.quarantined)) == (3, 1, 0)
    assert [one.query for one in parsed.rows] == list(QUERIES)
    assert list(answer_faults(parsed, ROWS)) == []
    ((table, row),) = query_rows(parsed.rows[0], None)  # type: ignore[arg-type]
    assert set(row) | {"trial"} == set(table.column_names)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("sort,", "sart,", "the query sort has no answer"),
        ("join,", "sort,", "the query join has no answer"),
        (",1000,500", ",1000,501", "the query join found"),
        ("2000,1000\n", "2000,1000", "the query sort has no answer"),
        ("1764000010.000", "1663000010.000", "the query sort has no answer"),
    ],
)
def test_a_wrong_or_missing_answer_is_a_fault(old: str, new: str, words: str) -> None:
    parsed = parse_queries(WRITTEN.replace(old, new), "q.csv")
    assert any(words in fault for fault in answer_faults(parsed, ROWS))


@pytest.mark.parametrize("text", ["", HEADER, "query\n", "\n"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="no queries of Spark SQL"):
        parse_queries(text, "q.csv")


def numbers(text: str) -> tuple[dict[str, float | None], dict[str, Any]]:
    trial = {
        "asked_bytes": 10 * 2**20,
        "window_start_epoch_s": 1763999990.0,
        "window_end_epoch_s": 1764000011.0,
    }
    found = [
        {"trial": "t", **row}
        for one in parse_queries(text, "q.csv").rows
        for _, row in query_rows(one, None)  # type: ignore[arg-type]
    ]
    facts_ = facts(made_rows(trial, {"sql_queries": found}))
    return {one["name"]: one["value"] for one in facts_.metrics}, facts_.checks


def test_numbers_of_a_trial() -> None:
    metrics, checks = numbers(WRITTEN)
    assert metrics == {
        "throughput_sql": pytest.approx(3.0, rel=1e-4),
        "sql_aggregate": 2.500001, "sql_join": 4.0, "sql_sort": 3.5,
    }  # fmt: skip
    assert checks["work_share"] == 1.0 and checks["must_be_cold"]
    assert checks["rate_error"] == pytest.approx(0.0002, rel=0.1)


def test_what_is_not_known_is_no_number() -> None:
    metrics, checks = numbers(WRITTEN.replace("join,", "jain,"))
    assert (metrics["throughput_sql"], metrics["sql_join"]) == (None, None)
    assert metrics["sql_sort"] == 3.5
    assert (checks["work_share"], checks["rate_error"]) == (pytest.approx(2 / 3), None)
