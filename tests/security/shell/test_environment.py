"""What of the user's environment reaches this program and its children."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.cluster.stack import maven
from density_study.cluster.state.settings import FILE
from density_study.cluster.state.shell import cleaned
from density_study.dags.airflow_home.home import ONE_PROCESS, project_root
from density_study.dags.tasks.own_process import own_process
from tests.security.shell.hostile import NOWHERE, hostile

STUDY = Path(sys.executable).with_name("study")
CHOICES = {
    "AIRFLOW_CONN_HOOK": "https://hook.example.org",
    "AWS_ACCESS_KEY_ID": "x",
    "DENSITY_STUDY_RUNS": "/srv/runs",
    "HBASE_HOME": "/opt/hbase",
    "HOME": "/home/me",
    "JAVA_HOME": "/opt/jdk",
    "KRB5CCNAME": "/tmp/tickets",
    "KRB5_CONFIG": "/etc/our-krb5.conf",
    "PATH": "/usr/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "REQUESTS_CA_BUNDLE": "/etc/ours.pem",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "STUDY_TAG": "a/b",
    "XDG_CACHE_HOME": "/cache",
    "_STUDY_COMPLETE": "bash_complete",
}
STAYS = {
    "HBASE_HOME", "HTTP_PROXY", "KRB5CCNAME", "KRB5_CONFIG", "LC_ALL", "LD_LIBRARY_PATH", "MAVEN_OPTS",
    "NO_PROXY", "TERM", "TZ", "VIRTUAL_ENV", "http_proxy", "https_proxy", "no_proxy",
}  # fmt: skip
"""Documented choices, what only a terminal or the dynamic linker reads, and what this program sets."""


def test_the_variables_of_other_software_are_left_out(tmp_path: Path) -> None:
    given = hostile(tmp_path, {})
    assert set(cleaned(given)) == STAYS
    assert cleaned(given)["LC_ALL"] == "C.UTF-8"


def test_the_users_documented_choices_stay() -> None:
    assert cleaned(CHOICES) == {**CHOICES, "LC_ALL": "C.UTF-8"}


def test_in_an_airflow_that_the_user_runs_its_own_variables_stay(tmp_path: Path) -> None:
    given = hostile(tmp_path, {})
    airflows = {name for name in given if name.startswith(("AIRFLOW", "PYTHON"))}
    assert set(cleaned(given, hosted=True)) == STAYS | airflows


def test_a_task_in_such_an_airflow_cleans_its_own_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = hostile(tmp_path, {"PATH": os.environ["PATH"], FILE: os.devnull})
    monkeypatch.setattr(os, "environ", given)
    own_process({})
    assert given == cleaned(given, hosted=True)
    assert "AIRFLOW__CORE__EXECUTOR" in given and "HADOOP_CONF_DIR" not in given


def test_a_task_in_the_process_of_study_run_leaves_what_spark_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Spark starts in the background during the last step; the next task began before it had read them
    given = {
        **dict.fromkeys(("PYSPARK_PYTHON", "SPARK_HOME", "JAVA_HOME"), "/ours"),
        FILE: os.devnull,
    }
    monkeypatch.setattr(os, "environ", {**given, ONE_PROCESS: "1"})
    own_process({})
    assert os.environ == {**given, ONE_PROCESS: "1"}


@pytest.mark.parametrize(
    "program", ["dags/cli/entry.py", "cluster/stack/__main__.py", "jobs/pipeline.py"]
)
def test_every_program_that_a_user_starts_begins_by_leaving_the_shell_behind(program: str) -> None:
    source = (project_root() / program).read_text(encoding="utf-8")
    (main,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "main"
    )
    assert "shell.enter()" in ast.unparse(main.body[0])


def test_a_temporary_folder_stays_if_it_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for bad in (NOWHERE, str(tmp_path / "file"), "", ".", "/proc/self"):
        if bad != "/proc/self" or not os.access(bad, os.W_OK):
            assert "TMPDIR" not in cleaned({"TMPDIR": bad})
    for mode, stays in ((0o700, True), (0o1777, True), (0o775, True), (0o777, False)):
        tmp_path.chmod(mode)  # everybody may rename what lies in the last one
        assert (cleaned({"TMPDIR": str(tmp_path)}).get("TMPDIR") == str(tmp_path)) is stays, mode


@pytest.mark.parametrize(
    ("given", "direct"),
    [
        ({}, "127.0.0.1,localhost"),
        ({"NO_PROXY": "corp.example"}, "corp.example,127.0.0.1,localhost"),
        ({"no_proxy": "127.0.0.1"}, "127.0.0.1,localhost"),
    ],
)
def test_a_proxy_is_not_asked_for_this_machine(given: dict[str, str], direct: str) -> None:
    seen = cleaned({"https_proxy": "http://proxy:3128", **given})
    assert (seen["no_proxy"], seen["NO_PROXY"]) == (direct, direct)
    assert "no_proxy" not in cleaned({})


def test_maven_takes_the_network_from_maven_opts_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, trust = "-Dhttps.proxyHost=proxy", "-Djavax.net.ssl.trustStore=/etc/ours.jks"
    given = {"MAVEN_OPTS": f"-Xmx1k {proxy} -XX:+UseG1GC {trust} -Dmaven.repo.local=/nowhere"}
    assert maven._options(given).split() == [*maven._JVM, proxy, trust]


def study(
    *arguments: str, environment: dict[str, str], umask: int = -1
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [STUDY, *arguments],
        env=environment,
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_starts_without_the_pythonpath_of_the_shell(tmp_path: Path) -> None:
    """Its own libraries, not others of the same names."""
    for name in ("typer", "rich", "pydantic"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('another library')\n")
    seen = study("--version", environment={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (seen.returncode, seen.stdout[:6]) == (0, "study "), seen.stderr


@pytest.mark.thorough
def test_the_command_starts_in_the_worst_shell_of_all(tmp_path: Path) -> None:
    kept = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    seen = study("plan", "quickstart", environment=hostile(tmp_path, kept))
    assert seen.returncode == 0, seen.stderr
    assert "quickstart" in seen.stdout


ENTERED = """
import os, resource
from density_study.cluster.state.shell import enter
enter()
print(oct(os.umask(0)), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(("umask", "then"), [(0o000, 0o022), (0o002, 0o022), (0o077, 0o077)])
def test_files_are_changed_by_their_owner_alone_and_a_stricter_umask_stays(
    umask: int, then: int
) -> None:
    limits = (64, min(1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    seen = subprocess.run(
        [sys.executable, "-c", ENTERED],
        umask=umask, capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits),
    )  # fmt: skip
    assert seen.stdout.split() == [oct(then), str(limits[1])]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_end_no_command_and_are_taken_by_no_file(closed: str) -> None:
    """As cron jobs and scripts have them (`>&-`)."""
    look = "import os; from density_study.cluster.state.shell import enter; enter(); "
    look += (
        "assert [os.fstat(n) for n in range(3)]; print('said'); print('said', file=os.sys.stderr); "
    )
    look += "raise SystemExit(40 + min(os.dup(0), 9))"
    line = f'"$0" -c "$1" {closed}'
    seen = subprocess.run(
        ["sh", "-c", line, sys.executable, look], capture_output=True, text=True, check=False
    )
    assert seen.returncode == 43, seen.stderr
