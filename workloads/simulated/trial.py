"""`SimulatedTrial`: what the model of a client may use during one trial."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np

from density_study.cluster.providers.simulated.noise import draws
from density_study.cluster.providers.simulated.provider import clock_of, rehearsal_of
from density_study.cluster.providers.simulated.rehearsal import Rehearsal
from density_study.cluster.state import atomic
from density_study.cluster.state.clock import SimulatedClock
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.record.record import Record
from density_study.workloads.simulated.models import model_of
from density_study.workloads.simulated.outcome import Outcome

_DONE = "simulated.json"
"""A file in the folder of a build that keeps what it was loaded with and warmed up for."""


class SimulatedTrial:
    def __init__(self, context: TrialContext, test_case: TestCase) -> None:
        assert isinstance(context.record, Record)
        self.context, self.test_case = context, test_case
        self.draft = context.record.draft
        self.raw = context.record.raw

    @cached_property
    def clock(self) -> SimulatedClock:
        return clock_of(self.context.journal)

    @cached_property
    def rehearsal(self) -> Rehearsal:
        return rehearsal_of(self.context.cluster.site)

    @cached_property
    def outcome(self) -> Outcome:
        return self.outcome_of(self.test_case)

    def outcome_of(self, test_case: Any) -> Outcome:
        """The outcome of the same trial with another test case, as for loading its data."""
        draft, topology = self.draft, self.context.cluster.built
        log_speed = self.rehearsal.log_speed(
            topology, test_case.mode_name, draft.repetition, draft.build, draft.trial
        )
        return model_of(test_case).outcome(self.rehearsal, topology, test_case, log_speed)

    def rng(self, what: str) -> np.random.Generator:
        return draws(self.rehearsal.seed, what, self.draft.trial)

    def is_done(self, what: str) -> bool:
        """Whether an earlier trial of the build did it. From now on it is done."""
        path = self.context.cluster.site.root / _DONE
        done = json.loads(path.read_text()) if path.exists() else []
        if what not in done:
            atomic.write_text(path, json.dumps([*done, what]))
        return what in done
