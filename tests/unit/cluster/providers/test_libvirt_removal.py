"""Removal finds a build's libvirt resources by name, tag and UUID; foreign ones stay."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.libvirt.names import domain_name, prefix, uuid_of
from density_study.cluster.providers.libvirt.removal import find, remove
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.state.journal import Journal

TAG = "s/r/b1"
DOMAIN, POOL, NETWORK = domain_name(TAG, "w1"), f"{prefix(TAG)}-abc", prefix(TAG)
IMPOSTOR = domain_name(TAG, "w2")
"""A foreign domain with one of our names, but not the tag."""


class FakeVirsh:
    """A libvirt with a build's resources and foreign ones; `commands` records changes only."""

    uri = "qemu:///test"

    def __init__(self) -> None:
        self.there = {
            "list": {DOMAIN, IMPOSTOR, "foreign"},
            "net-list": {NETWORK, "default"},
            "pool-list": {POOL, "images"},
        }
        self.files = {"w1.root": "/d/w1.root", "notes.txt": "/d/notes.txt"}
        self.commands: list[tuple[str, ...]] = []
        self.tagged = {DOMAIN}

    def names(self, kind: str) -> list[str]:
        return sorted(self.there[kind])

    def active(self, kind: str, name: str) -> bool:
        return name in self.there[kind]

    def volumes(self, pool: str) -> dict[str, str]:
        assert pool == POOL
        return self.files

    def found(self, *args: str) -> str | None:
        if args[0] == "metadata":
            tag = TAG if args[1] in self.tagged else "s/r/b2"
            return f'<build xmlns="urn:density-study:1" tag="{tag}"/>'
        kind = {"net-uuid": "network", "pool-uuid": "pool"}[args[0]]
        return uuid_of(TAG, kind, args[1]) + "\n"

    def stop(self, domain: str) -> None:
        self.run("destroy", domain)

    def run(self, *args: str) -> str:
        self.commands.append(args)
        kind = {"undefine": "list", "net-undefine": "net-list", "pool-undefine": "pool-list"}
        if args[0] in kind:
            self.there[kind[args[0]]].discard(args[1])
        elif args[0] == "vol-delete":
            del self.files[args[-1]]
        return ""

    def delete_volume(self, pool: str, volume: str) -> None:
        Virsh.delete_volume(self, pool, volume)  # type: ignore[arg-type]


def test_only_resources_with_the_builds_tag_are_found() -> None:
    assert find(FakeVirsh(), TAG) == {  # type: ignore[arg-type]
        "domain": [DOMAIN],
        "volume": [f"{POOL}/w1.root"],
        "pool": [POOL],
        "network": [NETWORK],
    }


def test_a_guest_that_cannot_be_stopped_keeps_no_other_running(tmp_path: Path) -> None:
    virsh, second = FakeVirsh(), domain_name(TAG, "w0")
    virsh.there["list"].add(second)
    virsh.tagged.add(second)

    def stop(domain: str) -> None:
        if domain == second:
            raise StudyError(
                "Failed to terminate process: Device or resource busy", second, "wait."
            )

    virsh.stop = stop  # type: ignore[method-assign]
    with pytest.raises(StudyError, match="busy"):
        remove(virsh, TAG, Journal(tmp_path / "journal.jsonl"))  # type: ignore[arg-type]
    assert virsh.there["list"] == {second, IMPOSTOR, "foreign"}
    assert ("net-undefine", NETWORK) in virsh.commands


@pytest.mark.parametrize(("why", "known"), [("No such file or directory", True), ("denied", False)])
def test_a_pool_that_does_not_start_is_empty_only_without_its_folder(
    why: str, known: bool, tmp_path: Path
) -> None:
    """Else its images would stay, and nothing would name them."""
    virsh, run = FakeVirsh(), FakeVirsh.run

    def fail(*args: str) -> str:
        if args[0] in ("pool-start", "pool-delete"):
            raise StudyError(f"virsh {args[0]} failed: cannot open directory '/d': {why}", "x", "y")
        return run(virsh, *args)

    virsh.run = fail  # type: ignore[method-assign]
    virsh.active = lambda kind, name: kind == "net-list"  # type: ignore[method-assign]
    with nullcontext() if known else pytest.raises(StudyError, match="denied"):
        remove(virsh, TAG, Journal(tmp_path / "journal.jsonl"))  # type: ignore[arg-type]
    assert (POOL in virsh.there["pool-list"]) is not known
    assert virsh.there["list"] == {IMPOSTOR, "foreign"} and virsh.there["net-list"] == {"default"}
    if not known:
        with pytest.raises(StudyError, match="denied"):
            find(virsh, TAG)  # type: ignore[arg-type]


def test_resources_are_removed_once_in_dependency_order(tmp_path: Path) -> None:
    virsh, journal = FakeVirsh(), Journal(tmp_path / "journal.jsonl")
    remove(virsh, TAG, journal)  # type: ignore[arg-type]
    assert virsh.commands == [
        ("destroy", DOMAIN),
        ("undefine", DOMAIN),
        ("vol-delete", "--pool", POOL, "--", "w1.root"),
        ("pool-destroy", POOL),
        ("pool-delete", POOL),
        ("pool-undefine", POOL),
        ("net-destroy", NETWORK),
        ("net-undefine", NETWORK),
    ]
    assert virsh.there == {
        "list": {IMPOSTOR, "foreign"}, "net-list": {"default"}, "pool-list": {"images"}
    }  # fmt: skip
    assert [entry["event"] for entry in journal.read()] == [
        "domain-removed", "pool-removed", "network-removed"
    ]  # fmt: skip
    virsh.commands.clear()
    remove(virsh, TAG, journal)  # type: ignore[arg-type]
    assert virsh.commands == []
