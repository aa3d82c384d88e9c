"""`study stack`: known versions, and bad input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.main import app

RUNNER = CliRunner()


def test_the_list_has_every_shipped_pair_and_the_jdks() -> None:
    done = RUNNER.invoke(app, ["stack", "list", "--json"])
    listed = json.loads(done.output)
    pairs = {(one["hadoop"], one["hbase"], one["lock"]) for one in listed["stacks"]}
    assert ("3.4.2", "2.6.4-hadoop3", "shipped") in pairs
    assert ("3.3.6", "2.6.4-hadoop3", "shipped") in pairs
    assert listed["java"] and min(listed["java"]) >= 17
    assert "3.4.1" in RUNNER.invoke(app, ["stack", "list"]).output


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("hadoop", "newest"), "version of hadoop"),
        (("hbase", "2.6"), "version of hbase"),
        (("hbase", "2.6.3", "--hadoop", "../3.4.1"), "version of hadoop"),
    ],
)
def test_what_is_no_version_is_refused_before_anything_is_downloaded(
    words: tuple[str, ...], where: str
) -> None:
    done = RUNNER.invoke(app, ["stack", "add", *words])
    assert isinstance(done.exception, InputError)
    assert done.exception.where == where


def test_another_software_is_refused_with_the_choices() -> None:
    done = RUNNER.invoke(app, ["stack", "add", "spark", "3.5.0"])
    assert done.exit_code == 2
    assert "hadoop" in done.output
