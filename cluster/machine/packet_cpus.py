"""Which CPUs process the packets of a network interface: files of /sys and /proc that say so.

Receive packet steering (rps_cpus), receive flow steering (rps_flow_cnt and the machine's table), transmit
packet steering (xps_cpus), and the CPUs of a card's interrupts. Standard library only: it runs on hosts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from density_study.cluster.machine.as_root import may_not
from density_study.cluster.machine.equality import kernel_files
from density_study.cluster.model.network import Network, failed, unable

SYS, IRQS = Path("/sys/class/net"), Path("/proc/irq")
INTERRUPTS = Path("/proc/interrupts")
FLOW_TABLE = Path("/proc/sys/net/core/rps_sock_flow_entries")
"""The file with the size of the machine's table of flows. Only the first network namespace shows it."""
PROGRAM = "set-network"
_OWNER_WRITES = 0o200
_DEVICE = r"[A-Za-z0-9_.:@-]{1,15}"
_TEXT = re.compile(r"[0-9a-fA-F,-]{0,4096}")
_WORDS = {
    "rps_cpus": "packet steering",
    "xps_cpus": "packet steering",
    "rps_flow_cnt": "flow steering",
    FLOW_TABLE.name: "table of flows",
    "smp_affinity_list": "CPU of an interrupt",
}


def wanted(device: str, network: Network) -> dict[str, str]:
    """Files and their text. For a container's veth pair, the outer end sets the table of flows."""
    found = {}
    receiving = sorted((SYS / device / "queues").glob("rx-*"))
    for queue in receiving:
        if network.rps:
            found[queue / "rps_cpus"] = mask(network.rps)
        if network.rfs:
            found[queue / "rps_flow_cnt"] = str(flows_of_queue(network.rfs, len(receiving)))
    if network.rfs and FLOW_TABLE.exists():
        found[FLOW_TABLE] = str(network.rfs)
    if network.xps:
        for name, text in transmit_masks(network).items():
            found[SYS / device / "queues" / name / "xps_cpus"] = text
    if network.irq_affinity:
        for number, cpu in cpu_of_interrupt(interrupts(device), network.irq_affinity).items():
            found[IRQS / str(number) / "smp_affinity_list"] = str(cpu)
    return {str(file): text for file, text in found.items()}


def read(files: Mapping[str, str]) -> dict[str, str]:
    """The present text of each of these settings' files. Files of an interface that is gone are left out."""
    return {file: Path(file).read_text().strip() for file in files if Path(file).exists()}


def foreign(former: Mapping[str, object], device: str = "", only_table: bool = False) -> str:
    """What in `former` cannot come from `read`, in words: a file that is none of these settings, of `device`
    if one is named, or a text that is not a number, mask or list; empty if there is nothing."""
    table = re.escape(str(FLOW_TABLE))
    of_device = rf"{re.escape(str(SYS))}/{re.escape(device) or _DEVICE}"
    queue = rf"{of_device}/queues/[rt]x-\d+/(rps_cpus|rps_flow_cnt|xps_cpus)"
    interrupt = rf"{re.escape(str(IRQS))}/\d+/smp_affinity_list"
    pattern = table if only_table else f"{table}|{queue}|{interrupt}"
    for file, text in former.items():
        if not re.fullmatch(pattern, file) or Path(file).is_symlink():
            return f"{file!r} is not a file that decides which CPUs process packets"
        if not isinstance(text, str) or not _TEXT.fullmatch(text):
            return f"{str(text)[:40]!r} is not a setting of {file}"
    return ""


def changed(former: Mapping[str, str]) -> list[str]:
    """What differs from `former`, which `read` returned."""
    _require_own(former)
    files = kernel_files.different(former, _value)
    return list(dict.fromkeys(_WORDS[Path(file).name] for file in files))


def write(files: Mapping[str, str]) -> None:
    """StudyError if a file cannot be written, or shows something else afterwards."""
    if fault := kernel_files.write(PROGRAM, files, _value):
        raise failed(fault)


def restore(former: Mapping[str, str]) -> None:
    """Make the files as `read` returned them; safe to repeat."""
    _require_own(former)
    if fault := kernel_files.restore(PROGRAM, former, _value):
        raise failed(fault)


def check(device: str, network: Network) -> None:
    """InputError for what this machine, or the interface, cannot have. Changes nothing."""
    if network.irq_affinity:
        _check_interrupts(device)
    for file in list(wanted(device, network))[:1]:  # the right is that of the program
        if why := may_not(PROGRAM, "write", file, "0"):
            raise unable(why)


