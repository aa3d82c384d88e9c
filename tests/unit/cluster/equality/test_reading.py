"""Facts are read where the table says; what cannot be read is unknown."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.machine import network_link
from density_study.cluster.machine.equality import ethtool, reading
from density_study.cluster.machine.equality.judgement import remarks
from density_study.cluster.machine.equality.table import FACTS, UNKNOWN, Fact
from density_study.cluster.model.network import unable
from density_study.cluster.providers.ssh.answers import checked


def value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: str, **files: str) -> str:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(reading, "FACTS", (Fact("x", read.replace("@", f"{tmp_path}/")),))
    found: str = reading.read_facts([], "127.0.0.1")["machine"]["x"]
    return found


@pytest.mark.parametrize(
    ("read", "files", "expected"),
    [
        ("@a", {"a": "always [madvise] never\n"}, "madvise"),
        ("@c[0-9]*", {"c0": "x", "c10": "z", "c2": "y", "c3": "x"}, "x; y; z"),
        ("@a", {"a": "\n"}, "none"),
        ("@missing", {}, UNKNOWN),
        ("count @a", {"a": "-1\n"}, UNKNOWN),
        ("count @a", {"a": "25000\n"}, "25000"),
        ("max @c*", {"c0": "0", "c1": "133"}, "133"),
        ("max @c*", {"c0": "text"}, UNKNOWN),
        ("names @v*", {"v2": "Vulnerable", "v1": "Not affected"}, "v1: Not affected; v2: Vulnerable"),
        ("line @a key", {"a": "key: 1\nother: 2\nkey : 1\n"}, "1"),
        ("line @a key", {"a": "other: 2\n"}, UNKNOWN),
        ("program no-such-program", {}, "does not run"),
    ],
)  # fmt: skip
def test_each_way_of_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: str, files: dict[str, str], expected: str
) -> None:
    assert value(tmp_path, monkeypatch, read, **files) == expected


def test_a_file_that_may_not_be_read_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()  # reading it is an error, also for root
    assert value(tmp_path, monkeypatch, "@a") == UNKNOWN


def test_this_machine_answers_as_a_host_may(tmp_path: Path) -> None:
    found = reading.read_facts([str(tmp_path / "not" / "yet")], "127.0.0.1")
    assert checked("act", ("facts", [[], "127.0.0.1"]), found) == found
    assert found["network"] == {} and len(found["machine"]) > 30
    assert "rw" in found["disks"][str(tmp_path / "not" / "yet")]["mount_options"]


def no_ip(_: str) -> dict[str, Any]:
    raise unable("ip is not installed")


@pytest.mark.parametrize("link", [no_ip, lambda _: None], ids=["no ip", "of no interface"])
def test_an_interface_that_is_not_found_is_unknown_not_absent(
    monkeypatch: pytest.MonkeyPatch, link: Callable[[str], dict[str, Any] | None]
) -> None:
    """An address that no interface has, behind NAT for example, is not that of loopback."""
    monkeypatch.setattr(network_link, "link_of", link)
    found = reading.read_facts([], "192.0.2.9")["network"]
    assert set(found) == {fact.name for fact in FACTS if fact.scope == "network"}
    assert set(found.values()) == {UNKNOWN}


def test_a_card_says_what_it_has_and_is_silent_about_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        0x3: struct.pack("I32s32s32s96x", 3, b"mlx5_core", b"6.1", b"22.36.1010"),
        0xE: struct.pack("23I", 0xE, 8, 128, *[0] * 7, 1, *[0] * 12),
        0x25: struct.pack("2I", 0x25, 1 << 15),
    }
    monkeypatch.setattr(
        ethtool, "ask", lambda _, command, size: answers.get(command, bytes(size))[:size]
    )
    assert ethtool.READERS["driver"]("eth0") == "mlx5_core"
    assert ethtool.READERS["firmware"]("eth0") == "22.36.1010"
    assert ethtool.READERS["coalescing"]("eth0") == "rx-usecs 8, rx-frames 128, adaptive-rx 1"
    assert ethtool.READERS["offloads"]("eth0") == "lro"


ENFORCING = "1"
LOGINS = {
    "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023\0": "unconfined_t",
    "staff_u:staff_r:staff_t:s0-s0:c0.c1023\0": "staff_t",
    "user_u:user_r:user_t:s0": "user_t",
    "unconfined\n": UNKNOWN,  # AppArmor
}
"""As /proc/self/attr/current of RHEL 8 and 9 has them."""
FOLDERS = {
    b"unconfined_u:object_r:default_t:s0\0": "default_t",
    b"system_u:object_r:virt_image_t:s0": "virt_image_t",
}
"""As the extended attribute security.selinux has them."""


def selinux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, login: str = "") -> None:
    for name, text in (("_ENFORCE", mode), ("_LOGIN", login)):
        if text:
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(reading, name, tmp_path / name)
    monkeypatch.setattr(reading, "_LIBVIRT", tmp_path)


@pytest.mark.parametrize(("login", "expected"), LOGINS.items())
def test_the_type_of_a_login_is_read_where_selinux_enforces(
    login: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selinux(tmp_path, monkeypatch, ENFORCING, login)
    found = reading.read_facts([], "127.0.0.1")["machine"]
    assert (found["selinux"], found["selinux_login"]) == ("enforcing", expected)
    said = [one.remedy for one in remarks({"machine": {"h1": found}}) if "SELinux" in one.fact.why]
    confined = ["semanage login -a -s unconfined_u USER (then log in again)"]
    assert said == (confined if expected in ("staff_t", "user_t") else [])


@pytest.mark.parametrize(("label", "expected"), FOLDERS.items())
def test_the_type_of_a_folder_for_images_is_judged_with_its_remedy(
    label: bytes, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selinux(tmp_path, monkeypatch, ENFORCING)
    monkeypatch.setattr(os, "getxattr", lambda *_: label)
    found = reading.read_facts([str(tmp_path)], "127.0.0.1")["disks"][str(tmp_path)]
    assert found["selinux_images"] == expected
    said = remarks({"disks": {"h1": {"/data/f1": found}}})
    mends = [one.remedy for one in said if one.fact.name == "selinux_images"]
    wrong = ["semanage fcontext -a -t virt_image_t '/data/f1(/.*)?' && restorecon -R /data/f1"]
    assert mends == (wrong if expected == "default_t" else [])
    monkeypatch.setattr(reading, "_LIBVIRT", tmp_path / "none")
    folders = reading.read_facts([str(tmp_path)], "127.0.0.1")["disks"]
    assert folders[str(tmp_path)]["selinux_images"] == "none", "a host without libvirt"


@pytest.mark.parametrize(("mode", "said"), [("", "none"), ("0", "permissive"), ("x", UNKNOWN)])
def test_types_count_for_nothing_where_selinux_does_not_enforce(
    mode: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selinux(tmp_path, monkeypatch, mode, "user_u:user_r:user_t:s0")
    found = reading.read_facts([str(tmp_path)], "127.0.0.1")
    assert found["machine"]["selinux"] == said
    assert found["machine"]["selinux_login"] == "none"
    assert found["disks"][str(tmp_path)]["selinux_images"] == "none"
