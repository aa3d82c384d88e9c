"""Limits that are too low for Java processes are found before anything is started."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.state import limits
from density_study.cluster.state.limits import check_limits, check_temporary
from density_study.jobs.spark import session

LOW = [
    (resource.RLIMIT_NOFILE, 256, "256 open files", "ulimit -n 2048"),
    (resource.RLIMIT_NPROC, 100, "100 processes and threads", "ulimit -u 2048"),
    (resource.RLIMIT_AS, 2**30, "bytes of address space", "ulimit -v 16777216"),
    (resource.RLIMIT_FSIZE, 2**20, "bytes of a file", "ulimit -f 16777216"),
    (resource.RLIMIT_CPU, 60, "seconds of processor time", "ulimit -t 604800"),
]


@pytest.mark.parametrize(("limit", "value", "what", "remedy"), LOW)
def test_a_low_limit_is_named_with_the_command_that_raises_it(
    limit: int, value: int, what: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlimited = (resource.RLIM_INFINITY,) * 2
    monkeypatch.setattr(
        limits.resource, "getrlimit", lambda one: (value, value) if one == limit else unlimited
    )
    with pytest.raises(InputError) as refused:
        check_limits()
    assert what in refused.value.what and remedy in refused.value.remedy
    assert refused.value.where.startswith("ulimit -")


def test_the_limits_of_this_test_are_enough() -> None:
    check_limits()


def test_a_folder_for_temporary_files_without_programs_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Java unpacks native libraries into /tmp, whatever TMPDIR is."""
    check_temporary()
    monkeypatch.setattr(limits, "allows_programs", lambda _: False)
    with pytest.raises(InputError, match="noexec") as refused:
        check_temporary()
    assert "remount,exec /tmp" in refused.value.remedy


def test_spark_unpacks_its_libraries_where_they_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, cache = tmp_path / "tmp", tmp_path / "cache"
    usual.mkdir()
    cache.mkdir()
    monkeypatch.setattr(session.tempfile, "gettempdir", lambda: str(usual))
    monkeypatch.setattr(session, "cache_root", lambda: cache)
    assert session._scratch().parent == usual
    monkeypatch.setattr(session, "allows_programs", lambda folder: folder != usual)
    assert session._scratch().parent == cache


def test_spark_is_not_started_under_a_low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its JVM would end with words about classes that it cannot open."""
    monkeypatch.setattr(limits.resource, "getrlimit", lambda _: (256, 256))
    monkeypatch.setattr(session, "launch_gateway", pytest.fail)
    with pytest.raises(InputError, match="256 open files"):
        session._start(session.Engine())


@pytest.mark.parametrize(
    "said",
    [
        "Error occurred during initialization of VM\nCould not reserve enough space for object heap",
        "Error: LinkageError occurred while loading main class org.apache.spark.launcher.Main",
    ],
)
def test_the_words_of_a_jvm_that_does_not_start_are_shown(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/opt/jdk")
    log = tmp_path / "stderr"
    log.write_text(said + "".join(f"\n\tat java.base/Frame.number{each}()" for each in range(30)))
    with log.open("rb") as stderr:
        message = str(session._no_jvm(stderr))
    for line in said.splitlines():
        assert line in message
    assert "Frame" not in message
