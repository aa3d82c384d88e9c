"""The SSH key of an Airflow connection: in memory only, as ssh accepts it, for tasks of a real DAG run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.ssh.options import IDENTITY, identity_file
from density_study.cluster.state.settings import VARIABLES
from density_study.dags.airflow_home.home import project_root
from tests.dag.backend import SMALL

pytestmark = [pytest.mark.dag, pytest.mark.usefixtures("airflow")]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True
    )
    return path


@pytest.fixture(autouse=True)
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES["ssh_connection"], "lab")
    monkeypatch.setenv(IDENTITY, "/a/key/of/before")


def connect(monkeypatch: pytest.MonkeyPatch, **extra: str) -> None:
    text = json.dumps({"conn_type": "ssh", "extra": extra})
    monkeypatch.setenv("AIRFLOW_CONN_LAB", text)


@pytest.mark.parametrize("end", ["\n", "\r\n"])  # the second of a browser's form
def test_ssh_reads_the_key_from_memory(
    end: str, monkeypatch: pytest.MonkeyPatch, key: Path
) -> None:
    from density_study.dags.tasks.own_process import use_ssh_connection

    connect(monkeypatch, private_key=key.read_text().replace("\n", end))
    use_ssh_connection()
    identity = identity_file()
    assert identity is not None and str(identity).startswith(f"/proc/{os.getpid()}/fd/")
    for _ in range(2):  # each connection reads it again
        shown = subprocess.run(
            ["ssh-keygen", "-y", "-f", str(identity)], capture_output=True, text=True, check=True
        )
        assert shown.stdout.split()[:2] == key.with_suffix(".pub").read_text().split()[:2]


def test_a_key_file_of_the_connection_is_used_as_it_is(
    monkeypatch: pytest.MonkeyPatch, key: Path
) -> None:
    from density_study.dags.tasks.own_process import use_ssh_connection

    connect(monkeypatch, key_file=str(key))
    use_ssh_connection()
    assert identity_file() == key


@pytest.mark.parametrize(
    ("extra", "fault"),
    (
        ({}, "has no private key"),
        ({"private_key": "k", "private_key_passphrase": "SECRET"}, "has a passphrase"),
    ),
)
def test_a_connection_without_a_usable_key_is_refused(
    monkeypatch: pytest.MonkeyPatch, extra: dict[str, str], fault: str
) -> None:
    from density_study.dags.tasks.own_process import use_ssh_connection

    connect(monkeypatch, **extra)
    with pytest.raises(InputError, match=fault) as caught:
        use_ssh_connection()
    assert "SECRET" not in str(caught.value)


def test_without_the_setting_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    from density_study.dags.tasks.own_process import use_ssh_connection

    monkeypatch.delenv(VARIABLES["ssh_connection"])
    use_ssh_connection()
    assert os.environ[IDENTITY] == "/a/key/of/before"


def test_every_task_that_may_reach_a_host_uses_it() -> None:
    from density_study.dags.reap_clusters import reap_hourly
    from density_study.dags.studies import study_dags
    from density_study.dags.tasks.own_process import own_process

    (study,) = study_dags("study_quickstart")
    for dag in (study, reap_hourly):
        assert dag.tasks
        for task in dag.tasks:
            hook = task.partial_kwargs["pre_execute"] if task.is_mapped else task._pre_execute_hook
            assert hook is own_process


@pytest.mark.slow
def test_a_run_stops_before_anything_is_built_without_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch)
    (tmp_path / "small.yaml").write_text(SMALL)
    environment = {
        **os.environ,
        "DENSITY_STUDY_RUNTIME": str(tmp_path / "runtime"),
        "PYTHONPATH": str(project_root()),
    }
    argv = [sys.executable, "-m", "tests.dag.faked", "study", "run", "small.yaml"]
    ended = subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 1
    (run,) = (tmp_path / "runs").glob("small/*Z")
    assert "'lab': it has no private key" in (run / "airflow.log").read_text()
    assert not (run / "order.log").exists(), "no step was carried out"
