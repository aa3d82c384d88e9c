"""The events of a run's journal that the program reads back. Other lines are for people only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from density_study.cluster.model.host import Target
from density_study.cluster.model.plain import counted
from density_study.cluster.old_names import present_key
from density_study.cluster.state.owner import Owner

Accel = Literal["kvm", "tcg"]
KeepWhen = Literal["on-failure", "always"]
Epoch = Annotated[float, Field(ge=0, le=2**34, allow_inf_nan=False)]
"""Seconds until 2514: a calendar has a date for each, and 64 bits hold nanoseconds."""
Seconds = Epoch
"""For a duration, with the same bounds."""
_CLASSES: dict[str, type[Event]] = {}


class Event(BaseModel):
    """One line. `t` is the time of writing in epoch seconds; the journal sets it.

    A line without a class of its own is read as a plain `Event`.
    """

    model_config = ConfigDict(frozen=True)
    event: ClassVar[str] = ""
    t: Epoch = 0.0

    def __init_subclass__(cls, event: str, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.event = event
        _CLASSES[event] = cls


def event_of(line: Mapping[str, Any]) -> Event:
    """The event of a line. Keys that its class does not have are left out. ValueError if it is none."""
    name = line.get("event") if isinstance(line, Mapping) else None
    if not isinstance(name, str):
        raise ValueError("it does not name its event")
    kind = _CLASSES.get(name, Event)
    present = {present_key(key, kind.model_fields): value for key, value in line.items()}
    return kind.model_validate(present)


class Intent(Event, event="intent"):
    """`act` on something outside the run's folder is about to begin. Acts use the fields they need."""

    act: str
    tag: str = ""
    build: str = ""
    provider: str = ""
    ports: tuple[tuple[str, int], ...] = ()
    path: str = ""
    aside: str = ""
    host: str = ""
    uri: str = ""
    via: str = ""
    node: str = ""
    former: Mapping[str, Any] = {}


class RunOpened(Event, event="run-opened"):
    """`dag_run`: the Airflow DAG run that carries out the run, "<DAG>/<run id>"; empty for `study run`."""

    study: str
    run: str
    tag: str
    owner: Owner | None = None
    resumed: bool = False
    dag_run: str = ""


class RunTagged(Event, event="run-tagged"):
    """`tags` that a person or Airflow gave the run; see `cluster.state.run_tags`."""

    tags: Mapping[str, str]


class RunImported(Event, event="run-imported"):
    """The run's records were made by others."""

    study: str
    run: str
    trials: tuple[str, ...]


class RunEnded(Event, event="run-ended"):
    """`finished`: no step is left. `repetitions`: how many the plan had then."""

    outcome: Literal["ok", "failed"]
    message: str
    repetitions: int | None = None
    finished: bool = True


class Notified(Event, event="notified"):
    """The receivers of the study got a message at the end of the run; `faults` names those that did not.

    `baseline`: the runs that a regression was seen against.
    """

    occasion: Literal["regression", "failure", "recovery"]
    headline: str
    baseline: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class OwnerDeclaredDead(Event, event="owner-declared-dead"):
    """`study reap --force`, or an ended DAG run: somebody knows what cannot be seen from here."""

    owner: str


class RunReaped(Event, event="run-reaped"):
    """Everything of the run is gone, and its hosts are released: reap need not ask them again."""


class StepStarted(Event, event="step-started"):
    index: Annotated[int, Field(ge=0)]
    kind: str
    build: str
    label: str
    trial: str | None


class StepEnded(Event, event="step-ended"):
    index: int
    kind: str
    build: str
    trial: str | None
    outcome: Literal["ok", "failed", "skipped"]
    message: str


class TrialsCleared(Event, event="trials-cleared"):
    """A person cleared these trials in Airflow: each is measured again, as a new attempt."""

    trials: tuple[str, ...]


class TrialState(Event, event="trial-state"):
    trial: str
    state: str
    outcome: str | None = None


class SearchEnded(Event, event="search-ended"):
    """A search of a build is over. `answer`: the load that it found, None: none. `spared`: the trials of the
    probes that it did not need; they leave no record."""

    build: str
    test_case: str
    answer: float | None
    why: str
    spared: tuple[str, ...]


class RepetitionsEnded(Event, event="repetitions-ended"):
    """After this repetition the comparisons were precise enough, or no time was left. `spared`: the trials
    that do not run any more; they leave no record."""

    repetition: int
    why: str
    spared: tuple[str, ...]


class QuestionsLeft(Event, event="questions-left"):
    """After this repetition these questions are answered, and these cannot be decided by the repetitions that
    are left. `spared`: the trials that no other question needs; they leave no record."""

    repetition: int
    answered: tuple[str, ...]
    hopeless: tuple[str, ...]
    spared: tuple[str, ...]

    @property
    def words(self) -> str:
        parts = (("answered", self.answered), ("cannot be decided by what is left", self.hopeless))
        named = "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
        left = named or "no question leaves"
        spared = counted(len(self.spared), "spared trial")
        return f"after {counted(self.repetition, 'repetition')}, {left}; {spared}"


