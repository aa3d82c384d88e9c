"""The files of a record, in the formats of the tools, from its `Truth`."""

from __future__ import annotations

import random
from collections.abc import Mapping

from density_study.workloads.pipeline.machine.files import (
    ANSWER_COLUMNS,
    CALL,
    COHORT,
    JOINT,
    LOAD,
    STAGE_COLUMNS,
    title,
)
from density_study.workloads.pipeline.test_case import PipelineTestCase
from density_study.workloads.simulated.texts import dfsio_part, history
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.records import texts
from tests.support.truth import MIB, Truth

MODES = {"write": "write", "read": "read", "random": "random read", "backward": "backward read",
         "skip": "skip read"}  # fmt: skip


def monitor_files(truth: Truth) -> dict[str, str]:
    """Written by a host whose clock is `clock_offset_s` ahead of the controller's."""
    ahead_s = truth.clock_offset_s
    return {
        "monitor/here.dool.csv": texts.dool((at + ahead_s, cells) for at, cells in truth.dool),
        "monitor/here.nodecpu.csv": texts.nodecpu((at + ahead_s, n) for at, n in truth.ticks),
        **{f"monitor/{host}.{kind}.csv": text for (host, kind), text in truth.devices.items()},
    }


def raw_files(truth: Truth) -> Mapping[str, str]:
    if isinstance(truth.test_case, PipelineTestCase):
        return _pipeline_files(truth)
    return _dfsio_files(truth) if isinstance(truth.test_case, DfsioTestCase) else _ycsb_files(truth)


def _dfsio_files(truth: Truth) -> dict[str, str]:
    assert isinstance(truth.test_case, DfsioTestCase)
    total, time_ms = (sum(stream[i] for stream in truth.streams) for i in (0, 1))
    rate = total / MIB / (time_ms / 1000)
    name = MODES[truth.test_case.mode]
    return {
        "raw/testdfsio.log": texts.dfsio_log(
            name, len(truth.streams), total / MIB, rate, 19.5, truth.job[1] + 1
        ),
        "raw/io/part-00000": dfsio_part(truth.streams),
        "raw/history/job_1.jhist": history(
            *truth.job, [(*times_s, "localhost") for times_s in truth.maps]
        ),
        "raw/testdfsio.out": "",
        "raw/testdfsio.err": "",
    }


def _pipeline_files(truth: Truth) -> dict[str, str]:
    files = {}
    for node in dict.fromkeys(stage.node for stage in truth.stages):
        own, reaped = [stage for stage in truth.stages if stage.node == node], 0.0
        stages, answers = [",".join(STAGE_COLUMNS)], [",".join(ANSWER_COLUMNS)]
        for one in own:
            reaped += one.core_s
            seconds = (one.start_s, one.end_s, one.core_s, reaped)
            counts = (one.peak_kib, one.read_bytes, one.written_bytes, one.exit_code, 1)
            row = (one.genome, one.stage, *(f"{value:.6f}" for value in seconds), *counts)
            stages.append(",".join(map(str, row)))
        for genome in dict.fromkeys(one.genome for one in own if one.genome != COHORT):
            answers += [",".join(map(str, (genome, s, *truth.answers))) for s in (CALL, JOINT)]
        if any(one.stage == LOAD for one in own):
            answers.append(",".join(map(str, (COHORT, LOAD, *truth.stored))))
        name = f"raw/pipeline-{node}"
        files[f"{name}.csv"] = "\n".join([title("stages", node), *stages, ""])
        files[f"{name}-answers.csv"] = "\n".join([title("answers", node), *answers, ""])
        files[f"{name}.out"] = files[f"{name}.err"] = ""
    return files


def _ycsb_files(truth: Truth) -> dict[str, str]:
    """Each of several clients logs every n-th latency, and all its operations succeed."""
    assert isinstance(truth.test_case, YcsbTestCase)
    files: dict[str, str] = {}
    for number in range(truth.test_case.clients):
        files |= _ycsb_client_files(truth, number, truth.test_case.clients)
    return files


def _ycsb_client_files(truth: Truth, number: int, clients: int) -> dict[str, str]:
    start_s = truth.operations_start_s + truth.clock_offset_s
    own = {
        operation: [second[number::clients] for second in seconds]
        for operation, seconds in truth.latencies_us.items()
    }
    seconds = len(next(iter(own.values())))
    per_second = [sum(len(operation[i]) for operation in own.values()) for i in range(seconds)]
    name = f"raw/ycsb-{number + 1}"
    logs = {
        f"{name}-{operation}.hdr": texts.hdr(operation, start_s, [(1.0, i) for i in latencies])
        for operation, latencies in own.items()
    }
    if truth.asked:
        lines = [
            f"{round(1000 * (start_s + second))},{piece},{asked / clients:.3f}"
            for second, (piece, asked) in enumerate(truth.asked)
        ]
        logs[f"{name}-schedule.csv"] = "\n".join(["epoch_ms,piece,operations", *lines, ""])
    think = _think_us(truth, own, seconds)
    if think:
        logs[f"{name}-THINK.hdr"] = texts.hdr("THINK", start_s, [(1.0, each) for each in think])
    # no two runs print the same
    clean_up_us = random.Random(f"{truth.trial}/{number}").randrange(800, 800_000) / 8
    returns = truth.returns
    if clients > 1:
        returns = {name: {"OK": sum(map(len, each))} for name, each in own.items()}
    return {
        **logs,
        f"{name}-CLEANUP.hdr": texts.hdr("CLEANUP", start_s + seconds - 1, [(1.0, [90_000] * 8)]),
        f"{name}.out": texts.ycsb_summary(float(seconds), returns, clean_up_us),
        f"{name}.err": texts.ycsb_status(per_second),
    }


def _think_us(truth: Truth, own: dict[str, list[list[int]]], seconds: int) -> list[list[int]]:
    """The time of a client's threads between operations: the remainder of each second, in equal
    parts. Half a microsecond of every time is cut off, on average."""
    test_case, share = truth.test_case, truth.threads_between_operations
    assert isinstance(test_case, YcsbTestCase)
    if not (test_case.is_saturation or test_case.is_load) or share is None:
        return []
    times = []
    for second in range(seconds):
        busy = [latency + 0.5 for each in own.values() for latency in each[second]]
        remaining_us = share * (test_case.threads / test_case.clients * 1e6 - sum(busy))
        times.append([round(remaining_us / len(busy) - 0.5)] * len(busy) if busy else [])
    return times
