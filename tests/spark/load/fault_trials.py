"""Trials with a fault: their clients stall, recover, or do not."""

from __future__ import annotations

from density_study.workloads.base.fault import Fault, InjectedFault
from tests.support.records.factory import RunFactory
from tests.support.truth import Truth

BUILD, RATE, SECONDS, AT = "b1-v2-flash", 200, 40, 12
FAULT = Fault(kill="regionserver", at_s=9.25)


def add(
    factory: RunFactory,
    rates: list[int],
    failed: int = 0,
    found: int = 9000,
    build: str = BUILD,
    fault: Fault = FAULT,
) -> Truth:
    """A trial whose clients do `rates` operations in each second. The kill is AT seconds after the first."""
    truth = factory.ycsb(
        build, "scan95-insert5", seconds=SECONDS, rate=RATE, target_ops_s=float(RATE), fault=fault,
        records=8000, duration_s=float(SECONDS),
    )  # fmt: skip
    for operation, seconds in list(truth.latencies_us.items()):
        share = len(seconds[0]) / RATE
        truth.latencies_us[operation] = [
            (seconds[i] * 9)[: round(rates[i] * share)] for i in range(SECONDS)
        ]
        truth.latencies_us[f"Intended-{operation}"] = [
            [2000 * (2 if i == AT else 1)] * len(second)
            for i, second in enumerate(truth.latencies_us[operation])
        ]
        done = sum(map(len, truth.latencies_us[operation]))
        truth.returns[operation] = {"OK": done}
    if failed:
        truth.returns["SCAN"]["ERROR"] = failed
    truth.fault = InjectedFault(
        kill=fault.kill, node="w2", name="regionserver", epoch_s=truth.operations_start_s + AT
    )
    truth.rows = {"acknowledged": 9000, "found": found}
    return truth


def lost_host(factory: RunFactory, build: str, stalled_s: int) -> Truth:
    """All daemons of a host are lost, and clients stall for this long."""
    steady, left = [RATE] * SECONDS, SECONDS - AT - 2 * stalled_s
    rates = [*steady[:AT], *[0] * stalled_s, *[2 * RATE] * stalled_s, *steady[:left]]
    return add(factory, rates, build=build, fault=Fault(kill="host", at_s=9.25))


def fault_trials(factory: RunFactory) -> dict[str, Truth]:
    steady, stalled = [RATE] * SECONDS, [0] * 8
    burst = [*stalled, 9 * RATE, *stalled]
    late = [*[2 * RATE] * 8, *steady[: SECONDS - AT - 22]]
    return {
        "back": add(factory, [*steady[:AT], *stalled, *[2 * RATE] * 8, *steady[: SECONDS - AT - 16]]),
        "late burst": add(factory, [*steady[:AT], *burst, *steady[: SECONDS - AT - 17]]),
        "gone": add(factory, [*steady[:AT], *[0] * (SECONDS - AT)], failed=7, found=8990),
        "unhurt": add(factory, steady),
        "delayed": add(factory, [*steady[: AT + 6], *stalled, *late]),
        "host of 1": lost_host(factory, "b1-v1-flash", 14),
        "host of 2": lost_host(factory, "b1-v2-flash", 6),
    }  # fmt: skip
