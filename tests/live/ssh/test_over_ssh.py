"""A cluster on two hosts over SSH: daemons up, one trial, torn down, nothing left.

The hosts are namespaces (`tests.hosts`): a master that is also the client, and a worker.
tests/live/ssh/test_physical.py has more hosts, one without a stack, HBase under load, and failures.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.ssh.options import HOST_FOLDER
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.steps import close_run
from tests.hosts.fixture import Hosts
from tests.live.support.over_ssh import SECRET, check_whole_study, controlling, lab, physical_spec

pytestmark = pytest.mark.timeout(600)

SMALL = """
study: live-ssh
question: Does a cluster run over SSH?
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0]}
workloads: [testdfsio: {modes: [random], files: 2, file_size: 16 MiB}]
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1"]) as made:
        yield made


@pytest.fixture
def controller(hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SOME_PASSWORD", SECRET)
    with controlling(hosts, tmp_path):
        yield


@pytest.mark.usefixtures("controller")
def test_missing_programs_of_all_hosts_are_reported_together(hosts: Hosts, tmp_path: Path) -> None:
    spec, runs = physical_spec(hosts, SMALL, tmp_path / "spec.yaml"), tmp_path / "runs"
    with (
        _hidden(hosts, "m1", "java"),
        _hidden(hosts, "h1", "python3"),
        _hidden(hosts, "h1", "java"),
        pytest.raises(InputError) as caught,
    ):
        open_run(spec, runs)
    assert caught.value.what == "m1 lacks Java 17 or 21; h1 lacks Python 3.11, Java 17 or 21."
    assert "on h1, apt-get install python3 default-jdk-headless" in caught.value.remedy
    assert not list(runs.glob("*/*/journal.jsonl"))


@contextmanager
def _hidden(hosts: Hosts, name: str, program: str) -> Iterator[None]:
    """Hides the program on the host for the duration of the context."""
    path = shutil.which(program, path="/usr/bin:/bin")
    assert path is not None
    place = str(Path(path).resolve())
    hosts.on(name, "mount", "--bind", "/dev/null", place)
    try:
        yield
    finally:
        hosts.on(name, "umount", place)


@pytest.mark.usefixtures("controller")
def test_a_folder_that_another_user_took_is_refused_and_another_one_will_do(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, taken = (
        physical_spec(hosts, SMALL, tmp_path / "spec.yaml"),
        "/var/tmp/density-study-study",
    )
    aside = f"{taken}.aside"
    hosts.on("h1", "sh", "-c", f"[ ! -e {taken} ] || mv {taken} {aside}")
    hosts.on("h1", "mkdir", "-m", "777", taken)
    hosts.on("h1", "chown", "nobody", taken)
    try:
        with pytest.raises(InputError, match="it belongs to another user") as caught:
            open_run(spec, tmp_path / "runs")
        assert "'h1'" in caught.value.where and HOST_FOLDER in caught.value.remedy
        assert hosts.on("h1", "ls", taken) == ""
        monkeypatch.setenv(HOST_FOLDER, "/home/study/density-study")
        close_run(open_run(spec, tmp_path / "runs"))
        assert "700 study" in hosts.on("h1", "stat", "-c", "%a %U", "/home/study/density-study")
    finally:
        hosts.on("h1", "rm", "-rf", taken)
        hosts.on("h1", "sh", "-c", f"[ ! -e {aside} ] || mv {aside} {taken}")


@pytest.mark.slow
@pytest.mark.usefixtures("controller")
def test_a_cluster_measures_and_leaves_nothing(hosts: Hosts, tmp_path: Path) -> None:
    check_whole_study(hosts, physical_spec(hosts, SMALL, tmp_path / "spec.yaml"), tmp_path / "runs")
