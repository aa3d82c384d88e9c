"""`Acts`: what the steps of a run have done since the run was last opened, from its journal.

Older steps belong to clusters that no longer exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Self

from density_study.cluster.state.events import BuildDestroyed, StepEnded, StepStarted, TrialsCleared
from density_study.cluster.state.journal import Journal
from density_study.workloads.planning.plan import Step

Outcome = Literal["ok", "failed", "skipped"]


@dataclass
class Acts:
    """`ended`: the last end of each step, by index. `open`: steps that began and did not end; the caller
    holds the run's lock, so their processes were killed. `cleared`: trials that are to be measured again and
    have not begun. `ready`: builds that came up. `standing`: builds of which something may stand. `removed`:
    those of `open` whose build was removed since, with all its processes."""

    ended: dict[int, StepEnded] = field(default_factory=dict)
    open: dict[int, StepStarted] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    ready: set[str] = field(default_factory=set)
    standing: set[str] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, journal: Journal) -> Self:
        acts = cls()
        for event in journal.since_opening(StepStarted, StepEnded, TrialsCleared, BuildDestroyed):
            match event:
                case StepStarted():
                    acts._start(event)
                case StepEnded():
                    acts._end(event)
                case TrialsCleared():
                    acts.cleared.update(event.trials)
                case BuildDestroyed() if not acts._comes_up(event.build):
                    acts._destroyed(event.build)
        return acts

    def _comes_up(self, build: str) -> bool:
        """Whether its bring-up is under way: it removes what an earlier one left, and then makes its own."""
        return any((event.kind, event.build) == ("up", build) for event in self.open.values())

    def killed(self, build: str) -> StepStarted | None:
        """A step of the build that was killed since its last bring-up: a client that outlived it may still
        load the cluster."""
        left = (each for index, each in self.open.items() if index not in self.removed)
        return next((each for each in left if each.build == build), None)

    def is_ready(self, build: str) -> bool:
        """Whether the build came up, and nothing has happened since that makes it unusable."""
        return build in self.ready and self.killed(build) is None

    def _destroyed(self, build: str) -> None:
        """Its clients are gone with it, those of killed steps among them."""
        self.standing.discard(build)
        self.ready.discard(build)
        self.removed |= {index for index, each in self.open.items() if each.build == build}

    def _start(self, event: StepStarted) -> None:
        if event.kind == "up":  # whatever an earlier step of the build left is torn down first
            self.open = {n: each for n, each in self.open.items() if each.build != event.build}
            self.standing.add(event.build)
        if event.kind != "trial":
            self.ready.discard(event.build)
        self.open[event.index] = event
        self.removed.discard(event.index)
        self.ended.pop(event.index, None)
        self.cleared.discard(str(event.trial))

    def _end(self, event: StepEnded) -> None:
        self.open.pop(event.index, None)
        self.ended[event.index] = event
        if (event.kind, event.outcome) == ("up", "ok"):
            self.ready.add(event.build)
        if (event.kind, event.outcome) == ("down", "ok"):
            self.standing.discard(event.build)


def began(journal: Journal, step: Step) -> None:
    """Journal that `step` begins."""
    journal.record(StepStarted(
        index=step.index, kind=step.kind, build=step.build, label=step.label, trial=step.trial,
    ))  # fmt: skip


def ended(journal: Journal, step: Step, outcome: Outcome, message: str) -> None:
    """Journal how `step` ended."""
    journal.record(StepEnded(
        index=step.index, kind=step.kind, build=step.build, trial=step.trial,
        outcome=outcome, message=message,
    ))  # fmt: skip
