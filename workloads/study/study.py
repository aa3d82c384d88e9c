"""`Study`: a question and everything needed to answer it, validated from one YAML file."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationInfo, field_validator, model_validator

from density_study.cluster.model.secrets import has_login
from density_study.workloads.base.checked import FaultyKeyError, is_recorded, leaves, no_duplicates
from density_study.workloads.monitors import MONITORS
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.hypotheses import Expectation
from density_study.workloads.study.keys import StudyKeys, spec_models
from density_study.workloads.study.memory_sizes import sized_by_memory
from density_study.workloads.study.providers.registry import check_provider, filled, rules_of
from density_study.workloads.study.rules.duet import KEY as DUET
from density_study.workloads.study.rules.duet import check_duet
from density_study.workloads.study.rules.stores import check_stores

MAX_TOPOLOGIES = 100
MAX_TEST_CASES = 500
PERIOD, ALSO = "monitor.period", "monitor.also"
_NOT_IN_IDS = (
    "; file_size is not part of a test case's id: change `files`, or write a separate study"
)


class Study(StudyKeys):
    """A study file. Unknown keys are rejected, and every quantity has a unit."""

    @model_validator(mode="before")
    @classmethod
    def _without_passwords(cls, value: Any) -> Any:
        for path, text in leaves(value):
            if isinstance(text, str) and has_login(text):
                raise FaultyKeyError(
                    "this looks like a secret: an address with a password. A study is stored with its runs",
                    *path,
                )
        return value

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, value: Any) -> Any:
        return filled(value) if isinstance(value, dict) else value

    @model_validator(mode="before")
    @classmethod
    def _sized(cls, value: Any) -> Any:
        return sized_by_memory(value, spec_models())

    @model_validator(mode="after")
    def _coherent(self, info: ValidationInfo) -> Study:
        no_duplicates("host name", [host.name for host in self.hosts], "hosts")
        topologies = self.factors.variants_per_disk_type
        if topologies > MAX_TOPOLOGIES:
            raise FaultyKeyError(
                f"the factors make {topologies} topologies per disk type; the maximum is "
                f"{MAX_TOPOLOGIES}",
                "factors",
            )
        self._check_workloads()
        for index, host in enumerate(self.hosts):
            what, paths = f"disk of host {host.name!r}", [disk.path for disk in host.disks]
            no_duplicates(what, paths, "hosts", index, "disks")
        if rules_of(self.provider).builds:
            self._check_roles()
            if not is_recorded(info):
                self._check_masters()
        elif self.quiet:
            raise FaultyKeyError("nothing is set on the hosts of an existing cluster", "quiet")
        check_provider(self)
        check_stores(self)
        check_duet(self)
        for factor in factors().values():
            factor.check(self)
        return self

    @property
    def knobs(self) -> dict[str, str | float]:
        """What it sets for the trials of all its test cases, by key."""
        turns = {} if self.duet is None else {DUET: self.duet}
        also = ", ".join(sorted(set(self.monitor.also) - MONITORS.keys())) or "none"
        quiet = "yes" if self.quiet else "no"
        return {"quiet": quiet, PERIOD: self.monitor.period, ALSO: also, **turns}

    def _check_roles(self) -> None:
        for role in ("master", "worker", "client"):
            if not any(role in host.roles for host in self.hosts):
                raise FaultyKeyError(f"no host has the role {role!r}", "hosts", 0, "roles")
        if not any(host.disks for host in self.hosts if "worker" in host.roles):
            raise FaultyKeyError("no host with the role 'worker' has a disk", "hosts", 0, "disks")

    def _check_masters(self) -> None:
        masters = [index for index, host in enumerate(self.hosts) if "master" in host.roles]
        if len(masters) > 1:
            first, second = (self.hosts[index].name for index in masters[:2])
            raise FaultyKeyError(
                f"hosts {first!r} and {second!r} are both master, and a build has one: remove the role from "
                "all but one host",
                *("hosts", masters[1], "roles"),
            )

    def _check_workloads(self) -> None:
        for key, spec in spec_models().items():
            if not spec.repeatable and sum(entry.key == key for entry in self.workloads) > 1:
                raise FaultyKeyError(
                    f"duplicate workload {key!r}: write one entry with all its test cases",
                    "workloads",
                )
        test_cases = self.test_cases()
        if len(test_cases) > MAX_TEST_CASES:
            raise FaultyKeyError(
                f"the workloads expand to {len(test_cases)} test cases; the maximum is {MAX_TEST_CASES}",
                "workloads",
            )
        no_duplicates("test case", [s.id for s in test_cases], "workloads", why=_NOT_IN_IDS)
        for test_case in test_cases:
            if self.monitor.period > test_case.window_s:
                raise FaultyKeyError(
                    f"{self.monitor.period:g} s is longer than a trial of {test_case.id}, "
                    f"{test_case.window_s:g} s",
                    *("monitor", "period"),
                )

    @field_validator("expect")
    @classmethod
    def _answerable(
        cls, expect: tuple[Expectation, ...], info: ValidationInfo
    ) -> tuple[Expectation, ...]:
        """Each hypothesis names levels and a workload of the study."""
        no_duplicates("name", [expectation.name for expectation in expect])
        compared, entries = info.data.get("factors"), info.data.get("workloads")
        if compared is None or entries is None:
            return expect  # they are invalid, and their own error comes first
        modes = {test_case.mode_name for entry in entries for test_case in entry.test_cases()}
        for expectation in expect:
            name, factor = expectation.name, expectation.compare
            levels = compared.levels(factor) or factors()[factor].otherwise
            for level in (expectation.first, expectation.later):
                if level not in levels:
                    raise ValueError(
                        f"{name}: factors.{factor} has no {level!r}, only {', '.join(levels) or 'one'}"
                    )
            if expectation.workload not in modes:
                raise ValueError(
                    f"{name}: no workload {expectation.workload!r}, only {', '.join(sorted(modes))}"
                )
        return expect
