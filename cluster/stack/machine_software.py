"""`MachineSoftware`: what no stack brings and the nodes' machines must have: Java, and servers of stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

from density_study.cluster.model.store import MachineProgram
from density_study.cluster.stack.java import Java, find_java, refusal
from density_study.cluster.stack.machine_program import find_program


class MachineSoftware(Protocol):
    """The same on all machines of a cluster. InputError if it is missing, or differs between them."""

    def java(self, feature: int | None = None) -> Java:
        """As `find_java`."""

    def refusal(self, flags: Sequence[str], feature: int | None = None) -> str:
        """For JVM flags, as `java.refusal`."""

    def program(self, wanted: MachineProgram) -> Mapping[str, str]:
        """As `find_program`."""


class ThisMachine:
    """Software of the controller, where nodes are on it."""

    def java(self, feature: int | None = None) -> Java:
        return find_java(feature=feature)

    def refusal(self, flags: Sequence[str], feature: int | None = None) -> str:
        return refusal(flags, feature)

    def program(self, wanted: MachineProgram) -> Mapping[str, str]:
        return find_program(**asdict(wanted))


THIS_MACHINE = ThisMachine()
