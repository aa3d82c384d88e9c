"""How many tasks of each stage a VM runs concurrently, and how long a task takes.

A task uses its cores, or all cores of a VM that has fewer. If a stage's memory does not fit into a VM, the
density is excluded. Task time on another CPU: reference time / relative speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.catalogue import HostType
from density_study.analysis.capacity.inputs.profile import Stage
from density_study.analysis.capacity.sizing.demand import HOUR_S, Demand
from density_study.cluster.model.plain import counted

MORE_MEMORY = "use fewer VMs per host, or hosts with more memory"
SURE = 0.9  # a stage must fit into a VM in at least this share of draws


@dataclass(frozen=True)
class Slots:
    """One host type at one density. speed (draws,): of a core, relative to the reference."""

    demand: Demand
    host: HostType
    vms_per_host: int
    speed: Floats

    @property
    def vms(self) -> int:
        """Nodes per host; the bare host is one node."""
        return max(1, self.vms_per_host)

    @property
    def vm_cores(self) -> int:
        return self.host.cores // self.vms

    @property
    def vm_ram_gib(self) -> Floats:
        """Memory for tasks, after the daemons (draws,)."""
        return self.host.ram_gib / self.vms - self.demand.drawn["daemon_gib"]

    def forbidden(self) -> tuple[str, str | None] | None:
        """Why this density is impossible and what to do about it, or None."""
        name = f"{self.vms_per_host} VMs per host on {self.host.name}"
        if self.vm_cores < 1:
            return f"{name}: {counted(self.host.cores, 'core')}, less than one per VM", None
        if float((self.vm_ram_gib > 0).mean()) < SURE:
            has = f"a VM's {self.host.ram_gib / self.vms:.0f} GiB"
            return f"{name}: the daemons alone need more than {has}", MORE_MEMORY
        for stage in self._computing():
            if stage.accelerator is not None and not self._by_accelerators(stage):
                wanted = f"{stage.accelerator.per_task} {stage.accelerator.kind} for a task of {stage.name}"
                of_vm = self.host.accelerators_of(stage.accelerator.kind) // self.vms
                return f"{name}: {wanted} are needed, and a VM has {of_vm}", None
            fits = float((self.per_vm(stage) >= 1).mean())
            if fits < SURE:
                needs = stage.ram_gib.value if stage.ram_gib else 0.0
                memory = f"the memory of {stage.name} ({needs:g} GiB per task)"
                has = f"a VM's {float(np.median(self.vm_ram_gib)):.0f} GiB besides its daemons"
                fewer = f"in {fits:.0%} of draws, fewer than {SURE:.0%}"
                return f"{name}: {memory} fits {has} {fewer}", MORE_MEMORY
        return None

    def per_vm(self, stage: Stage) -> Floats:
        """Concurrent tasks of a stage per VM (draws,)."""
        by_cores = np.full(len(self.speed), self._by_cores(stage))
        if stage.ram_gib is None:
            return by_cores.astype(float)
        # whole tasks per VM: memory left over in one VM does not help another, which is a cost of density
        by_ram = np.floor(self.vm_ram_gib / self.demand.drawn[f"{stage.name}.ram_gib"])
        result: Floats = np.maximum(0.0, np.minimum(by_cores, by_ram))
        return result

    def _by_cores(self, stage: Stage) -> int:
        """Concurrent tasks by cores and accelerators."""
        most = max(1, self.vm_cores // self.cores(stage))
        return most if stage.accelerator is None else min(most, self._by_accelerators(stage))

    def _by_accelerators(self, stage: Stage) -> int:
        assert stage.accelerator is not None
        of_vm = self.host.accelerators_of(stage.accelerator.kind) // self.vms
        return of_vm // stage.accelerator.per_task

    def cores(self, stage: Stage) -> int:
        return max(1, min(stage.cores_per_task, self.vm_cores))

    def task_s(self, stage: Stage) -> Floats:
        """Seconds per task of a genome (draws,); 0 for a stage without core-hours."""
        drawn = self.demand.drawn
        if stage.accelerator is not None:  # as fast on any host
            hours = drawn[f"{stage.name}.accelerator_hours"]
            return hours * HOUR_S / stage.tasks / stage.accelerator.per_task
        if stage.core_hours is None:
            return np.zeros(len(self.speed))
        seconds = drawn[f"{stage.name}.core_hours"] * HOUR_S / stage.tasks
        efficiency = drawn.get(f"{stage.name}.cpu_efficiency", 1.0)
        # core-hours are busy time: a task that waits a tenth of its time takes 1 / 0.9 as long
        return seconds / (self.cores(stage) * efficiency * self.speed)

    def hosts_busy(self, stage: Stage) -> Floats:
        """Hosts that a stage keeps busy in the busiest hour (draws,)."""
        # Little's law, L = lambda W (Little 1961): tasks in work = tasks per second * seconds of a task
        tasks_in_work = self.demand.genomes_per_s * stage.tasks * self.task_s(stage)
        slots = np.maximum(self.per_vm(stage), 1e-9) * self.vms  # nothing fits: a huge need
        result: Floats = tasks_in_work / slots
        return result

    def compute_hosts(self) -> Floats:
        """Hosts that all stages keep busy (draws,). Divided by h: utilization of compute."""
        return sum(map(self.hosts_busy, self._computing()), np.zeros(len(self.speed)))

    def bound_by(self) -> str:
        """What limits the concurrent tasks of the largest stage: cpu or memory."""
        heaviest = max(
            self._computing(), key=lambda s: float(np.median(self.hosts_busy(s))), default=None
        )
        if heaviest is None:
            return "cpu"
        most = self._by_cores(heaviest)
        if float(np.median(self.per_vm(heaviest))) < most:
            return "memory"
        return "cpu" if heaviest.accelerator is None else heaviest.accelerator.kind

    def _computing(self) -> tuple[Stage, ...]:
        return tuple(stage for stage in self.demand.profile.stages if stage.computes)
