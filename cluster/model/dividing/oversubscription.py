"""`Oversubscription`: how many times of what a worker has is promised to what runs there. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from density_study.cluster.model.errors import InputError


@dataclass(frozen=True)
class Oversubscription:
    """`memory`: that of a worker's memory, given to its daemons and to YARN's containers together. Daemons
    have what they always have, so the excess is slots. `cores`: that of a host's cores, given to its
    workers."""

    memory: float = 1.0
    cores: float = 1.0

    def more_mib(self, node_mib: int, container_mib: int) -> int:
        """What YARN may give beyond the memory that there is: whole containers. InputError if it is none."""
        more_mib = int((self.memory - 1) * node_mib) // container_mib * container_mib
        if self.memory > 1 and not more_mib:
            least = 1 + container_mib / node_mib
            raise InputError(
                f"{self.memory:g} times the memory of a worker, {node_mib} MiB, is not a container of "
                f"{container_mib} MiB more.",
                "factors.oversubscribe",
                f"write {least + 0.005:.2f} or more, or make stack.yarn.container smaller.",
                ("factors", "oversubscribe"),
            )
        return more_mib

    def cores_of(self, host_cores: int, workers: int) -> float:
        """Cores that each worker may use, in CPU time per second. A worker cannot have more cores than its
        host."""
        return min(float(host_cores), host_cores * self.cores / workers)


PLAIN = Oversubscription()
