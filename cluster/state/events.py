"""The events of a run's journal that the program reads back. Other lines are for people only.

Standard library only: the SSH agent carries this module to hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Literal

Accel = Literal["kvm", "tcg"]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line. `t` is the time of writing in epoch seconds; the journal sets it.

    A line without a class of its own is read as a plain `Event`.
    """

    event: ClassVar[str] = ""
    t: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The line's own keys. An optional field that is not set is left out."""
        own = ((f, getattr(self, f.name)) for f in fields(self) if f.name != "t")
        return {f.name: value for f, value in own if value is not None or f.default is MISSING}


@dataclass(frozen=True, kw_only=True)
class Intent(Event):
    """`act` on something outside the run's folder is about to begin. Acts use the fields they need."""

    event: ClassVar[str] = "intent"
    act: str
    tag: str = ""
    build: str = ""
    provider: str = ""
    ports: Sequence[tuple[str, int]] = ()
    reach: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    work: str = ""
    path: str = ""
    aside: str = ""
    host: str = ""
    uri: str = ""


@dataclass(frozen=True, kw_only=True)
class RunOpened(Event):
    event: ClassVar[str] = "run-opened"
    study: str
    run: str
    tag: str
    owner: Mapping[str, Any] | None = None
    resumed: bool = False


@dataclass(frozen=True, kw_only=True)
class RunEnded(Event):
    """`finished`: no step is left. `repetitions`: how many the plan had then."""

    event: ClassVar[str] = "run-ended"
    outcome: str
    message: str
    repetitions: int | None = None
    finished: bool = True


@dataclass(frozen=True, kw_only=True)
class OwnerDeclaredDead(Event):
    """`study reap --force`: a person knows what cannot be seen from here."""

    event: ClassVar[str] = "owner-declared-dead"
    owner: str


@dataclass(frozen=True, kw_only=True)
class StepStarted(Event):
    event: ClassVar[str] = "step-started"
    index: int
    kind: str
    build: str
    label: str
    trial: str | None


@dataclass(frozen=True, kw_only=True)
class StepEnded(Event):
    event: ClassVar[str] = "step-ended"
    index: int
    kind: str
    build: str
    trial: str | None
    outcome: str
    message: str


@dataclass(frozen=True, kw_only=True)
class TrialState(Event):
    event: ClassVar[str] = "trial-state"
    trial: str
    state: str
    outcome: str | None = None


@dataclass(frozen=True, kw_only=True)
class TornDown(Event):
    """The last step of a run: everything it made is gone, or `message` says what is not."""

    event: ClassVar[str] = "tear-down"
    outcome: str
    message: str


@dataclass(frozen=True, kw_only=True)
class AnalysisStarted(Event):
    event: ClassVar[str] = "analysis-started"
    stage: str


@dataclass(frozen=True, kw_only=True)
class AnalysisEnded(Event):
    event: ClassVar[str] = "analysis-ended"
    stage: str


@dataclass(frozen=True, kw_only=True)
class PhaseEnded(Event):
    event: ClassVar[str] = "phase"
    build: str
    tag: str
    name: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class BuildReady(Event):
    event: ClassVar[str] = "build-ready"
    build: str
    tag: str


@dataclass(frozen=True, kw_only=True)
class BuildDestroyed(Event):
    event: ClassVar[str] = "destroyed"
    build: str
    tag: str
    proof: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Acceleration(Event):
    """How the guests of one libvirt run, and what was seen (`why`)."""

    event: ClassVar[str] = "acceleration"
    uri: str
    tag: str
    accel: Accel
    why: str
    kernel_arguments: str = ""


@dataclass(frozen=True, kw_only=True)
class DiskEmulated(Event):
    """A disk has limits, and reads proved them; `told` holds limits and figures for the disclosure."""

    event: ClassVar[str] = "emulated"
    tag: str
    disk: str
    told: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class GuestsUp(Event):
    event: ClassVar[str] = "guests-up"
    tag: str
    seconds: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class GuestReach(Event):
    """`target`: the SSH server of the guest `node`."""

    event: ClassVar[str] = "reach"
    tag: str
    node: str
    target: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class HostReach(Event):
    """`target`: the SSH server of a host of guests. `work`: the program's folder there."""

    event: ClassVar[str] = "reach-host"
    tag: str
    target: Mapping[str, Any]
    work: str


_CLASSES = {kind.event: kind for kind in Event.__subclasses__()}


def event_of(line: Mapping[str, Any]) -> Event:
    """The event of a line. Keys without a field of that name are left out."""
    kind = _CLASSES.get(line["event"], Event)
    names = {f.name for f in fields(kind)}
    return kind(**{key: value for key, value in line.items() if key in names})
