"""The energy that this machine uses, as far as it can be read here.

Packages of cores and their memory have counters (RAPL). Whole machines have a power meter at their supply:
the kernel's driver of ACPI's shows it, else the management controller does (IPMI).

Standard library only: it runs on hosts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

POWERCAP, HWMON = Path("/sys/class/powercap"), Path("/sys/class/hwmon")
IPMI = ("ipmitool", "dcmi", "power", "reading")
_RAPL = "intel-rapl:"
"""Also of AMD. The same counters by another way, `intel-rapl-mmio:`, would count twice."""
_METER = "power_meter"
LONGEST_MEAN_MS = 2000
"""Some firmware shows means over minutes, which are not those of a trial."""
_MOST_W = 100_000
"""Some firmware shows 2^32 mW."""
_ANSWERS_WITHIN_S = 10
_WATTS = re.compile(r"Instantaneous power reading\s*:\s*([0-9]+)\s*Watts", re.IGNORECASE)
_ON = re.compile(r"Power reading state is\s*:\s*activated", re.IGNORECASE)


def energy_domains(root: Path = POWERCAP) -> Iterator[tuple[str, Path]]:
    """Name and folder of each package of cores, and of its memory where that counts apart: package-0,
    package-0/dram. Cores are a part of their package, and a whole platform (psys) contains all packages.

    Source: Documentation/power/powercap/powercap.rst of Linux.
    """
    for folder in sorted(root.glob(f"{_RAPL}*")):
        number, _, part = folder.name.removeprefix(_RAPL).partition(":")
        name = (folder / "name").read_text().strip()
        if not part and name.startswith("package-"):
            yield name, folder
        elif part and name == "dram":
            yield f"{(root / f'{_RAPL}{number}' / 'name').read_text().strip()}/dram", folder


def count(folder: Path) -> int:
    """Microjoules of a domain so far. OSError or ValueError; since Linux 5.10 only root may read them."""
    return _whole(folder / "energy_uj")


def _whole(path: Path) -> int:
    text = path.read_text().strip()
    if not text.isdecimal():
        raise ValueError(f"{path} shows {text[:40]!r}, which is not a number")
    return int(text)


def meter_w(hwmon: Path = HWMON) -> float | None:
    """Power of the whole machine; None without a meter. OSError or ValueError if it has one that shows no
    power now, or to this user.

    Source: Documentation/hwmon/acpi_power_meter.rst of Linux.
    """
    meters = [
        place
        for folder in sorted(hwmon.glob("hwmon*"))
        for place in (folder, folder / "device")  # of older kernels
        if (place / "power1_average").exists() and (folder / "name").read_text().strip() == _METER
    ]
    if len(meters) > 1:
        raise ValueError(f"{hwmon} has {len(meters)} power meters, and one machine has one power")
    if not meters:
        return _ipmi_w() if shutil.which(IPMI[0]) else None
    mean_ms = _whole(meters[0] / "power1_average_interval")
    if mean_ms > LONGEST_MEAN_MS:
        raise ValueError(
            f"{meters[0]} shows the mean of {mean_ms / 1000:.0f} s: as root, write 1000 to its "
            "power1_average_interval"
        )
    return _plausible(_whole(meters[0] / "power1_average") / 1e6)


def _ipmi_w() -> float:
    try:
        done = subprocess.run(
            IPMI, capture_output=True, text=True, errors="replace", check=False,
            timeout=_ANSWERS_WITHIN_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ValueError(f"{IPMI[0]} did not answer within {_ANSWERS_WITHIN_S} s") from None
    watts = _WATTS.search(done.stdout)
    if done.returncode or watts is None or not _ON.search(done.stdout):
        answer = " ".join((done.stderr or done.stdout).split())[-200:] or "nothing"
        raise ValueError(f"`{' '.join(IPMI)}` shows no power: {answer}")
    return _plausible(float(watts[1]))


def _plausible(watts: float) -> float:
    if not 0 < watts < _MOST_W:
        raise ValueError(f"its power meter shows {watts:g} W, which is not a machine's power")
    return watts


def _fault(read: Callable[[], object], absent: str) -> str:
    """Why there is nothing to read; empty if there is."""
    try:
        return "" if read() else absent
    except (OSError, ValueError) as error:
        return str(error)


def counters_fault(root: Path = POWERCAP) -> str:
    """Why this user cannot read the machine's counters of energy; empty if they are readable."""
    return _fault(
        lambda: [count(folder) for _, folder in energy_domains(root)],
        f"{root} has no package, as on a virtual machine",
    )


def meter_fault(root: Path = HWMON) -> str:
    """Why the power meter below `root` cannot be read; empty if it can."""
    return _fault(lambda: meter_w(root), f"{root} has no {_METER}, and there is no {IPMI[0]}")


def energy_fault(powercap: Path = POWERCAP, hwmon: Path = HWMON) -> str:
    """Why this user can read neither; empty if one is readable."""
    faults = counters_fault(powercap), meter_fault(hwmon)
    return "" if "" in faults else "; ".join(faults)
