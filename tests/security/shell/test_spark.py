"""Spark in the shell of somebody who works with another Hadoop and another Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.security.shell.hostile import hostile

PROBE = Path(__file__).with_name("spark_probe.py")
KEPT = ("PATH", "HOME", "JAVA_HOME")
pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a session of its own process writes, listens on and shows, in the worst shell of all."""
    folder = tmp_path_factory.mktemp("shell")
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    shell = hostile(folder, kept)
    # The probe is no program that leaves its shell behind: what Python reads at its start stays as it is.
    given = {name: value for name, value in shell.items() if not name.startswith("PYTHON")}
    given.pop("PYSPARK_GATEWAY_PORT")  # this one says that spark-submit started the process
    (folder / "for, files").mkdir()
    given["TMPDIR"] = str(folder / "for, files")
    sub_folder = folder / "of" / "another" / "spark"
    for foreign in ("bin", "jars"):
        (folder / "of" / "another" / foreign).mkdir(parents=True)
    (folder / "of/another/bin/spark-submit").write_text("#!/bin/sh\nexit 9\n")
    (folder / "of/another/bin/spark-submit").chmod(0o755)
    sub_folder.mkdir()
    ended = subprocess.run(
        [sys.executable, str(PROBE), str(folder / "a run%41 ü [x]{y,z}*")],
        env=given, cwd=sub_folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_a_table_is_written_to_this_machine_and_read_from_it(seen: dict[str, Any]) -> None:
    assert seen["rows"] == 1000
    assert seen["default"].startswith("file:/")


def test_whoever_connects_to_spark_must_know_a_secret_that_no_command_line_shows(
    seen: dict[str, Any],
) -> None:
    assert seen["authenticate"] == "true"
    assert "spark.authenticate=true" in seen["command"]
    assert "secret" not in seen["command"].lower()


def test_spark_listens_on_loopback_alone(seen: dict[str, Any]) -> None:
    assert seen["listeners"]
    assert {address.removeprefix("::ffff:") for address in seen["listeners"]} == {"127.0.0.1"}


def test_nothing_is_left_in_the_folder_for_temporary_files(seen: dict[str, Any]) -> None:
    assert not Path(seen["scratch"]).exists()
