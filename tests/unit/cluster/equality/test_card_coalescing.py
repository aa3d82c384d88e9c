"""A card's interrupts are coalesced, read back and put back, by the requests that a host answers.

`Card` answers as tests/live/network/test_card_coalescing.py shows that the kernel does.
"""

from __future__ import annotations

import errno
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.machine import network_link
from density_study.cluster.machine.equality import ethtool
from density_study.cluster.machine.equality.ethtool import COALESCING
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.network import Network
from density_study.cluster.providers.ssh.answers import checked

LEVEL = Network(coalesce=(("adaptive-rx", 0), ("rx-usecs", 50))).declared()


class Card:
    """eth0. `rounds`: numbers become multiples of it, as those of some drivers do. `drifts`: what an adaptive
    card adds itself."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.values = {
            **dict.fromkeys(COALESCING, 0),
            "rx-usecs": 8,
            "rx-frames": 128,
            "adaptive-rx": 1,
        }
        self.first = dict(self.values)
        self.takes: frozenset[str] | None = frozenset({"rx-usecs", "rx-frames", "adaptive-rx"})
        self.rounds, self.drifts = 1, 0
        (folder / "eth0").mkdir()
        (folder / "eth0" / "mtu").write_text("1500\n")
        (folder / "eth0" / "address").write_text("02:00:00:00:00:01\n")
        patch.setattr(network_link, "SYS", folder)
        patch.setattr(network_link, "as_root", self._as_root)
        patch.setattr(network_link, "may_not", lambda *_: "")
        patch.setattr(network_link, "_json", self._ip)
        patch.setattr(ethtool, "ask", self._ask)
        patch.setattr(ethtool, "settable_coalescing", self._settable)

    def _ip(self, _: str, *words: str) -> list[dict[str, Any]]:
        link = {"ifname": "eth0", "flags": ["UP"], "addr_info": [{"local": "192.0.2.1"}],
                "address": "02:00:00:00:00:01"}  # fmt: skip
        return [] if "qdisc" in words else [link]

    def _ask(self, device: str, command: int, size: int) -> bytes:
        if self.takes is None:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return struct.pack("23I", command, *self.values.values())[:size]

    def _settable(self, device: str) -> frozenset[str]:
        self._ask(device, 0xE, 92)
        assert self.takes is not None
        return self.takes

    def _as_root(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        verb, device, *row = words
        assert (program, verb, device) == ("set-network", "coalesce", "eth0")
        wanted = dict(zip(COALESCING, map(int, row), strict=True))
        refused = any(value and name not in (self.takes or ()) for name, value in wanted.items())
        if not refused:
            self.values = {
                name: value // self.rounds * self.rounds for name, value in wanted.items()
            }
            self.values["rx-usecs"] += self.drifts * self.values["adaptive-rx"]
        return subprocess.CompletedProcess(words, refused, "", "eth0: Operation not supported")


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Card:
    return Card(tmp_path, monkeypatch)


def act(name: str, *words: object) -> Any:
    """What a host's agent answers, checked as a host's answer is."""
    return checked("act", (name, list(words)), HOST_COMMANDS[name](*words))


def test_a_card_waits_as_the_level_says_and_is_put_back(card: Card) -> None:
    former = act("network-state", "eth0", LEVEL)
    assert former["coalescing"] == {"adaptive-rx": 1, "rx-usecs": 8}
    act("check-network", "192.0.2.1", LEVEL)
    assert card.values == card.first
    act("set-network", "eth0", LEVEL)
    assert card.values == {**card.first, "adaptive-rx": 0, "rx-usecs": 50}
    for _ in range(2):
        assert act("network-changed", former) == (
            ["coalescing of interrupts"] if card.values != card.first else []
        )
        act("restore-network", former)
        assert card.values == card.first


def test_an_mtu_that_cannot_be_put_back_keeps_nothing_else(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = act("network-state", "eth0", LEVEL)
    act("set-network", "eth0", LEVEL)
    root = network_link._root

    def refuse(*words: str) -> None:
        if words[0] == "ip":
            raise StudyError("it is busy.", "eth0", "wait.")
        root(*words)

    monkeypatch.setattr(network_link, "_root", refuse)
    with pytest.raises(StudyError, match="busy"):
        network_link.restore({**former, "mtu": former["mtu"] + 1})
    assert card.values == card.first


def test_a_card_that_adapts_again_is_put_back_whatever_it_shows_then(card: Card) -> None:
    card.drifts = 3
    former = act("network-state", "eth0", LEVEL)
    act("set-network", "eth0", LEVEL)
    act("restore-network", former)
    assert card.values == {**card.first, "rx-usecs": 11}
    assert act("network-changed", former) == []


def test_what_earlier_versions_journalled_has_nothing_to_put_back(card: Card) -> None:
    assert act("network-changed", {"device": "eth0", "mtu": 1500, "files": {}}) == []


def test_a_level_without_it_asks_no_card(card: Card) -> None:
    card.takes = None
    former = act("network-state", "eth0", Network(mtu=1400).declared())
    assert former["coalescing"] == {} and act("network-changed", former) == []


@pytest.mark.parametrize(
    ("takes", "level", "says"),
    [
        (None, {"rx-usecs": 50}, "eth0 does not let its interrupts be coalesced (Operation not sup"),
        ({"rx-frames"}, {"rx-usecs": 50}, "does not coalesce by rx-usecs; its driver takes rx-frames"),
        ({"rx-usecs", "adaptive-rx"}, {"rx-usecs": 50}, "add adaptive-rx: off to the level"),
    ],
    ids=["none", "not this one", "adaptive"],
)  # fmt: skip
def test_what_a_card_cannot_have_is_refused(
    card: Card, takes: set[str] | None, level: Mapping[str, int], says: str
) -> None:
    card.takes = None if takes is None else frozenset(takes)
    with pytest.raises(InputError) as caught:
        act("check-network", "192.0.2.1", {"coalesce": level})
    assert says in caught.value.what


def test_a_driver_that_refuses_or_rounds_is_an_error(card: Card) -> None:
    card.rounds = 8
    with pytest.raises(StudyError, match=r"is .*48.* after .*50.* was set"):
        act("set-network", "eth0", {"coalesce": {"rx-usecs": 50}})
    with pytest.raises(StudyError, match="Operation not supported"):
        act("set-network", "eth0", {"coalesce": {"tx-usecs": 50}})
