"""Cold disks: the page caches of the workers are emptied before a trial, and the devices' bytes counted."""

from __future__ import annotations

from density_study.cluster.clients.cold_reads import EVICTION, device_bytes, evict_blocks
from density_study.cluster.clients.write_out import write_out
from density_study.workloads.base.values import ColdProof
from density_study.workloads.base.workload import Prepared, TrialContext

UNKNOWN = "unknown"
"""How the caches of an existing cluster were emptied: they were not."""
IO = "io"
"""For the state before the trial: what the DataNodes had read from and written to devices, in bytes."""


def made_cold(context: TrialContext, data_set_mib: float) -> Prepared:
    """Everything is written out and no block is cached. StudyError if that is not done in time."""
    if context.cluster.topology.existing:  # nobody here sees its disks and page caches
        return Prepared(data_set_mib, ColdProof(method=UNKNOWN))
    return Prepared(
        data_set_mib, evicted(context), {IO: device_bytes(context.cluster, context.transport)}
    )


def evicted(context: TrialContext) -> ColdProof:
    """Write everything out and empty the caches. StudyError if that is not done in time."""
    machines = context.cluster, context.transport, context.record.root / "logs"
    write_out(*machines, context.timeout_scale)
    evicted_bytes = evict_blocks(*machines, context.timeout_scale)
    return ColdProof(method=EVICTION, evicted_bytes=evicted_bytes)


def cold_proof(
    context: TrialContext, prepared: Prepared, asked_bytes: int | None = None
) -> ColdProof | None:
    """How caches were emptied, and what the DataNodes did with devices since. `asked_bytes`: what clients
    read, each byte once. None: caches were left alone."""
    if prepared.cold is None:
        return None
    proof = {"distinct_bytes_asked": asked_bytes}
    if prepared.state and (before := prepared.state.get(IO)):
        now = device_bytes(context.cluster, context.transport)
        proof["physical_read_bytes"] = now["read_bytes"] - before["read_bytes"]
        proof["physical_write_bytes"] = now["written_bytes"] - before["written_bytes"]
    return prepared.cold.model_copy(update=proof)
