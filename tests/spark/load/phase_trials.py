"""Trials whose rate rises in steps, past what the cluster can do."""

from __future__ import annotations

from density_study.workloads.ycsb.phase_spec import PhaseSpec
from tests.support.records.factory import RunFactory
from tests.support.truth import Truth

BUILD, RAMP_UP_S = "b1-v2-flash", 5
STAIRS = PhaseSpec.model_validate(
    {"staircase": {"from": "100/s", "to": "400/s", "steps": 4, "each": "8 s"}}
)
SECONDS = RAMP_UP_S + 4 * 8
ASKED = [100] * (RAMP_UP_S + 8) + [200] * 8 + [300] * 8 + [400] * 8
DONE = [min(asked, 320) for asked in ASKED]
"""Operations in each second: the cluster is saturated at 320 ops/s."""


def staircase(factory: RunFactory, clock_offset_s: float = 0.0) -> Truth:
    truth = factory.ycsb(
        BUILD, "scan95-insert5", seconds=SECONDS, phase=STAIRS.phase, target_ops_s=400.0,
        records=8000, duration_s=float(SECONDS), warm_up_s=float(RAMP_UP_S),
    )  # fmt: skip
    truth.operations_start_s = truth.start_s + 0.25
    truth.clock_offset_s = truth.measured_clock_s = clock_offset_s
    for operation, share in (("SCAN", 0.9), ("INSERT", 0.1)):
        seconds = [round(share * done) for done in DONE]
        truth.latencies_us[operation] = [[900] * count for count in seconds]
        truth.latencies_us[f"Intended-{operation}"] = [
            [1000 * (1 + second) + i for i in range(count)] for second, count in enumerate(seconds)
        ]
        truth.returns[operation] = {"OK": sum(seconds)}
    truth.asked = [
        (0 if i < RAMP_UP_S else 1 + (i - RAMP_UP_S) // 8, n) for i, n in enumerate(ASKED)
    ]
    return truth


def phase_trials(factory: RunFactory) -> dict[str, Truth]:
    """The client's clock is the controller's, or not."""
    return {"staircase": staircase(factory), "late clock": staircase(factory, clock_offset_s=0.4)}
