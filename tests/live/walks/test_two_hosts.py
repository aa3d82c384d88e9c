"""docs/tutorials/two-hosts.md, on hosts that are network namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.fixture import Hosts
from tests.live.support.over_ssh import lab, left_on
from tests.live.support.walk import Change, walking

pytestmark = pytest.mark.timeout(1100)
SHOWN = {"control": "192.0.2.10", "worker": "192.0.2.11"}
ONE_MACHINE = "both hosts share two cores, and the walk has few minutes"
DISK = "a host made of namespaces has its own disk below /mnt"


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    if os.getuid() != 0:
        pytest.skip("hosts over SSH were not walked: only root makes network namespaces")
    with lab(tmp_path / "lab", [*SHOWN]) as made:
        yield made


def test_your_own_two_hosts(hosts: Hosts, tmp_path: Path) -> None:
    folder = tmp_path / "walk"
    folder.mkdir()
    worker = f"nsenter --target {hosts.first_process('worker')} --all --"
    with hosts.inside(), walking("tutorials/two-hosts.md", folder) as walk:
        walk.to(
            "export",
            Change("apt-get", "", "tests/packages.sh has installed them"),
            Change("useradd", "", "the hosts have this user"),
            *(
                Change(f"ssh root@{address} sh", "sh -n", "the hosts have what the script installs")
                for address in SHOWN.values()
            ),
            Change("mkdir -p /data/flash1", f"{worker} mkdir -p /mnt/flash1", DISK),
            Change("chown study: /data/flash1", f"{worker} chown study: /mnt/flash1", DISK),
            Change("ssh-keygen", "", "the hosts know a key of the test"),
            Change("ssh-copy-id", "", "the same"),
            Change("~/.ssh/density-study", str(hosts.identity), "the same"),
        )
        walk.until("study doctor")
        walk.change(
            "two-hosts.yaml",
            *(Change(address, hosts.addresses[name], "as above") for name, address in SHOWN.items()),
            Change("user: study", f'user: study, known_hosts: "{hosts.known_hosts}"', "as above"),
            Change("/data/flash1", "/mnt/flash1", DISK),
            Change("cores: 8", "cores: auto", ONE_MACHINE),
            Change("16 GiB", "2400 MiB", ONE_MACHINE),
            Change("1_000_000", "5_000", ONE_MACHINE),
            Change("threads: [16]", "threads: [2]", ONE_MACHINE),
            Change("duration: 2 min", "duration: 8 s", ONE_MACHINE),
            Change(
                "warm_up: 20 s", "warm_up: 2 s\n      warm_up_client: off\n      warm_up_daemons: off",
                ONE_MACHINE,
            ),
        )  # fmt: skip
        walk.to("study doctor")
        planned = walk.to("study plan")
        assert "10 builds, 30 trials" in planned.words
        walk.change("two-hosts.yaml", Change("repetitions: 5", "repetitions: 1", ONE_MACHINE))
        walk.to("study run two-hosts.yaml")
        walk.to("", Change("study run two-hosts.yaml --add-repetitions 5", "",
                           "five more of each build take half an hour here"))  # fmt: skip
    (run,) = folder.glob("runs/two-hosts/2*")
    assert (run / "report" / "index.html").exists()
    assert len(list(run.glob("records/*/manifest.json"))) == 6
    # the reader made the disk's folder; it is empty again
    assert {name: left_on(hosts, name) for name in SHOWN} == {
        "control": [],
        "worker": ["/mnt/flash1"],
    }
