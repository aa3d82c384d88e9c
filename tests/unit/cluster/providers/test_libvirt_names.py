"""libvirt names: identical for the same build, distinct between builds."""

from __future__ import annotations

import re

from density_study.cluster.providers.libvirt.names import (
    bridge_name,
    domain_name,
    mac_of,
    pool_name,
    prefix,
    uuid_of,
)

TAG, OTHER = "s/r/b1", "s/r/b2"


def test_names_of_builds_are_distinct() -> None:
    for name in (prefix, bridge_name, lambda m: domain_name(m, "w1")):
        assert name(TAG) == name(TAG) != name(OTHER)
    assert pool_name(TAG, "/a") != pool_name(TAG, "/b")
    assert domain_name(TAG, "w1") != domain_name(TAG, "w2")


def test_a_uuid_encodes_tag_kind_and_name() -> None:
    ours = uuid_of(TAG, "pool", "p")
    assert ours == uuid_of(TAG, "pool", "p")
    assert len({ours, uuid_of(OTHER, "pool", "p"), uuid_of(TAG, "network", "p"),
                uuid_of(TAG, "pool", "q")}) == 4  # fmt: skip


def test_linux_accepts_the_names() -> None:
    assert len(bridge_name("a-long-study-name/20261121-101500/b1-v4-flash")) <= 15
    assert re.fullmatch(r"52:54:00(:[0-9a-f]{2}){3}", mac_of(TAG, "w1"))
    assert mac_of(TAG, "w1") != mac_of(TAG, "w2")
