"""Flags of the JVMs. The JIT of what is measured is left as it is; heap and collector are explicit."""

from __future__ import annotations

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
"""What Hadoop 3.4 and HBase 2.6 reach into by reflection on Java 17."""
NETTY = ("-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",)

FAST_START = ("-XX:TieredStopAtLevel=1",)
"""For what is not measured and ends soon."""
EMULATED_JIT = FAST_START
"""Where QEMU emulates the CPU nothing that is measured tells of hardware, and the second compiler's own work
would take most of a daemon's start. Command lines are disclosed, so a record shows it."""
FIRST_HEAP_MIB = 64
"""From 32 MiB on, a daemon collected its whole heap twice and its young one 16 times before it was up."""


def heap_flags(heap_mib: int) -> tuple[str, ...]:
    """A heap that grows to `heap_mib`: idle daemons of a small host must not hold all of theirs."""
    return (f"-Xms{min(FIRST_HEAP_MIB, heap_mib)}m", f"-Xmx{heap_mib}m")


def jit_flags(timeout_scale: float) -> tuple[str, ...]:
    """None on real hardware: the JIT of what is measured is left as it is."""
    return EMULATED_JIT if timeout_scale > 1 else ()


def collector_flags(kind: str) -> tuple[str, ...]:
    """By kind of daemon, never by size: a collector that changed with density would be a confounder."""
    return ("-XX:+UseG1GC",) if kind == "regionserver" else ("-XX:+UseSerialGC",)


def common_flags(temporary: str) -> tuple[str, ...]:
    """Die rather than linger without memory; leave no hsperfdata file behind; our own tmp."""
    return (
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={temporary}",
        "-Djava.net.preferIPv4Stack=true",
        "-Duser.language=en",
        *ADD_OPENS,
    )