class QuestionNoise(BaseModel):
    """Standard deviation of one build's logarithm around its variant and repetition, as a question's
    comparisons show it, with its 95 % interval. `power`: in the repetitions that are planned; `detects`: the
    smallest ratio that these detect; `enough`: the fewest repetitions with a power of 80 %, None: more than
    1,000."""

    model_config = ConfigDict(frozen=True)
    question: str
    noise: float
    low: float
    high: float
    power: float
    detects: float | None
    enough: int | None

    def words(self, planned: int) -> str:
        enough = "no number up to 1,000" if self.enough is None else f"{self.enough}"
        detects = f", which detect a ratio of {self.detects:.3g}" if self.detects else ""
        ends = f"{self.low:.1%} to {self.high:.1%}"
        return (
            f"{self.question}: noise between builds {self.noise:.1%} ({ends}), power {self.power:.0%} with "
            f"{planned} repetitions{detects}, {enough} would be enough"
        )


class NoiseMeasured(Event, event="noise-measured"):
    """How much builds varied up to this repetition, and what the questions can expect of the `planned` ones.
    `last`: the last repetition from now on, where a budget has a reserve; None: it stays. `spared`: the
    trials after it; they leave no record."""

    repetition: int
    questions: tuple[QuestionNoise, ...]
    planned: int
    last: int | None = None
    spared: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        seen = "; ".join(one.words(self.planned) for one in self.questions)
        most = "" if self.last is None else f"; the run now takes at most {self.last} repetitions"
        return f"after {self.repetition} repetitions, {seen or 'the noise of no question is known'}{most}"


class TornDown(Event, event="tear-down"):
    """The last step of a run: everything it made is gone, or `message` says what is not."""

    outcome: Literal["ok", "failed"]
    message: str


class AnalysisStarted(Event, event="analysis-started"):
    stage: str


class AnalysisEnded(Event, event="analysis-ended"):
    stage: str


class AnalysisFailed(Event, event="analysis-failed"):
    """`message`: in one line, what the stage raised."""

    stage: str
    message: str


class ClusterKept(Event, event="cluster-kept"):
    """The cluster of `build` stands for people. Its keeper takes it down at `until` (epoch seconds)."""

    build: str
    until: Epoch


class KeptReleased(Event, event="kept-released"):
    """People need the kept cluster no more: its keeper takes it down now."""


class KeepAsked(Event, event="keep-asked"):
    """`study run --keep`: which cluster of this opening is kept, and for how many seconds."""

    when: KeepWhen
    seconds: Seconds


def kept_in(events: Iterable[Event]) -> ClusterKept | None:
    """The cluster that is kept after these events of a journal."""
    kept = None
    for event in events:
        if isinstance(event, RunOpened | ClusterKept | KeptReleased):
            kept = event if isinstance(event, ClusterKept) else None
    return kept


class PhasesStarted(Event, event="phases-started"):
    """What runs now of a bring-up. Several: each ends by itself."""

    build: str
    tag: str
    names: tuple[str, ...]


class PhaseState(Event, event="phase-state"):
    """A service that a bring-up waits for answered otherwise than before."""

    build: str
    tag: str
    state: str


class PhaseEnded(Event, event="phase"):
    build: str
    tag: str
    name: str
    seconds: Seconds


class QuietOver(Event, event="quiet-over"):
    """The settings of `host` are again what they were before the trial."""

    tag: str
    host: str


class BuildReady(Event, event="build-ready"):
    build: str
    tag: str


class BuildDestroyed(Event, event="destroyed"):
    build: str
    tag: str
    proof: Mapping[str, Any]


COPIES = "copies"
"""Name of the build whose folders hold copies of tables: they outlive the builds of the plan."""


class TableState(BaseModel):
    """A settled table. servers: that may have regions; None: a journal of an earlier version. most_files: the
    most of one region. locality: share of its blocks on their region's server."""

    model_config = ConfigDict(frozen=True)
    rows: int
    regions: int
    servers: int | None = None
    most_files: int
    mib: int
    locality: float


class TableCopied(Event, event="table-copied"):
    """The store files of a loaded table are in `path` on the client's machine. `state`: of that table."""

    tag: str
    name: str
    path: str
    state: TableState
    seconds: Seconds


class TableNotCopied(Event, event="table-not-copied"):
    """There is no copy of the table `name`. tried: copying failed, and is not tried again; else there was no
    room. Journals of earlier versions have neither `tried` nor `tag`."""

    tag: str = ""
    name: str
    why: str
    tried: bool = False


class TablePutBack(Event, event="table-put-back"):
    """The build of `tag` got its table from the copy `name`, not from a load."""

    tag: str
    name: str
    seconds: Seconds


class ExistingRemoved(Event, event="given-removed"):
    """What the intent of `act` made at `path` of an existing cluster is gone."""

    tag: str
    act: str
    path: str


class Acceleration(Event, event="acceleration"):
    """How the guests of one libvirt run, and what was seen (`why`)."""

    uri: str
    tag: str
    accel: Accel
    why: str
    kernel_arguments: str = ""


class DiskEmulated(Event, event="emulated"):
    """Reads proved the limits of a disk; `proof` holds limits and measured values for the disclosure."""

    tag: str
    disk: str
    proof: Mapping[str, Any]


class ContainerUp(Event, event="container-up"):
    """The container of `node` runs. Its namespaces are those of the process `pid`, which only waits."""

    tag: str
    node: str
    pid: int
    start_ticks: int


class NetworkUp(Event, event="network-up"):
    """Whether the build has a network namespace of its own, or its addresses are this machine's."""

    tag: str
    private: bool


class GuestsUp(Event, event="guests-up"):
    tag: str
    seconds: Mapping[str, float]


class NodeReach(Event, event="reach"):
    """`target`: the SSH server of the machine of `node`."""

    tag: str
    node: str
    target: Target


class HostReach(Event, event="reach-host"):
    """`target`: the SSH server of `node`, a host of guests."""

    tag: str
    node: str
    target: Target
