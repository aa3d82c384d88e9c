"""`Question`: two arms and a rule, not yet decided, and the obstacles to deciding it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from analysis.findings.arms import Points
from analysis.findings.rule import Rule
from analysis.summary.summary import SettingSummary

Differences = Callable[[SettingSummary, SettingSummary], tuple[str, ...]]


def no_differences(_first: SettingSummary, _later: SettingSummary) -> tuple[str, ...]:
    """Disclosures do not differ."""
    return ()


@dataclass(frozen=True)
class Evidence:
    """The input of all findings. `emulated`: the emulated media; `emulated_guests`: VMs ran without
    hardware virtualization.

    differences: how two arms' disclosures differ beyond the factor under study (method 23).
    """

    settings: tuple[SettingSummary, ...]
    repetitions: int
    isolation: str
    emulated: frozenset[str] = frozenset()
    emulated_guests: bool = False
    differences: Differences = no_differences

    def about_vms(self, *arms: SettingSummary) -> tuple[str, ...]:
        """Why these arms support no claim about VMs (method 24)."""
        if self.isolation == "process":
            return ("isolation: process; process groups support no claim about VMs",)
        if self.emulated_guests:
            return ("the VMs ran without KVM (emulated), which supports no claim about VMs",)
        return self.about_media(*arms)

    def about_media(self, *arms: SettingSummary) -> tuple[str, ...]:
        """Why these arms support no claim about disks (method 24)."""
        if any(arm.medium in self.emulated for arm in arms):
            return ("the medium is emulated, which supports no claim",)
        return ()

    def density(self, vms_per_host: int) -> str:
        return density(vms_per_host, self.isolation)


@dataclass(frozen=True)
class Question:
    """Does the ratio of `later` over `first` satisfy the rule?

    With a `reference`, the ratio is `later` over that number, which has the unit of the points.
    part: the inequality of a claim that this is.
    obstacles: why it cannot support a claim; its effect is shown nevertheless.
    refused: why the arms are not comparable; no effect is shown.
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
