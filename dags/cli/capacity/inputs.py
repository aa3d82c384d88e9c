"""What `study capacity size` and `whatif` are given, read and checked. Imports wait until a command runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import RUNS, option

if TYPE_CHECKING:
    from density_study.analysis.capacity.curves.model import Model
    from density_study.analysis.capacity.inputs.catalogue import Catalogue
    from density_study.analysis.capacity.inputs.profile import Profile
    from density_study.analysis.capacity.inputs.question import Question
    from density_study.analysis.capacity.operations.load import Load
    from density_study.analysis.capacity.sizing.growth import Growth

SEED = 20130226
PROFILE = "wgs30x"
Mix = Annotated[
    str | None, option("--mix", "MIX|GROUP", "For operations: YCSB's mix, or a measured group.")
]
ReadP99 = Annotated[
    str | None, option("--read-p99", "TIME", "For operations: short for --slo read_p99=TIME.")
]
DataGib = Annotated[
    float | None,
    typer.Option("--data-gib", help="For operations: size of the table, before 3 replicas."),
]
Split = Annotated[
    bool,
    typer.Option(
        "--split",
        help="For operations: several clusters without a common table may share the load.",
    ),
]


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    csv = "csv"
    slurm = "slurm"
    nextflow_config = "nextflow-config"


@dataclass(frozen=True)
class PlanOptions:
    """Options as typed that all commands share which size a cluster. The methods read and check them.
    InputError for an invalid one."""

    model: Path
    profile: str
    slo: list[str] | None
    mapped: list[str] | None
    draws: int
    seed: int

    def genomes(self, per_day: float) -> tuple[Question, Model, Profile]:
        from density_study.analysis.capacity.curves.model import read_model
        from density_study.analysis.capacity.inputs.question import parse_promises, question

        promises = parse_promises(self.slo or [])
        wanted = question(per_day, promises, self.mapped or [], self.draws, self.seed)
        return wanted, read_model(self.model), _profile(self.profile)

    def plan_of(self, per_day: float, hosts: Path) -> tuple[Question, Model, Profile, Catalogue]:
        """With the hosts of a catalogue."""
        from density_study.analysis.capacity.inputs.catalogue import read_catalogue

        return (*self.genomes(per_day), read_catalogue(hosts))

    def grown(
        self, today: float | None, growth: str, years: int
    ) -> tuple[tuple[Question, Model, Profile], Growth | None]:
        """Without the load of today there is no growth."""
        from density_study.analysis.capacity.sizing.growth import growth as growth_of

        grows = growth_of(1.0 if today is None else today, growth, years)
        if today is None and grows.per_year:
            raise InputError(
                "growth of an unknown load.", "--growth", "give the load of today, --today N."
            )
        return self.genomes(today or 1.0), None if today is None else grows

    def operations(
        self, ops: str, mix: str | None, read_p99: str | None, data_gib: float | None, split: bool
    ) -> tuple[Load, Model]:
        """A load of operations, `ops` as `250k/s`."""
        from density_study.analysis.capacity.curves.model import read_model
        from density_study.analysis.capacity.operations.load import load

        if mix is None:
            raise InputError(
                "operations of an unknown mix.", "--mix", "name the measured mix: --mix a."
            )
        slos = [*(self.slo or []), *([] if read_p99 is None else [f"read_p99={read_p99}"])]
        fitted = read_model(self.model)
        return load(
            ops, mix, slos, fitted, split=split, data_gib=data_gib, draws=self.draws, seed=self.seed
        ), fitted


def refuse_unused(load: str, **given: object) -> None:
    """InputError for an option that this load does not use; `given` has the values by names of parameters."""
    names = ", ".join(f"--{name.replace('_', '-')}" for name, value in given.items() if value)
    if names:
        raise InputError(f"{load} do not use {names}.", "study capacity", "leave it out.")


def _profile(name: str) -> Profile:
    """A shipped profile, a file, or `measured:RUN`."""
    from density_study.analysis.capacity.inputs.measured import PREFIX, measured_profile
    from density_study.analysis.capacity.inputs.profile import read_profile

    if not name.startswith(PREFIX):
        return read_profile(name)
    return measured_profile(analysed_run(Path(name.removeprefix(PREFIX))))


def analysed_run(named: Path) -> Path:
    """The folder of a run, named as everywhere. A copied run may have only its tables."""
    from density_study.dags.run_status.status import find_root

    return named if (named / "tables").is_dir() else find_root(named, RUNS)
