"""G1 works alike in all variants of a study: its regions follow the host, not the heap, which density
divides."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import pytest

from density_study.cluster.model.configuration import Collector, Configuration, Jvm
from density_study.cluster.model.dividing.sizing import Sizing, sizing_of
from density_study.cluster.model.host import Host
from density_study.cluster.render.jvm import g1_flags, whole_heap_flags
from density_study.cluster.stack import find_java
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local, with_variant

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
        flags = (*g1_flags(sizing(host_gib), G1, ()), "-Xms64m")
        argv = [str(find_java().command), f"-Xmx{heap_mib}m", G1, *flags, "-XX:+PrintFlagsFinal"]
        done = subprocess.run([*argv, "-version"], capture_output=True, text=True, check=True)
        found = re.search(r"G1HeapRegionSize\s+=\s+(\d+)", done.stdout)
        assert found
        sizes.add(int(found[1]))
    (size,) = sizes
    assert size > 2 * 2**21  # an object of half a region or more takes regions of its own


@pytest.mark.parametrize(("host_gib", "fixed"), [(6, False), (24, False), (32, True), (256, True)])
def test_large_hosts_give_the_heap_at_once(host_gib: int, fixed: bool) -> None:
    flags = whole_heap_flags(sizing(host_gib), 3000, ())
    assert ("-Xms3000m" in flags, "-XX:+AlwaysPreTouch" in flags) == (fixed, fixed)


@pytest.mark.parametrize("collector", ("G1", "ZGC", "Parallel", "Shenandoah", "Serial"))
def test_a_comparison_of_collectors_is_none_of_heaps_that_grow(collector: Collector) -> None:
    configuration = Configuration(jvm={"regionserver": Jvm(collector=collector)})
    large = [replace(node, memory_mib=64 * 1024) for node in local().nodes]
    topology = with_variant(
        replace(local(), nodes=tuple(large)), sizing=sizing(256), configuration=configuration
    )
    daemons = [one for one in render(blueprint(topology)).daemons if one.role == "regionserver"]
    for daemon in daemons:
        largest = next(one for one in daemon.command.argv if one.startswith("-Xmx"))
        first = [one for one in daemon.command.argv if one.startswith("-Xms")][-1]
        assert first.removeprefix("-Xms") == largest.removeprefix("-Xmx")
        assert "-XX:+AlwaysPreTouch" in daemon.command.argv


def test_a_studys_own_flags_and_other_collectors_count() -> None:
    assert g1_flags(sizing(256), G1, ("-XX:G1HeapRegionSize=4m",)) == ()
    assert g1_flags(sizing(256), "-XX:+UseZGC", ()) == ()
    assert whole_heap_flags(sizing(256), 3000, ("-Xms1g",)) == ()
