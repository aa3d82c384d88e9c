"""Resolves the target of a latency trial that is a percentage of the saturation of its build (method 10).

The saturation is the maximum over the build's saturation trials of the same mix and number of records, one
per thread count. If one of them is missing or failed, the maximum is unknown: the latency trial does not
run, and no rate is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError, StudyError
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import TargetRate
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import is_closed, read_manifest
from density_study.workloads.study.registry import kind_of

if TYPE_CHECKING:  # numpy is for the analysis
    from density_study.workloads.base.rows import Rows


def resolve(
    test_case: TestCase, planned: Iterable[str], records: Path
) -> tuple[TestCase, TargetRate]:
    """`test_case` with its target in ops/s. `planned`: the build's saturation trials that it depends on.

    StudyError names the trial that has no rate.
    """
    if test_case.target_share is None:
        raise ValueError(f"{test_case.id} has no relative target")
    highest, rate = saturation(test_case, planned, records)
    ops_s = rate * test_case.target_share / 100
    target = TargetRate(
        percent=test_case.target_share, saturation_trial=highest, saturation_ops_s=rate, ops_s=ops_s
    )
    try:
        return test_case.at_rate(ops_s), target
    except InputError as error:
        why = f"its rate was {rate:.1f} ops/s, and {error.what.rstrip('.')}"
        raise _unknown(highest, why) from error


def saturation(test_case: TestCase, planned: Iterable[str], records: Path) -> tuple[str, float]:
    """The trial of `planned` with the highest rate, and its rate in ops/s, for a test case that depends on
    them. StudyError names the trial that has no rate."""
    rates = {trial: _measured_ops_s(records / trial) for trial in planned}
    if not rates:
        raise _unknown(test_case.id, "no saturation trial of its mix is planned on this build")
    # Saturation is a maximum: with too few threads the client is the limit, with too many, queues are.
    highest = max(rates, key=rates.__getitem__)
    return highest, rates[highest]


def _measured_ops_s(record: Path) -> float:
    if not is_closed(record):
        raise _unknown(record.name, "it has not run")
    manifest = read_manifest(record)
    if manifest.state != "complete":
        raise _unknown(record.name, f"it is {manifest.state}: {'; '.join(manifest.reasons)}")
    return measured_ops_s(record, manifest)


def measured_ops_s(record: Path, manifest: Manifest) -> float:
    """Successful operations per second after the ramp-up, of all clients together, as the analysis computes
    them. StudyError if the output of a client does not show it."""
    from density_study.workloads.rows.record_rows import record_rows  # pyarrow

    return rate_of(record_rows(manifest, record))


def rate_of(rows: Rows) -> float:
    """The same, from the rows of a record."""
    from density_study.workloads.rows.facts import facts_of
    from density_study.workloads.rows.raw.file_kinds import is_result

    trial = rows.trial["trial"]
    for line in rows.of("quarantine"):
        if is_result(line["kind"]):
            where = f" line {line['line']}" if line["line"] else ""  # 0: the whole file
            raise _unknown(trial, f"{line['file']}{where}: {line['reason']}")
    kind = kind_of(rows.trial["workload"])
    metrics = facts_of(kind.name)(rows).metrics
    rate = next((one["value"] for one in metrics if one["name"] == kind.rate), None)
    if rate is None:
        raise _unknown(trial, "no client's log holds operations after its ramp-up")
    return float(rate)


def _unknown(where: str, why: str) -> StudyError:
    return StudyError(
        f"the saturation that the target refers to is unknown: {why}.",
        where,
        "see why that trial has no rate; a new run (--fresh) measures both again.",
    )
