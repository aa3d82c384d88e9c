"""The searches of a run, from its manifests: which probes each took, and which of them is its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from density_study.workloads.base.search import Ended, Probe, Search, answer_of
from density_study.workloads.record.manifest import Manifest


@dataclass(frozen=True)
class RunSearch:
    """A search on one build. `probes` by trial, in their order. `answer`: the trial that is the answer."""

    test_case: str
    topology: str
    build: str
    search: Search
    probes: dict[str, Probe]
    ended: Ended

    @property
    def answer(self) -> str | None:
        if self.ended.answer is None:
            return None
        number = self.ended.answer.number
        return next(trial for trial, probe in self.probes.items() if probe.number == number)


def searches(manifests: Iterable[Manifest]) -> tuple[RunSearch, ...]:
    """Every search of which a probe left a record, by build and test case."""

    def key(manifest: Manifest) -> tuple[str, str]:
        return manifest.build, manifest.test_case_id

    probing = sorted((m for m in manifests if m.probe), key=lambda m: (*key(m), m.order))
    found = []
    for (build, test_case), same in groupby(probing, key=key):
        group = list(same)
        search = group[0].test_case.sought
        probes = {manifest.trial: manifest.probe for manifest in group if manifest.probe}
        if search is not None:
            ended = answer_of(search, tuple(probes.values()))
            name = group[0].topology.name
            found.append(RunSearch(test_case, name, build, search, probes, ended))
    return tuple(found)


def answers(manifests: Iterable[Manifest]) -> frozenset[str]:
    """The trials that are the answers of their searches."""
    return frozenset(one.answer for one in searches(manifests) if one.answer is not None)
