"""A study with guests, opened in the test's own libvirtd; and dool's samples of its machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from density_study.cluster.model.store import Store, default_store
from density_study.cluster.providers.libvirt.image import ensure_image
from density_study.cluster.providers.libvirt.provider import stacks_in_guests
from density_study.cluster.stack import ensure_all
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.record.manifest import Manifest
from tests.live.support.libvirtd import Libvirtd, as_the_machines, libvirtd

TEMPLATE = Path(__file__).with_name("guests.yaml").read_text()
HOSTS = TEMPLATE.partition("factors:")[0]
"""For factors and workloads of another study."""


@contextmanager
def daemon_for(
    folder: Path, stores: Sequence[Store] = (), more: Sequence[str] = ()
) -> Iterator[Libvirtd]:
    """A libvirtd whose namespace this process is in, with a lease of its own; images of the stores are made
    before, with `more` stacks, since the namespace has no access to the archive."""
    for store in stores or (default_store(),):
        ensure_image(ensure_all((*stacks_in_guests(store), *more)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DENSITY_STUDY_RUNTIME", str(folder / "runtime"))
        with libvirtd(folder / "h1", "h1") as running, as_the_machines(running) as daemon:
            yield daemon


def carried_out(opened: Run) -> Run:
    """To its last step, including its tear-down."""
    try:
        for step in steps_left(opened):
            ended = carry_out(opened, step)
            assert ended.outcome == "ok", f"{step.label}: {ended.message}"
    finally:
        close_run(opened)
    end_run(opened, "ok")
    return opened


def open_guests(folder: Path, daemon: Libvirtd, text: str = TEMPLATE) -> Run:
    """The run of a study, by default guests.yaml, in `folder`/runs; its guests' disks in `folder`/disk."""
    (folder / "disk").mkdir()
    settings = {"uri": daemon.uri, "disk": str(folder / "disk"), "images": str(folder / "images")}
    for name, value in settings.items():
        text = text.replace(f"@{name}@", value)
    spec = folder / "guests.yaml"
    spec.write_text(text)
    return open_run(spec, folder / "runs")


@dataclass(frozen=True)
class Sample:
    """A dool sample: from the previous sample to this one, epoch seconds by the controller's clock;
    the used share of the machine's cores, 0 to 1."""

    start_s: float
    end_s: float
    used: float


def samples(run: Run, manifest: Manifest, machine: str) -> list[Sample]:
    """Without the sample since boot."""
    (monitor,) = (m for m in manifest.monitors if (m.host, m.kind) == (machine, "dool"))
    (clock,) = (offset for offset in manifest.clock if offset.host == machine)
    ahead_s = (clock.before_s + clock.after_s) / 2
    file = run.records / manifest.trial / monitor.file
    rows = [(row.epoch_s, row.cpu_used) for row in parse_dool(file.read_bytes(), file.name).rows]
    return [
        Sample(before - ahead_s, epoch - ahead_s, used / 100)
        for (before, _), (epoch, used) in pairwise(rows)
        if before is not None and epoch is not None and used is not None
    ]


def used_core_s(of: list[Sample], cores: int, start_s: float, end_s: float) -> float:
    """Core-seconds used between two times; samples at the edges count by their overlap."""
    return sum(
        sample.used * cores * max(0.0, min(sample.end_s, end_s) - max(sample.start_s, start_s))
        for sample in of
    )
