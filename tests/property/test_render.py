"""Properties of every rendered topology."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from density_study.cluster.model.memory import OVERHEAD_MIB, daemon_heaps
from density_study.cluster.model.topology import Topology
from density_study.cluster.render.conf_files import UNUSED_PORT, configuration_xml
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local

TOPOLOGIES = st.builds(local, st.integers(1, 6), st.integers(0, 4), st.integers(20000, 30000))
XML_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="￾￿"))


@given(st.dictionaries(XML_TEXT, XML_TEXT, max_size=5))
def test_xml_round_trip(properties: dict[str, str]) -> None:
    root = ET.fromstring(configuration_xml(properties))
    read = [(e.findtext("name", ""), e.findtext("value", "")) for e in root]
    assert read == sorted(properties.items())


@given(TOPOLOGIES)
def test_written_ports_are_exactly_the_allocated_ports(topology: Topology) -> None:
    plan = blueprint(topology)
    rendered = render(plan)
    allocated = {port for _, port in plan.ports.by_service.values()}
    text = "\n".join(rendered.files.values())
    text += "\n".join(argument for d in rendered.daemons for argument in d.command.argv)
    numbers = {int(n) for n in re.findall(r"127\.0\.0\.1:(\d+)", text)}
    numbers |= {int(n) for n in re.findall(r"(?:\.port|Port)(?:=|</name>\s*<value>)(\d+)", text)}
    assert numbers == allocated | {UNUSED_PORT}


@given(TOPOLOGIES)
def test_daemons_never_exceed_their_nodes_resources(topology: Topology) -> None:
    for node in topology.workers:
        heaps = daemon_heaps(node)
        servers = heaps.pop("regionserver", 0) + OVERHEAD_MIB
        fixed = sum(heaps.values()) + OVERHEAD_MIB * len(heaps) + node.container_mib
        assert fixed + servers * node.regionservers <= node.memory_mib


@given(TOPOLOGIES)
def test_logs_and_names_of_daemons_are_distinct(topology: Topology) -> None:
    daemons = render(blueprint(topology)).daemons
    for names in (
        [(d.node, d.name) for d in daemons],
        [d.log for d in daemons],
        [d.stdout for d in daemons],
        [d.http for d in daemons if d.http],
    ):
        assert len(set(names)) == len(names)


@pytest.mark.thorough
@given(TOPOLOGIES)
def test_another_base_port_changes_only_ports(topology: Topology) -> None:
    moved = replace(topology, base_port=topology.base_port + 1000)
    original, moved_files = render(blueprint(topology)), render(blueprint(moved))
    assert original.files.keys() == moved_files.files.keys()
    for path, text in original.files.items():
        assert masked(text, topology) == masked(moved_files.files[path], moved)


def masked(text: str, topology: Topology) -> str:
    """The text with allocated ports replaced by offsets from the base."""
    ports = {str(port) for _, port in blueprint(topology).ports.by_service.values()}
    pattern = r"(?<=[:=>])\d+(?=\D|$)"
    return re.sub(
        pattern, lambda m: f"+{int(m[0]) - topology.base_port}" if m[0] in ports else m[0], text
    )
