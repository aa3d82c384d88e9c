"""G1 works alike in all variants of a study: its regions follow the host, not the heap, which density
divides."""

from __future__ import annotations

import re
import subprocess

import pytest

from density_study.cluster.model.dividing.sizing import Sizing, sizing_of
from density_study.cluster.model.host import Host
from density_study.cluster.render.jvm import g1_flags
from density_study.cluster.stack import find_java

G1 = "-XX:+UseG1GC"
HEAPS_MIB = {24: (2400, 3024, 3509, 5728, 12576), 256: (13664, 28256, 57440, 116000)}
"""Heaps of the RegionServers of the densities of a study, by the memory of its hosts in GiB."""


def sizing(host_gib: int) -> Sizing:
    return sizing_of([Host("h", "192.0.2.1", 8, 1024 * host_gib, (), ("master", "worker"))])


@pytest.mark.parametrize("host_gib", HEAPS_MIB)
def test_regions_have_one_size_and_hold_chunks_of_memstores(host_gib: int) -> None:
    """By the JVM's own word: with the heaps alone, they have 2 to 32 MiB."""
    sizes = set()
    for heap_mib in HEAPS_MIB[host_gib]:
        flags = (*g1_flags(sizing(host_gib), heap_mib, G1, ()), "-XX:-AlwaysPreTouch", "-Xms64m")
        argv = [str(find_java().command), f"-Xmx{heap_mib}m", G1, *flags, "-XX:+PrintFlagsFinal"]
        done = subprocess.run([*argv, "-version"], capture_output=True, text=True, check=True)
        found = re.search(r"G1HeapRegionSize\s+=\s+(\d+)", done.stdout)
        assert found
        sizes.add(int(found[1]))
    (size,) = sizes
    assert size > 2 * 2**21  # an object of half a region or more takes regions of its own


@pytest.mark.parametrize(("host_gib", "fixed"), [(6, False), (24, False), (32, True), (256, True)])
def test_large_hosts_give_the_heap_at_once(host_gib: int, fixed: bool) -> None:
    flags = g1_flags(sizing(host_gib), 3000, G1, ())
    assert ("-Xms3000m" in flags, "-XX:+AlwaysPreTouch" in flags) == (fixed, fixed)


def test_a_studys_own_flags_and_other_collectors_count() -> None:
    assert g1_flags(sizing(256), 3000, G1, ("-XX:G1HeapRegionSize=4m", "-Xms1g")) == ()
    assert g1_flags(sizing(256), 3000, "-XX:+UseZGC", ()) == ()
