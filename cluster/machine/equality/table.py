"""`FACTS`: what of a machine changes results. A new fact is a row.

Each is disclosed by every build; variants on hosts that differ in one are not equal; `study doctor` judges
those that say what is expected. Sources: the kernel's admin guide (cpufreq, mm, sysctl, hw-vuln), ethtool(8),
and the tuning guides of Hadoop and HBase. Standard library only: it runs on hosts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

UNKNOWN = "unknown"
ANY = ("any",)
Scope = Literal["machine", "disks", "network"]


@dataclass(frozen=True)
class Fact:
    """`read`: where its value is, as `reading` understands it. `expected`: what doctor accepts, a pattern, or
    "at least 5", or "at most 5"; empty: anything. `why` and `remedy`: what doctor says of others, and the
    command that mends it, as root. `alike`: values that count as equal; ANY: all. `quiet`: what
    `quiet: yes` writes for the time of a trial; `read` is then a pattern of files."""

    name: str
    read: str
    scope: Scope = "machine"
    expected: str = ""
    why: str = ""
    remedy: str = ""
    alike: tuple[str, ...] = ()
    quiet: str = ""


_CPU, _NODE = "/sys/devices/system/cpu", "/sys/devices/system/node"
_THP, _KERNEL, _VM = "/sys/kernel/mm/transparent_hugepage", "/proc/sys/kernel", "/proc/sys/vm"
_NET, _DMI = "/proc/sys/net", "/sys/class/dmi/id"
_GOVERNOR = f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor"

_OF_MACHINE = (
    # processors
    Fact("governor", _GOVERNOR, expected="performance", quiet="performance",
         why="the CPU changes its speed with the load, so that light load looks slow",
         remedy=f"echo performance | tee {_GOVERNOR}"),
    Fact("frequency_driver", f"{_CPU}/cpu0/cpufreq/scaling_driver"),
    Fact("frequency_limit_khz", f"{_CPU}/cpu[0-9]*/cpufreq/scaling_max_freq"),
    Fact("energy_preference", f"{_CPU}/cpu[0-9]*/cpufreq/energy_performance_preference"),
    Fact("turbo_off", f"{_CPU}/intel_pstate/no_turbo"),
    Fact("boost", f"{_CPU}/cpufreq/boost"),
    Fact("smt", f"{_CPU}/smt/control"),
    Fact("idle_driver", f"{_CPU}/cpuidle/current_driver"),
    Fact("idle_states_off", f"{_CPU}/cpu0/cpuidle/state[0-9]*/disable"),
    Fact("deepest_idle_us", f"max {_CPU}/cpu0/cpuidle/state[0-9]*/latency", expected="at most 200",
         why="a core takes that many microseconds to wake from its deepest C-state",
         remedy="cpupower idle-set -D 100"),
    Fact("mitigations", f"names {_CPU}/vulnerabilities/*"),
    Fact("microcode", "line /proc/cpuinfo microcode"),
    Fact("isolated_cpus", f"{_CPU}/isolated"),
    Fact("tickless_cpus", f"{_CPU}/nohz_full"),
    Fact("clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
         expected="tsc|kvm-clock|arch_sys_counter|hyperv_clocksource_tsc_page",
         why="each reading of the clock is a slow call, of which a JVM makes many",
         remedy="echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"),
    # memory
    Fact("numa_nodes", f"{_NODE}/node[0-9]*/cpulist"),
    Fact("numa_balancing", f"{_KERNEL}/numa_balancing", expected="0", quiet="0",
         why="the kernel unmaps pages to see who uses them, and moves them while a trial runs",
         remedy="sysctl kernel.numa_balancing=0"),
    Fact("zone_reclaim", f"{_VM}/zone_reclaim_mode", expected="0",
         why="a node frees its own memory before it uses another's, which stalls the whole machine",
         remedy="sysctl vm.zone_reclaim_mode=0"),
    Fact("thp", f"{_THP}/enabled", expected="never|madvise",
         why="every program gets huge pages, and waits while memory is compacted for them",
         remedy=f"echo madvise > {_THP}/enabled"),
    Fact("thp_defrag", f"{_THP}/defrag", expected="never|defer|madvise|defer.madvise",
         why="a page fault waits until memory is compacted",
         remedy=f"echo madvise > {_THP}/defrag"),
    Fact("thp_background", f"{_THP}/khugepaged/defrag", quiet="0"),
    Fact("compaction_proactiveness", f"{_VM}/compaction_proactiveness", quiet="0"),
    Fact("same_page_merging", "/sys/kernel/mm/ksm/run", expected="0", quiet="0",
         why="a kernel thread compares pages while a trial runs",
         remedy="echo 0 > /sys/kernel/mm/ksm/run"),
    Fact("huge_pages", "line /proc/meminfo HugePages_Total"),
    Fact("swap", "line /proc/meminfo SwapTotal", expected="0 kB",
         why="a heap that is swapped out stops its JVM for seconds", remedy="swapoff -a"),
    Fact("swappiness", f"{_VM}/swappiness"),
    Fact("dirty_percent", f"{_VM}/dirty_ratio", expected="at most 20",
         why="much of the memory may be unwritten data, for which writers then wait all at once",
         remedy="sysctl vm.dirty_ratio=20"),
    Fact("dirty_background_percent", f"{_VM}/dirty_background_ratio", expected="at most 10",
         why="the kernel begins late to write, and then much at once",
         remedy="sysctl vm.dirty_background_ratio=10"),
    Fact("dirty_bytes", f"{_VM}/dirty_bytes"),
    Fact("dirty_background_bytes", f"{_VM}/dirty_background_bytes"),
    Fact("overcommit", f"{_VM}/overcommit_memory"),
    Fact("map_count", f"{_VM}/max_map_count"),
    # the kernel's own work, and other programs
    Fact("timer_migration", f"{_KERNEL}/timer_migration", quiet="0"),
    Fact("nmi_watchdog", f"{_KERNEL}/nmi_watchdog", quiet="0"),
    Fact("autogroup", f"{_KERNEL}/sched_autogroup_enabled"),
    Fact("irqbalance", "program irqbalance", expected="does not run",
         why="it moves interrupts to other cores while a trial runs",
         remedy="systemctl stop irqbalance"),
    Fact("tuned_profile", "/etc/tuned/active_profile"),
    Fact("selinux", "selinux mode"),
    Fact("selinux_login", "selinux login", expected="(?!user_t|staff_t|x?guest_t).*", alike=ANY,
         why="SELinux confines this login, and may refuse sudo or programs in its work folder",
         remedy="semanage login -a -s unconfined_u USER (then log in again)"),
    # limits of processes
    Fact("open_files", "limit NOFILE", expected="at least 65535",
         why="a RegionServer or DataNode under load opens more files and sockets",
         remedy="echo '* - nofile 65536' > /etc/security/limits.d/study.conf (then log in again)"),
    Fact("processes", "limit NPROC"),
    Fact("locked_memory", "limit MEMLOCK"),
    # for all networks
    Fact("congestion_control", f"{_NET}/ipv4/tcp_congestion_control"),
    Fact("tcp_receive_bytes", f"{_NET}/ipv4/tcp_rmem"),
    Fact("tcp_send_bytes", f"{_NET}/ipv4/tcp_wmem"),
    Fact("listen_backlog", f"{_NET}/core/somaxconn"),
    Fact("device_backlog", f"{_NET}/core/netdev_max_backlog"),
    # hardware
    Fact("product", f"{_DMI}/product_name"),
    Fact("firmware", f"{_DMI}/bios_version"),
)  # fmt: skip
_OF_DISKS = (
    Fact("mount_options", "mount", "disks", expected="(.*,)?(noatime|relatime)(,.*)?",
         why="each read of a file writes the time of the access to the disk",
         remedy="mount -o remount,noatime $(findmnt -no TARGET -T {folder})"),
    Fact("selinux_images", "selinux images", "disks", expected="none|s?virt_(image|content)_t", alike=ANY,
         why="SELinux enforces, and may refuse guests whose images lie in a folder of this type",
         remedy="semanage fcontext -a -t virt_image_t '{folder}(/.*)?' && restorecon -R {folder}"),
    Fact("scheduler", "{disk}/queue/scheduler", "disks", alike=("none", "noop")),
    Fact("read_ahead_kib", "{disk}/queue/read_ahead_kb", "disks"),
    Fact("queued_requests", "{disk}/queue/nr_requests", "disks"),
    Fact("write_cache", "{disk}/queue/write_cache", "disks"),
    Fact("write_throttling_us", "{disk}/queue/wbt_lat_usec", "disks"),
    Fact("merging_off", "{disk}/queue/nomerges", "disks"),
    Fact("block_bytes", "{disk}/queue/physical_block_size", "disks"),
    Fact("model", "{disk}/device/model", "disks"),
    Fact("disk_firmware", "{disk}/device/firmware_rev", "disks"),
    Fact("disk_revision", "{disk}/device/rev", "disks"),
    Fact("raid_level", "{disk}/md/level", "disks"),
    Fact("raid_disks", "{disk}/md/raid_disks", "disks"),
    Fact("raid_chunk_bytes", "{disk}/md/chunk_size", "disks"),
    Fact("raid_state", "{disk}/md/sync_action", "disks", expected="idle", alike=ANY,
         why="the array is being checked or rebuilt, which takes its disks' time",
         remedy="wait until /proc/mdstat shows no progress"),
)  # fmt: skip
_OF_NETWORK = (
    Fact("speed_mbit_s", "count {nic}/speed", "network"),
    Fact("duplex", "{nic}/duplex", "network", expected="full",
         why="it cannot send and receive at once", remedy="ethtool -s DEVICE duplex full autoneg on"),
    Fact("driver", "ethtool driver", "network"),
    Fact("driver_version", "ethtool version", "network"),
    Fact("nic_firmware", "ethtool firmware", "network"),
    Fact("rings", "ethtool rings", "network"),
    Fact("coalescing", "ethtool coalescing", "network"),
    Fact("queues", "ethtool queues", "network"),
    Fact("offloads", "ethtool offloads", "network"),
    Fact("transmit_length", "{nic}/tx_queue_len", "network"),
    Fact("flush_delay_ns", "{nic}/gro_flush_timeout", "network"),
    Fact("deferred_interrupts", "{nic}/napi_defer_hard_irqs", "network"),
)  # fmt: skip
FACTS = (*_OF_MACHINE, *_OF_DISKS, *_OF_NETWORK)
BY_NAME: Mapping[str, Fact] = {fact.name: fact for fact in FACTS}


def is_expected(fact: Fact, value: str) -> bool:
    """Whether the value is as expected. True for an unknown one: then there is no verdict."""
    bound = re.fullmatch(r"at (least|most) (\d+)", fact.expected)
    if value == UNKNOWN or not fact.expected:
        return True
    if bound is None:
        return all(re.fullmatch(fact.expected, one) for one in value.split("; "))
    number = inf if value == "unlimited" else float(value)
    return number >= int(bound[2]) if bound[1] == "least" else number <= int(bound[2])


def equal_value(name: str, value: str) -> str:
    """One text for all values of a fact that count as equal."""
    alike = BY_NAME[name].alike if name in BY_NAME else ()
    return alike[0] if value in alike or alike == ANY else value
