"""A workload and monitors without processes."""

from __future__ import annotations

from typing import Any

from density_study.workloads.base.values import ClientRun, ColdProof
from density_study.workloads.base.workload import Collected, Prepared, TrialContext

COLD, PROVED = ColdProof(method="evicted"), ColdProof(method="evicted", physical_read_bytes=5)


class Runner:
    """A workload that fails in one phase, or whose client exits with `exit_code`."""

    def __init__(self, fails: str = "", error: Exception | None = None, exit_code: int = 0) -> None:
        self.fails, self.error, self.exit_code = fails, error, exit_code

    def _phase(self, name: str) -> None:
        if self.fails == name and self.error is not None:
            raise self.error

    def prepare(self, context: TrialContext, test_case: Any) -> Prepared:
        self._phase("prepare")
        return Prepared(data_set_mib=7.0, cold=COLD, state={"io": 1})

    def run(self, context: TrialContext, test_case: Any) -> tuple[ClientRun, ...]:
        self._phase("run")
        times = {"start_epoch_s": 10.0, "end_epoch_s": 12.5}
        return (ClientRun(name="c", node="m1", argv=(), exit_code=self.exit_code, stdout="raw/c.out",
                          stderr="raw/c.err", **times),)  # fmt: skip

    def collect(self, context: TrialContext, test_case: Any, prepared: Prepared) -> Collected:
        self._phase("collect")
        return Collected(cold=PROVED, state={"io": 2})


class Monitors:
    clock = ()

    def __init__(self, *_: Any) -> None: ...

    def start(self) -> None: ...

    def stop(self, window_end_s: float | None) -> tuple[()]:
        return ()
