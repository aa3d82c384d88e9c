"""`Question`: two arms and a rule, not yet decided; and what may keep it from being decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from analysis.findings.arms import Points
from analysis.findings.rule import Rule
from analysis.summary.summary import SettingSummary

Unequal = Callable[[SettingSummary, SettingSummary], tuple[str, ...]]


def equal(_first: SettingSummary, _later: SettingSummary) -> tuple[str, ...]:
    """No difference of disclosure."""
    return ()


@dataclass(frozen=True)
class Evidence:
    """What findings are made of. `emulated`: media that are emulated; `emulated_guests`:
    VMs run without the hardware's help.

    unequal: how two arms' disclosures differ apart from the factor under study (method 23).
    """

    settings: tuple[SettingSummary, ...]
    repetitions: int
    isolation: str
    emulated: frozenset[str] = frozenset()
    emulated_guests: bool = False
    unequal: Unequal = equal

    def about_vms(self, *arms: SettingSummary) -> tuple[str, ...]:
        """Why these arms decide nothing about VMs (method 24)."""
        if self.isolation == "process":
            return ("isolation: process; groups of processes decide no claim about VMs",)
        if self.emulated_guests:
            return ("the VMs are emulated, not accelerated; they decide no claim about VMs",)
        return self.about_media(*arms)

    def about_media(self, *arms: SettingSummary) -> tuple[str, ...]:
        """Why these arms decide nothing about disks (method 24)."""
        if any(arm.medium in self.emulated for arm in arms):
            return ("the medium is emulated; it decides no claim",)
        return ()

    def density(self, vms_per_host: int) -> str:
        return density(vms_per_host, self.isolation)


@dataclass(frozen=True)
class Question:
    """Does `later` over `first` obey the rule?

    With a `reference` in place of `first`, a level is asked for: `later` over that number, which has
    the unit of the points. obstacles: why it decides nothing, its effect being shown all the same.
    part: which inequality of a claim it is.
    refused: why the arms may not be compared at all; no effect is shown.
    """

    id: str
    family: str
    subject: str
    measure: str
    arms: str
    rule: Rule
    first: Points
    later: Points
    among: str | None = None
    unit: Literal["build", "trial"] = "build"
    part: str | None = None
    reference: float | None = None
    obstacles: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def statement(self) -> str:
        among = f", {self.among}" if self.among else ""
        return f"{self.subject}{among}: {self.measure}, {self.arms}"


def density(vms_per_host: int, isolation: str) -> str:
    """'2 VMs per host', '1 worker per host', 'the bare host'."""
    if vms_per_host == 0:
        return "the bare host"
    noun = "worker" if isolation == "process" else "VM"
    return f"{vms_per_host} {noun}{'s' if vms_per_host > 1 else ''} per host"
