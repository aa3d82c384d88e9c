"""Flags of the JVMs. Measured daemons keep the default JIT unless the study says otherwise; heap and
collector are explicit."""

from __future__ import annotations

from collections.abc import Sequence

from density_study.cluster.model.configuration import Collector, Jvm
from density_study.cluster.model.dividing.sizing import Sizing
from density_study.cluster.model.topology import Jit

_OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.math",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.text",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
)
ADD_OPENS = tuple(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED)
"""Packages that Hadoop 3.4 and HBase 2.6 access by reflection on Java 17 and 21."""
NETTY = ("-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",)

FAST_START = ("-XX:TieredStopAtLevel=1",)
"""For short processes that are not measured; with `stack.jit: c1` for all; and where QEMU emulates the CPU:
there measurements say nothing about hardware, and the second compiler would take most of a daemon's start.
Command lines are disclosed, so a record shows it."""
FIRST_HEAP_MIB = 64
"""With 32 MiB, a daemon did 2 full and 16 young collections before it was up."""


def heap_flags(heap_mib: int) -> tuple[str, ...]:
    """A heap that grows to `heap_mib`: idle daemons on a small host must not hold all of it."""
    return (f"-Xms{min(FIRST_HEAP_MIB, heap_mib)}m", f"-Xmx{heap_mib}m")


def collector_flag(kind: str, jvm: Jvm, sizing: Sizing) -> str:
    """The flag that chooses the collector, by the kind of daemon and the host. It never follows the heap: a
    collector that changed with density would be a confounder."""
    chosen: Collector = jvm.collector or ("G1" if kind == "regionserver" else sizing.collector)
    return f"-XX:+Use{'ZGC' if chosen == 'ZGC' else f'{chosen}GC'}"


def g1_flags(sizing: Sizing, collector: str, own: Sequence[str]) -> tuple[str, ...]:
    """Regions of one size in all variants: by default it follows the heap, and so the density. HBase
    allocates its memstores in chunks of 2 MiB; in regions of up to 4 MiB each chunk takes whole regions of
    its own, twice its size. `own` are the study's flags, which count."""
    sized = any(flag.startswith("-XX:G1HeapRegionSize") for flag in own)
    if sized or collector != "-XX:+UseG1GC":
        return ()
    return (f"-XX:G1HeapRegionSize={sizing.g1_region_mib}m",)


def whole_heap_flags(sizing: Sizing, heap_mib: int, own: Sequence[str]) -> tuple[str, ...]:
    """On a host with much memory a RegionServer's heap has its full size from the start, so that no trial
    pays for its growth: with each collector, or a comparison of collectors would be one of that. `own` are
    the study's flags, which count."""
    if not sizing.whole_heap or any(flag.startswith("-Xms") for flag in own):
        return ()
    return (f"-Xms{heap_mib}m", "-XX:+AlwaysPreTouch")


SAYS_ITS_CHOICES = "-Xlog:gc+init"
"""For a RegionServer's JVM: what it chose itself, for the disclosure (`cluster.lifecycle.jvm_facts`)."""


def direct_memory_flags(heap_mib: int, direct_mib: int) -> tuple[str, ...]:
    """Room for what lies off the heap, and for other direct buffers as much as without: by default, a JVM
    allows as much as its heap."""
    return (f"-XX:MaxDirectMemorySize={heap_mib + direct_mib}m",) if direct_mib else ()


def jit_flags(timeout_scale: float, jit: Jit) -> tuple[str, ...]:
    """Flags of the JIT compiler. Empty on real hardware, unless the study chooses: measured processes keep
    the JVM's default."""
    return FAST_START if timeout_scale > 1 or jit == "c1" else ()


def common_flags(temporary: str) -> tuple[str, ...]:
    """Exit when out of memory; leave no hsperfdata file behind; use the build's own tmp."""
    return (
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={temporary}",
        "-Djava.net.preferIPv4Stack=true",
        "-Duser.language=en",
        *ADD_OPENS,
    )
