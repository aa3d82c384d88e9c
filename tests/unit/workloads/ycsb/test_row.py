"""The key `row`: fields of a row, and what follows from them."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments, table_of
from density_study.workloads.ycsb.row import Row
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import QUICKSTART


def parsed(row: str) -> list[YcsbTestCase]:
    text = QUICKSTART.read_text().replace("threads: [8]", f"threads: [8]\n      row: {row}")
    test_cases = parse_study(text, "q.yaml").study.test_cases()
    return [test_case for test_case in test_cases if isinstance(test_case, YcsbTestCase)]


def test_the_clients_write_and_read_rows_of_this_size_in_a_table_of_their_own() -> None:
    load, run, _ = parsed("{fields: 20, field_length: 500 B}")
    for test_case in (load, run):
        arguments = client_arguments(test_case, "raw/ycsb-1-")
        assert "fieldcount=20" in arguments
        assert "fieldlength=500" in arguments
        assert table_of(test_case) == "usertable_100000_f20x500"
        assert "-f20x500" in test_case.id
        assert "100,000 records of 20 x 500 B" in test_case.size_label
    assert load.writes_for(run)


def test_rows_of_another_size_are_another_table() -> None:
    run, large = parsed("{}")[1], parsed("{field_length: 1 KiB}")[1]
    assert run.row == Row()
    assert table_of(run) == "usertable_100000"
    assert not run.shares_table_with(large)
    assert run.warmed != large.warmed


def test_disk_and_time_follow_the_size() -> None:
    usual, large = parsed("{}")[0], parsed("{fields: 20, field_length: 500 B}")[0]
    assert large.data_mib == pytest.approx(10 * usual.data_mib)
    assert usual.disk_use(1)[1] == pytest.approx(100_000 * 1430 * 3 / 2**20)
    assert large.disk_use(1)[1] == pytest.approx(100_000 * 20 * 543 * 3 / 2**20)
    assert large.estimate_s > 4 * usual.estimate_s


def test_lengths_that_vary_count_with_their_mean() -> None:
    (test_case, *_), (usual, *_) = (
        parsed("{shortest_field: 100 B, field_length: 500 B}"),
        parsed("{}"),
    )
    arguments = client_arguments(test_case, "raw/ycsb-1-")
    assert {"fieldlength=500", "minfieldlength=100", "fieldlengthdistribution=uniform"} <= {
        *arguments
    }
    plain = client_arguments(usual, "raw/ycsb-1-")
    assert not any("fieldlengthdistribution" in one for one in plain)
    assert table_of(test_case) == "usertable_100000_f10x100to500"
    assert "100,000 records of 10 x 100 to 500 B" in test_case.size_label
    assert test_case.data_mib == pytest.approx(3 * usual.data_mib)
    assert type(test_case).model_validate(test_case.model_dump(mode="json")) == test_case


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("{fields: 0}", "1 or more"),
        ("{field_length: 100}", "no unit"),
        ("{field_length: 2 MiB}", "objects"),
        ("{shortest_field: 100 B}", "not shorter"),
        ("{fields: 100, field_length: 1 MiB}", "exceeds the maximum of 10 MiB"),
    ],
)
def test_a_row_that_is_none_is_refused(row: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        parsed(row)
    assert "row" in caught.value.where
