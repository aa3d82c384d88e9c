"""All facts of a genomics pipeline: its rate, what its stages cost for one genome, and how right they were.

Joint genotyping and the load of variants run once for all genomes of a node: each of them has an equal share
of it. Variant importance has samples of its own: its numbers are those of the whole stage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import (
    PERCENT,
    Facts,
    Row,
    Rows,
    exact_sum,
    if_all,
    known,
    largest,
    metric,
    over,
    relative_error,
    window_s,
)
from density_study.workloads.pipeline.machine.files import CALL, IMPORTANCE, LOAD


def facts(rows: Rows) -> Facts:
    """throughput_genomes; stage_* of each stage, scope stage:<name>, means per genome and the largest memory;
    recall and precision of each calling stage over all its genomes; load_rate of one node's loader."""
    trial, stages = rows.trial, rows.of("pipeline_stages")
    answers = rows.of("pipeline_answers")
    # CALL is the last stage of a single genome
    done = sum(row["stage"] == CALL and row["exit_code"] == 0 for row in stages) if stages else None
    metrics: list[Row] = []
    length_s = window_s(trial)
    if length_s is not None:
        genomes_h = None if done is None else done * 3600.0 / length_s
        metrics.append(metric("throughput_genomes", "genomes/h", genomes_h))
    ended = [row for row in stages if row["exit_code"] == 0]
    for stage, own in _by_stage(ended).items():
        metrics += _cost(trial, stage, own)
    metrics += _answers(answers)
    metrics += _loads(ended, answers)
    checks: Row = {
        "work_share": over(done, trial["genomes"]),
        "rate_error": _core_error(stages),
        "client_cpu_share": 0.0,  # its programs run on workers, and no client feeds them
    }
    return Facts(metrics, checks)


def _by_stage(rows: Iterable[Row]) -> dict[str, list[Row]]:
    by_stage: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_stage[row["stage"]].append(row)
    return by_stage


def _seconds(row: Row) -> float:
    seconds: float = row["end_epoch_s"] - row["start_epoch_s"]
    return seconds


def _cost(trial: Row, stage: str, rows: Sequence[Row]) -> Iterator[Row]:
    """For one genome of the trial, those of a cohort included; None if a value is not known."""
    genomes = 1 if stage == IMPORTANCE else trial["genomes"]

    def each(values: Iterable[float | None]) -> float | None:
        whole = if_all(values)
        return None if whole is None else over(exact_sum(whole), genomes)

    core_s = each(row["core_s"] for row in rows)
    read_bases = None if stage == IMPORTANCE else trial["bases"] * trial["coverage"]
    peak_kib = max(known(row["peak_kib"] for row in rows), default=None)
    read, written = (each(row[name] for row in rows) for name in ("read_bytes", "written_bytes"))
    per_base = over(None if core_s is None else 1e9 * core_s, read_bases)
    values = {
        "stage_core": ("s", core_s),
        "stage_core_per_base": ("ns", per_base),
        "stage_time": ("s", each(map(_seconds, rows))),
        "stage_memory": ("MiB", None if peak_kib is None else peak_kib / 1024.0),
        "stage_read": ("MiB", None if read is None else read / MIB),
        "stage_write": ("MiB", None if written is None else written / MIB),
        "stage_tasks": ("tasks", each(row["tasks"] for row in rows)),
    }
    for name, (unit, value) in values.items():
        yield metric(name, unit, value, scope=f"stage:{stage}")


def _answers(answers: Iterable[Row]) -> Iterator[Row]:
    for stage, rows in _by_stage(row for row in answers if row["stage"] != LOAD).items():
        planted, called, found = (
            sum(known(row[name] for row in rows)) for name in ("planted", "called", "found")
        )
        for name, whole in (("recall", planted), ("precision", called)):
            share = 100.0 * found / whole if whole > 0 else None
            yield metric(name, PERCENT, share, scope=f"stage:{stage}")


def _loads(ended: Iterable[Row], answers: Iterable[Row]) -> Iterator[Row]:
    """Variants that are in the store as they were called, over the time of their nodes' loads."""
    stored = [row for row in answers if row["stage"] == LOAD]
    both = [
        (answer["found"], _seconds(load))
        for load in ended
        if load["stage"] == LOAD
        for answer in stored
        if answer["node"] == load["node"]
    ]
    if both:
        rate = over(sum(found for found, _ in both), exact_sum(seconds for _, seconds in both))
        yield metric("load_rate", "variants/s", rate, scope=f"stage:{LOAD}")


def _core_error(stages: Iterable[Row]) -> float | None:
    """CPU time of all stages of a node, summed, against the kernel's own sum over all ended programs, on
    the node where they differ most."""
    by_node: dict[str, list[Row]] = defaultdict(list)
    for row in stages:
        by_node[row["client"]].append(row)
    return largest(
        relative_error(
            exact_sum(row["core_s"] for row in rows),
            max(known(row["reaped_core_s"] for row in rows), default=None),
        )
        for rows in by_node.values()
    )