def check_kernel(network: Network) -> None:
    """The same, of what no interface of this machine can have."""
    check_cpus(network, os.cpu_count() or 1)
    if network.xps and not (SYS / "lo" / "queues" / "tx-0" / "xps_cpus").exists():
        raise unable("this kernel has no transmit packet steering (XPS)")
    if network.rfs:
        flow_table()


def check_cpus(network: Network, count: int) -> None:
    """InputError for what a machine with this number of CPUs cannot have."""
    named = (*network.rps, *network.xps, *network.irq_affinity)
    if missing := [cpu for cpu in named if cpu >= count]:
        raise unable(f"there is no CPU {missing[0]}, only 0 to {count - 1}")
    if network.rfs and count == 1:
        raise unable("with one CPU, there is none that packets could follow their reader to")


def flow_table() -> dict[str, str]:
    """The file of the machine's table of flows, and its text: no flow. InputError if it is in use."""
    if not FLOW_TABLE.exists():
        raise unable(
            f"{FLOW_TABLE} is not there: the kernel has no receive flow steering (RFS), or this is a network "
            "namespace, which may not set the machine's table"
        )
    text = FLOW_TABLE.read_text().strip()
    if text != "0":
        raise unable(
            f"{FLOW_TABLE} is {text}: another program uses receive flow steering (RFS), or a run was killed "
            "(study reap)"
        )
    return {str(FLOW_TABLE): text}


def flows_of_queue(flows: int, queues: int) -> int:
    """An equal share, rounded up to a power of two, as the kernel does. Pure."""
    return 1 << (-(-flows // queues) - 1).bit_length()


def transmit_masks(network: Network) -> dict[str, str]:
    """The mask of CPUs of each transmit queue: CPU number i of the list sends by queue i modulo the number of
    queues. Pure."""
    count = network.queues or 1
    return {f"tx-{queue}": mask(network.xps[queue::count]) for queue in range(count)}


def cpu_of_interrupt(numbers: Sequence[int], cpus: Sequence[int]) -> dict[int, int]:
    """The CPUs take the interrupts in turn. Pure."""
    return {number: cpus[place % len(cpus)] for place, number in enumerate(sorted(numbers))}


def mask(cpus: Sequence[int]) -> str:
    """The CPUs as a mask in the form of /sys: hexadecimal, in groups of 32 CPUs."""
    bits = sum(1 << cpu for cpu in set(cpus))
    groups = [f"{bits >> shift & 0xFFFFFFFF:x}" for shift in range(0, bits.bit_length(), 32)]
    first, *others = reversed(groups)
    return ",".join((first, *(group.rjust(8, "0") for group in others)))


def interrupts(device: str) -> list[int]:
    """Numbers of those that a driver handles for the card; none if the interface is not a card's. A virtual
    card of virtio has those of the PCI function that carries it."""
    place = (SYS / device / "device").resolve()
    if (place / "subsystem").resolve().name == "virtio":
        place = place.parent
    numbers = [int(path.name) for path in (place / "msi_irqs").glob("*")]
    return sorted(one for one in numbers if any(p.is_dir() for p in (IRQS / str(one)).glob("*")))


def interrupts_by_cpu(device: str, file: Path = INTERRUPTS) -> dict[int, dict[int, int]]:
    """For each interrupt of the card: how many each CPU has handled since the machine started."""
    found: dict[int, dict[int, int]] = {number: {} for number in interrupts(device)}
    head, *lines = file.read_text().splitlines() or [""]  # runtimes may hide it in a container
    cpus = [int(word.removeprefix("CPU")) for word in head.split()]
    for line in lines:
        number, _, rest = line.partition(":")
        if number.strip().isdigit() and int(number) in found:
            found[int(number)] = dict(zip(cpus, map(int, rest.split()[: len(cpus)]), strict=True))
    return found


def _check_interrupts(device: str) -> None:
    numbers = interrupts(device)
    if not numbers:
        raise unable(
            f"{device} has no interrupts of its own (MSI): it is not a network card on PCI"
        )
    for number in numbers:
        file = IRQS / str(number) / "smp_affinity_list"
        if not file.exists() or not file.stat().st_mode & _OWNER_WRITES:
            raise unable(f"the kernel itself places interrupt {number} of {device}")
    if "irqbalance" in _programs():
        raise unable("irqbalance runs and moves interrupts; stop it (systemctl stop irqbalance)")


def _programs() -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/comm"):
        try:
            yield file.read_text().strip()
        except OSError:  # it has ended
            continue


def _require_own(former: Mapping[str, str]) -> None:
    if fault := foreign(former):
        raise failed(fault)


def _value(file: str, text: str) -> int | str:
    """A mask is shown with leading zeros and commas."""
    return int(text.replace(",", ""), 16) if file.endswith("ps_cpus") else text
