"""summary.json has unchanged numbers, to the last published digit.

The golden files were written by the code of commit f9fba75. An intended change of a number replaces
them: `GOLDEN=1 pytest tests/spark/test_golden_summary.py`, and its diff is reviewed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.jobs import pipeline
from tests.bench.made_run import Size, make_run
from tests.spark.conftest import Analysed
from tests.spark.support.reported import GOLDEN, reported_lines

pytestmark = pytest.mark.spark


def same(root: Path, name: str) -> None:
    text = reported_lines(root / "report" / "summary.json")
    golden = GOLDEN / name
    if os.environ.get("GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    before, now = golden.read_text(encoding="utf-8").splitlines(), text.splitlines()
    assert len(now) == len(before)
    for number, (line, expected) in enumerate(zip(now, before, strict=True), start=1):
        assert line == expected, f"line {number} of {name}"


def test_summary_of_a_run_with_every_kind_of_trial(world: Analysed) -> None:
    same(world.root, "every_kind.json")


def test_summary_of_several_hosts_and_one_second_interval_logs(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = make_run(
        tmp_path / "made" / "run", Size(trials=4, hosts=2, seconds=90, interval_s=1, rate=200)
    )
    pipeline.analyse(root)
    same(root, "several_hosts.json")
