"""`HostSample`: one row of a monitor of the dstat family, in fixed units."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HostSample:
    """One row. A value is a mean over the period that ends at the row's time; None if the column is missing.

    epoch_s: None if the file has neither an epoch column nor a time in UTC; `time_text` then is the tool's
    local time. since_boot: the first row after a header is a mean since boot and not a sample.
    missed_ticks: periods that the tool reports as missed. CPU is in percent of all cores together;
    `cpu_user` includes interrupts unless `cpu_irq` (dstat 0.7.2: hard + soft) is separate.
    """

    line: int
    epoch_s: float | None
    time_text: str | None
    since_boot: bool
    missed_ticks: int = 0
    cpu_user: float | None = None
    cpu_system: float | None = None
    cpu_idle: float | None = None
    cpu_iowait: float | None = None
    cpu_steal: float | None = None
    cpu_irq: float | None = None
    disk_read_bytes_s: float | None = None
    disk_write_bytes_s: float | None = None
    disk_read_ops_s: float | None = None
    disk_write_ops_s: float | None = None
    net_receive_bytes_s: float | None = None
    net_send_bytes_s: float | None = None
    memory_used_bytes: float | None = None
    memory_free_bytes: float | None = None
    memory_buffered_bytes: float | None = None
    memory_cached_bytes: float | None = None
    memory_available_bytes: float | None = None

    @property
    def cpu_used(self) -> float | None:
        """100 - idle - iowait - steal (method 19); None without CPU columns."""
        if self.cpu_idle is None or self.cpu_iowait is None:
            return None
        return 100 - self.cpu_idle - self.cpu_iowait - (self.cpu_steal or 0.0)
