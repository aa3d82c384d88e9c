"""Names in libvirt: the same for the same build, never another's."""

from __future__ import annotations

import re

from cluster.providers.libvirt.names import (
    bridge_name,
    domain_name,
    mac_of,
    network_name,
    pool_name,
    prefix,
    uuid_of,
)

MARK, OTHER = "s/r/b1", "s/r/b2"


def test_a_build_has_names_of_its_own() -> None:
    for name in (prefix, network_name, bridge_name, lambda m: domain_name(m, "w1")):
        assert name(MARK) == name(MARK) != name(OTHER)
    assert pool_name(MARK, "/a") != pool_name(MARK, "/b")
    assert domain_name(MARK, "w1") != domain_name(MARK, "w2")


def test_a_uuid_tells_mark_kind_and_name() -> None:
    ours = uuid_of(MARK, "pool", "p")
    assert ours == uuid_of(MARK, "pool", "p")
    assert len({ours, uuid_of(OTHER, "pool", "p"), uuid_of(MARK, "network", "p"),
                uuid_of(MARK, "pool", "q")}) == 4  # fmt: skip


def test_linux_takes_the_names() -> None:
    assert len(bridge_name("a-long-study-name/20261121-101500/b1-v4-flash")) <= 15
    assert re.fullmatch(r"52:54:00(:[0-9a-f]{2}){3}", mac_of(MARK, "w1"))
    assert mac_of(MARK, "w1") != mac_of(MARK, "w2")
