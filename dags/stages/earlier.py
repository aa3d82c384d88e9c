"""`Earlier`: what a study's earlier runs say of its times and its noise. Does not import Airflow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from density_study.analysis.comparison.history import (
    newest,
    seen_spread,
    spread_within_repetitions,
    summaries,
)
from density_study.analysis.findings.noise_seen import noise_seen
from density_study.analysis.findings.power_of_design import SeenNoise
from density_study.analysis.findings.window_noise import second_seen
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
from density_study.cluster.state.journal import run_folders
from density_study.dags.stages.pace import Pace, pace
from density_study.workloads.execution.run import Run, import_of, load_run, study_of
from density_study.workloads.study.study import Study

NEWEST = 20
"""Runs that are read for their times and noise: hosts and software age."""
WINDOW = 5
"""Number of newest runs of the study that estimate the variation between its builds."""


class Earlier:
    """The runs of a folder, for one study. Journals and summaries are read once, when first needed: those of
    a large study have 50 MiB."""

    def __init__(self, study: Study, runs: Path) -> None:
        self.study = study
        self.runs = runs

    @cached_property
    def pace(self) -> Pace:
        return pace(self._alike)

    @cached_property
    def noise(self) -> SeenNoise:
        """Variation between builds: from the study, else from its newest runs, else from those of other
        studies on the same hosts with the same software, else an assumption."""
        compare = self.study.compare
        if compare is not None and compare.spread is not None:
            return SeenNoise(
                compare.spread, f"{compare.spread:.1%} between builds, set by the study"
            )
        for earlier, words in self._summaries():
            seen = seen_spread(earlier)
            if seen is not None:
                within = spread_within_repetitions(earlier)
                of_repetition = "" if within is None else f", {within:.1%} within a repetition"
                source = f"{seen:.1%} between builds{of_repetition}, seen in earlier runs{words}"
                own = noise_seen(earlier, self.study.hypotheses)
                return SeenNoise(seen, source, within, own, second_seen(earlier))
        return SeenNoise()

    def _summaries(self) -> Iterator[tuple[Sequence[Summary], str]]:
        own = reversed(run_folders(self.runs, self.study.study)[-NEWEST:])
        yield newest(filter(self._is_here, own), WINDOW), ""
        others = [
            run.root
            for run in self._alike
            if run.study.study != self.study.study and self._is_as_noisy(run.study)
        ]
        yield tuple(summaries(others[:WINDOW])), " of other studies here"

    def _is_here(self, root: Path) -> bool:
        """Whether the run has the study's noise; not if nobody knows."""
        with suppress(StudyError, OSError, ValueError):
            study = study_of(root)
            hosts = (study.provider, study.hosts) == (self.study.provider, self.study.hosts)
            return hosts and self._is_as_noisy(study)
        return False

    def _is_as_noisy(self, study: Study) -> bool:
        """Whether both or neither are duets, whose variants share what disturbs their hosts, and on quiet
        hosts."""
        own, its = ((one.duet is None, one.quiet) for one in (self.study, study))
        return own == its

    @cached_property
    def _alike(self) -> tuple[Run, ...]:
        """The newest runs with the study's provider, hosts and software, newest first."""
        return tuple(self._read())

    def _read(self) -> Iterator[Run]:
        wanted = (self.study.provider, self.study.hosts, self.study.stack)
        for root in reversed(run_folders(self.runs)[-NEWEST:]):
            with suppress(StudyError, OSError, ValueError):
                study = study_of(root)
                if (study.provider, study.hosts, study.stack) != wanted:
                    continue
                if not import_of(root) and not is_rehearsal(root):
                    yield load_run(root)
