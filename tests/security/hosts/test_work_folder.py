"""The program's folder on a host: nobody but the SSH user can have written to it, whatever the provider."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.model.host import Host, Login, Target
from density_study.cluster.providers.existing import watched
from density_study.cluster.providers.libvirt.provider import _on_hosts
from density_study.cluster.providers.ssh import host_lease
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.providers.ssh.channel import channel
from density_study.cluster.providers.ssh.options import HOST_FOLDER, host_folder
from density_study.cluster.providers.ssh.work_folder import own_folder
from density_study.cluster.state.events import HostReach, NodeReach
from density_study.cluster.state.journal import Journal

SOMEBODY = 54321
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to another user")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "density-study-study"


def foreign(folder: Path) -> None:
    folder.mkdir()
    os.chown(folder, SOMEBODY, SOMEBODY)


def writable(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def of_a_group(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o770)


def link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to("elsewhere")


def dangling(folder: Path) -> None:
    folder.symlink_to("nowhere")


def file(folder: Path) -> None:
    folder.write_text("")


def replaceable(folder: Path) -> None:
    """Its parent lets everybody rename it."""
    folder.mkdir()
    folder.parent.chmod(0o777)


def below_somebody(folder: Path) -> None:
    folder.mkdir()
    os.chown(folder.parent, SOMEBODY, SOMEBODY)


TAKEN = [
    pytest.param(foreign, marks=needs_root), writable, of_a_group, link, dangling, file, replaceable,
    pytest.param(below_somebody, marks=needs_root),
]  # fmt: skip


@pytest.mark.parametrize("take", TAKEN)
def test_a_folder_that_somebody_else_could_have_written_to_is_refused(
    take: Callable[[Path], None], folder: Path
) -> None:
    take(folder)
    with pytest.raises(InputError) as caught:
        own_folder(str(folder))
    assert str(folder.parent) in caught.value.where
    assert HOST_FOLDER in caught.value.remedy


@pytest.mark.parametrize("path", ["relative", "/tmp/../tmp/x"])
def test_the_folder_has_a_plain_path(path: str) -> None:
    with pytest.raises(InputError, match="not an absolute path"):
        own_folder(path)


def test_the_folder_becomes_the_users_alone(folder: Path) -> None:
    own_folder(str(folder / "deeper"))
    assert (folder.stat().st_mode & 0o777, (folder / "deeper").stat().st_mode & 0o777) == (
        0o700,
    ) * 2
    folder.chmod(0o755)  # as an earlier version left it
    own_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("honest")
@pytest.mark.parametrize("kind", ["physical", "existing", "libvirt", "lease"])
def test_no_provider_uses_a_folder_that_is_taken(kind: str, folder: Path, tmp_path: Path) -> None:
    """Neither code nor a lease is put there."""
    writable(folder)
    site, journal = Site(tmp_path / "r" / "builds" / "b1", "s/r/b1"), Journal(tmp_path / "j.jsonl")
    target = Target("h1", "192.0.2.11", 22, "study", "/known", folder=str(folder))
    with pytest.raises(InputError, match="other users can write to it") as caught:
        make(kind, target, site, journal)
    assert "host 'h1'" in caught.value.where
    assert list(folder.iterdir()) == []


def make(kind: str, target: Target, site: Site, journal: Journal) -> None:
    if kind == "physical":
        journal.record(NodeReach(tag=site.tag, node="w1", target=target))
        SshBuild.known(site, journal).create([], {})
    elif kind == "existing":
        login = Login("study", 22, "/known", folder=str(target.work))
        host = Host("h1", target.address, 1, 1024, (), login=login)
        watched.reach(site, ExistingCluster("", "/s", "n", "q", watched=(host,)), journal)
    elif kind == "libvirt":
        journal.record(HostReach(tag=site.tag, node="h1", target=target))
        build = _on_hosts(site, journal)
        assert build is not None
        build.make_folders()
    else:
        channel(target).call("take_lease", str(target.work), "s/r", {})


def test_the_lease_of_a_host_is_in_the_folder_of_all_its_controllers(folder: Path) -> None:
    owner = {"name": "one"}
    assert host_lease.take(str(folder), "s/r1", owner) is None
    held = host_lease.take(str(folder), "s/r2", owner)
    assert held is not None and held["tag"] == "s/r1"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"tag": "s/r"}'])
def test_a_damaged_lease_is_named(text: str, folder: Path) -> None:
    own_folder(str(folder))
    (folder / "host-lease.json").write_text(text)
    for ask in (host_lease.holder, lambda work: host_lease.take(work, "s/r", {})):
        with pytest.raises(StudyError, match="is damaged"):
            ask(str(folder))


def test_a_test_case_names_another_folder() -> None:
    assert host_folder({}) == ""
    assert host_folder({HOST_FOLDER: "/srv/density-study"}) == "/srv/density-study"
    for bad in ("srv", "/srv/../x", "/srv/a b", "/srv/{{x}}", "/srv/$(id)", "/-x/.."):
        with pytest.raises(InputError, match="not an absolute path"):
            host_folder({HOST_FOLDER: bad})
    target = Target("h1", "192.0.2.11", 22, "study", "/known")
    assert str(target.work) == "/var/tmp/density-study-study"
    host = Host("h1", "a", 1, 1, (), login=Login("u", 22, "/k", folder="/srv/x"))
    assert str(host.target.work) == "/srv/x"


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("taken", ["foreign", "writable"])
def test_data_is_not_put_below_a_folder_of_somebody_else(
    level: int, taken: str, tmp_path: Path
) -> None:
    """<disk>/density-study/<study>/<run>/<build>, where a Java process unpacks libraries."""
    if taken == "foreign" and os.getuid() != 0:
        pytest.skip("only root gives files to another user")
    path = tmp_path / "disk" / "density-study" / "s" / "r" / "b1" / "w1"
    theirs = path.parents[level]
    theirs.mkdir(parents=True)
    if taken == "foreign":
        os.chown(theirs, SOMEBODY, SOMEBODY)
    else:
        theirs.chmod(0o777)
    with pytest.raises(InputError, match=r"replace what is in it|belongs to user") as caught:
        directories.make_at(path, "s/r/b1")
    assert caught.value.where == str(theirs) and not path.exists()


def test_data_is_the_users_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)  # a disk with the sticky bit, like /tmp
    path = tmp_path / "density-study" / "s" / "r" / "b1" / "w1"
    directories.make_at(path, "s/r/b1")
    assert path.stat().st_mode & 0o777 == 0o700
