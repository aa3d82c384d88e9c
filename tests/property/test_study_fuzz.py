"""`study plan` plans any damaged study file or refuses it as bad input, in bounded time. It starts no
program, writes no file, talks to nobody and imports nothing that the file names.

STUDY_FUZZ=100000 .venv/bin/pytest -n 2 -m slow tests/property/test_study_fuzz.py

Each finding becomes a test in unit/test_bad_yaml.py.
"""

from __future__ import annotations

import io
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from density_study.workloads.base.test_case import LIMIT_IN_ESTIMATES
from density_study.workloads.planning import planned_study
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.conftest import HangError
from tests.property.support.company_studies import company_study
from tests.property.support.study_mutations import mutated
from tests.support.hostile.watcher import watching

SHORT = 2000
ALL = int(os.environ.get("STUDY_FUZZ", "100000"))
PARTS = 8
"""Each is in a group of `make prove` of its own."""
COMPANIES = 40
MAX_CPU_S, MAX_S = 20, 600
"""A plan takes at most a second of processor time; a busy or slow machine is not a hang."""


@contextmanager
def watchdog() -> Iterator[None]:
    def hang(*_: object) -> None:
        raise HangError

    before = {kind: signal.signal(kind, hang) for kind in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
    signal.alarm(MAX_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for kind, handler in before.items():
            signal.signal(kind, handler)


def outcome(seed: int, folder: Path) -> str:
    spec = folder / "mutated.yaml"
    spec.write_text(mutated(seed), encoding="utf-8", errors="surrogatepass")
    with watchdog(), watching() as seen:
        said = _planned(seed, spec, folder)
    assert not seen, (f"study_mutations.mutated({seed})", seen)
    return said


def _planned(seed: int, spec: Path, folder: Path) -> str:
    try:
        main.plan(spec, folder / "runs", None, None, 1.2)
    except InputError as error:
        assert error.what and error.remedy and error.exit_code == 2
        assert len(str(error)) < 4000
        return "refused"
    except Exception as error:
        error.add_note(f"seed {seed} of {spec.stem}")
        raise
    return "planned"


def outcomes(seeds: range, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    monkeypatch.setattr(main, "out", Console(file=io.StringIO()))
    monkeypatch.setenv("HOME", str(folder))  # an unreadable known_hosts: no host is contacted
    import croniter  # noqa: F401  # on import, it asks the command `file` for the size of a word
    import urllib3  # noqa: F401  # on import, it looks whether it may listen on ::1

    counts = Counter(outcome(seed, folder) for seed in seeds)
    assert [path.name for path in folder.iterdir()] == ["mutated.yaml"]  # no file was written
    return counts


@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 16))]
)
def test_a_damaged_study_is_planned_or_refused(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = range(part * SHORT // 16, (part + 1) * SHORT // 16)
    counts = outcomes(seeds, tmp_path, monkeypatch)
    assert counts["planned"] > len(seeds) // 40 and counts["refused"] > len(seeds) // 4


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(PARTS))
def test_all_damaged_studies_are_planned_or_refused(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = range(SHORT + part * ALL // PARTS, SHORT + (part + 1) * ALL // PARTS)
    counts = outcomes(seeds, tmp_path, monkeypatch)
    assert counts.total() == len(seeds) and counts["planned"] and counts["refused"]


@pytest.mark.timeout(0)
def test_a_study_of_company_hosts_is_planned_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts are taken as declared: nobody is asked. Each plan is printed within `MAX_CPU_S`."""
    monkeypatch.setattr(main, "out", Console(file=io.StringIO()))
    monkeypatch.setattr(planned_study, "planned_hosts", lambda study, _: assumed_hosts(study))
    spec, said = tmp_path / "company.yaml", Counter[str]()
    for seed in range(COMPANIES):
        spec.write_text(company_study(seed), encoding="utf-8")
        with watchdog():
            said[_planned(seed, spec, tmp_path)] += 1
    assert min(said["planned"], said["refused"]) > COMPANIES // 8


@given(st.integers(0, 10**6))
def test_no_limit_is_below_the_plans_estimate(seed: int) -> None:
    """It would be ended before the plan says that it ends."""
    try:
        study = parse_study(company_study(seed), "company.yaml").study
        plan = make_plan(study, assumed_hosts(study))
    except InputError:
        return  # its hosts are too small
    for step in plan.trials:
        case, topology = step.test_case, plan.topology_of(step.build)
        assert case is not None and case.limit_on(topology) >= step.estimate_s
        if isinstance(case, YcsbTestCase):
            prepared_s = case.prepare_estimate_s(topology, is_written=False)
            loaded_s = prepared_s - case.limited_compaction_s(topology)
            assert case.load_limit_on(topology) >= 0.999 * LIMIT_IN_ESTIMATES * loaded_s
        if isinstance(case, DfsioTestCase):
            estimate_s = case.estimate_on(topology)
            assert case.job_limit_on(topology) >= LIMIT_IN_ESTIMATES * estimate_s
