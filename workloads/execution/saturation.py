"""The saturation a latency trial's percentage is of, measured on the same build (method 10).

It is the highest rate among the build's saturation trials of that mix and number of records, over the
thread counts of the study. If one of them is missing or failed, the highest is not known: the latency
trial does not run, and nothing is guessed in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import StudyError
from cluster.model.topology import topology_from_json
from workloads.base.parsing import ParseError
from workloads.record.manifest import Manifest, TargetRate
from workloads.ycsb.output.interval_log import IntervalRow, parse_hdr
from workloads.ycsb.output.operations import NOT_OF_USERS, READ_MODIFY_WRITE
from workloads.ycsb.setting import YcsbSetting


@dataclass(frozen=True)
class Saturation:
    """The trial that measured it, and its rate."""

    trial: str
    ops_s: float


def resolve(
    setting: YcsbSetting, planned: Iterable[str], records: Path, closed: Mapping[str, Manifest]
) -> tuple[YcsbSetting, TargetRate]:
    """`setting` with its target in ops/s. `planned`: the build's saturation trials that it waits for.

    StudyError says which of them has no rate.
    """
    if setting.target_percent is None:
        raise ValueError(f"{setting.id} asks for no percentage")
    rates = [_measured(trial, records, closed) for trial in planned]
    if not rates:
        raise _unknown(setting.id, "no saturation trial of its mix is planned on this build")
    most = max(rates, key=lambda rate: rate.ops_s)
    ops_s = most.ops_s * setting.target_percent / 100
    if ops_s < setting.clients:
        raise _unknown(most.trial, f"its rate was {most.ops_s:.1f} ops/s")
    target = TargetRate(
        percent=setting.target_percent,
        saturation_trial=most.trial,
        saturation_ops_s=most.ops_s,
        ops_s=ops_s,
    )
    return setting.model_copy(update={"target_ops_s": ops_s}), target


def _measured(trial: str, records: Path, closed: Mapping[str, Manifest]) -> Saturation:
    manifest = closed.get(trial)
    if manifest is None:
        raise _unknown(trial, "it has not run")
    if manifest.state != "complete":
        raise _unknown(trial, f"it is {manifest.state}: {'; '.join(manifest.reasons)}")
    return Saturation(trial, measured_ops_s(records / trial, manifest))


def measured_ops_s(record: Path, manifest: Manifest) -> float:
    """Operations that succeeded a second after the warm-up, the sum over the trial's clients: what
    `jobs.metrics.throughput` computes. StudyError if a client's interval logs do not tell it."""
    if manifest.window is None:
        raise _unknown(manifest.trial, "it has no window")
    assert isinstance(manifest.setting, YcsbSetting)
    from_s = manifest.window.start_epoch_s + manifest.setting.cut_s
    offsets = _clock_offsets(manifest)
    return sum(
        client_ops_s(record / "raw", client.name, from_s + offsets.get(client.node, 0.0))
        for client in manifest.clients
    )


def client_ops_s(folder: Path, client: str, from_epoch_s: float) -> float:
    """Operations that succeeded a second, of one client's intervals that begin at `from_epoch_s` (by
    its own clock) or later. StudyError if its interval logs in `folder` do not tell it."""
    rows = [row for row in _intervals(folder, client) if row.start_epoch_s >= from_epoch_s]
    return _rate(rows, f"{client} in {folder}")


def _clock_offsets(manifest: Manifest) -> dict[str, float]:
    """By node: how far the clock of its host is ahead of the controller's."""
    hosts = {entry.host: (entry.before_s + entry.after_s) / 2 for entry in manifest.clock}
    nodes = topology_from_json(manifest.topology).nodes
    return {node.name: hosts.get(node.host, 0.0) for node in nodes}


def _intervals(folder: Path, client: str) -> list[IntervalRow]:
    rows: list[IntervalRow] = []
    for path in sorted(folder.glob(f"{client}-*.hdr")):
        try:
            parsed = parse_hdr(path.read_bytes(), path.name)
        except ParseError as error:
            raise _unknown(str(path), str(error)) from error
        if parsed.quarantined:
            raise _unknown(str(path), f"{path.name}: {parsed.quarantined[0].reason}")
        rows += [row for row in parsed.rows if _counts(row)]
    return rows


def _counts(row: IntervalRow) -> bool:
    what = row.measurement
    return not what.intended and what.outcome is None and what.operation not in NOT_OF_USERS


def _rate(rows: list[IntervalRow], where: str) -> float:
    """A read-modify-write is logged thrice, as itself, as its read and as its update: counted once."""
    if not rows:
        raise _unknown(where, "no interval log holds operations after its warm-up")
    twice = sum(r.operations for r in rows if r.measurement.operation == READ_MODIFY_WRITE)
    seconds = max(r.start_epoch_s + r.length_s for r in rows) - min(r.start_epoch_s for r in rows)
    return (sum(row.operations for row in rows) - 2 * twice) / seconds


def _unknown(where: str, why: str) -> StudyError:
    return StudyError(
        f"the saturation that its target is a percentage of is not known: {why}.",
        where,
        "see why that trial gave no rate; a new run (--fresh) measures both anew.",
    )
