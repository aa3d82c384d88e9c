"""`study stack`: known versions, and bad input."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

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


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "cache"))
    with zipfile.ZipFile(tmp_path / "counter.jar", "w") as archive:
        archive.writestr("name.txt", "x")
    return str(tmp_path / "counter.jar")


def test_jars_are_added_with_their_properties_and_named_for_the_study(jar: str) -> None:
    words = ["stack", "add", "jars", jar, "--property", "hbase.coprocessor.region.classes=a.B"]
    done = RUNNER.invoke(app, words, catch_exceptions=False)
    assert done.output.startswith("write in a study: stack: {jars: ")
    plain = RUNNER.invoke(app, words[:4], catch_exceptions=False)
    assert plain.output != done.output, "the properties are part of the hash"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("jars", "JAR", "--property", "dfs.replication=3"), "this project sets it"),
        (("jars", "JAR", "--property", "x"), "a property has no value"),
        (("jars", "JAR", "--property", "x y=1"), "this is not a property"),
        (("hadoop", "3.4.2", "3.4.3"), "hadoop takes one version"),
        (("hadoop", "3.4.2", "--property", "a=b"), "hadoop takes one version"),
        (("hadoop", "missing/hadoop-3.4.2.tar.gz"), "it cannot be read"),
        (("native", "JAR", "JAR"), "native takes one tarball or folder"),
    ],
)
def test_what_cannot_be_brought_is_refused(jar: str, words: tuple[str, ...], said: str) -> None:
    given = [jar if word == "JAR" else word for word in words]
    done = RUNNER.invoke(app, ["stack", "add", *given])
    assert isinstance(done.exception, InputError) and said in str(done.exception)
