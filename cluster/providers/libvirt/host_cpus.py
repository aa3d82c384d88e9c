"""A host's NUMA nodes, cores and CPUs as its libvirt reports them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from density_study.cluster.model.dividing.cpus import Cpus, NumaNode, cpus_in


def parse_cpus(capabilities: str) -> Cpus:
    """From the output of `virsh capabilities`; empty if it does not say which CPUs belong to which core. NUMA
    nodes that have only memory are left out."""
    found = []
    for cell in ET.fromstring(capabilities).iterfind("host/topology/cells/cell"):
        listed = cell.findall("cpus/cpu")
        if any("siblings" not in cpu.attrib for cpu in listed):
            return ()
        cores = dict.fromkeys(cpus_in(cpu.attrib["siblings"]) for cpu in listed)
        if cores:
            memory_kib = int(cell.findtext("memory", "0"))
            found.append(NumaNode(int(cell.attrib["id"]), tuple(cores), memory_kib // 1024))
    return tuple(sorted(found, key=lambda node: node.number))
