"""A workload from another package: one folder, one entry point, no edit of this project."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.summarise.analysed_run import labels
from density_study.cluster.model.errors import InputError
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.study import registry
from density_study.workloads.study.registry import parse_test_case
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import draft

CODE = """
from pydantic import Field
from density_study.workloads.base.metric import MetricKind
from density_study.workloads.base.test_case import TestCase, WorkloadSpec
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared, WorkloadKind


class SleepTestCase(TestCase):
    workload: str = "sleep"
    seconds: int

    @property
    def id(self):
        return f"sleep-{self.seconds}"

    @property
    def label(self):
        return "Sleep"

    @property
    def mode_name(self):
        return "sleep"

    @property
    def estimate_s(self):
        return float(self.seconds)


class SleepSpec(WorkloadSpec):
    seconds: tuple[int, ...] = Field(description="how long to sleep")

    def test_cases(self):
        return tuple(SleepTestCase(seconds=seconds) for seconds in self.seconds)


class Sleep:
    def prepare(self, context, test_case):
        return Prepared(data_set_mib=0.0)

    def run(self, context, test_case):
        return ()

    def collect(self, context, test_case, prepared):
        return Collected()


SLEEP = WorkloadKind(
    name="sleep", title="Sleep", specs={"sleep": SleepSpec}, test_case=SleepTestCase, runner=Sleep,
    metrics=(MetricKind("nap_rate", "naps/s", "naps", "naps for each second"),),
    rate="nap_rate", rate_words="naps per second", rates_title="Naps", rates_caption="By density.",
)
NOT_A_KIND = 1
"""
GROUP = "density_study.workloads"
STUDY = """
study: naps
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1, 2]}
workloads:
  - sleep: {seconds: [10, 20]}
  - testdfsio: {modes: [write], files: 2, file_size: 64 MiB}
repetitions: 2
"""


def install(folder: Path, points: str) -> None:
    """The files of an installed package on the Python path."""
    (folder / "sleep_workload.py").write_text(CODE)
    info = folder / "sleep_workload-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sleep-workload\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages; the registry is reloaded before and after."""
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.kinds.cache_clear()
    yield tmp_path
    registry.kinds.cache_clear()
    sys.modules.pop("sleep_workload", None)


def study(folder: Path, spec: str) -> subprocess.CompletedProcess[str]:
    """`study plan` in its own process, which finds the packages in `folder`."""
    (folder / "naps.yaml").write_text(spec)
    command = "from density_study.dags.cli.main import main; main()"
    paths = os.pathsep.join([str(folder), str(Path(__file__).parents[3])])
    return subprocess.run(
        [sys.executable, "-c", command, "plan", "naps.yaml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.thorough
def test_a_study_plans_trials_of_a_workload_from_another_package(packages: Path) -> None:
    install(packages, "sleep = sleep_workload:SLEEP")
    done = study(packages, STUDY)
    assert done.returncode == 0, done.stderr
    for test_case in ("sleep-10", "sleep-20", "testdfsio-write-n2"):
        assert done.stdout.count(test_case) == 4  # two repetitions of two densities


@pytest.mark.thorough
def test_a_misspelt_key_of_that_workload_is_an_error_with_its_line(packages: Path) -> None:
    install(packages, "sleep = sleep_workload:SLEEP")
    done = study(packages, STUDY.replace("seconds:", "second:"))
    assert done.returncode == 2
    assert "naps.yaml:6, key workloads[0].sleep.second" in done.stderr
    assert "did you mean seconds?" in done.stderr


def test_its_manifest_is_written_and_read_with_every_knob(packages: Path) -> None:
    before = draft("t1")  # of a study whose model was built without the package
    registry.kinds.cache_clear()
    install(packages, "sleep = sleep_workload:SLEEP")
    test_case = registry.kind_of("sleep").test_case.model_validate({"seconds": 10})
    manifest = before.model_copy(update={"test_case": test_case, "test_case_id": test_case.id})
    again = Manifest.model_validate_json(manifest.model_dump_json())
    assert again.test_case == test_case
    assert again.test_case.table_row() == {"workload": "sleep"}
    assert labels({test_case.id: again.test_case}) == {"sleep-10": "Sleep"}


def test_without_the_package_its_key_and_test_cases_are_unknown() -> None:
    with pytest.raises(InputError, match="unknown key 'sleep'"):
        parse_study(STUDY, "naps.yaml")
    with pytest.raises(ValueError, match="no workload 'sleep' is registered"):
        parse_test_case({"workload": "sleep", "seconds": 10})


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ("a = sleep_workload:SLEEP\nb = sleep_workload:SLEEP", "registered twice"),
        ("a = sleep_workload:NOT_A_KIND", "is not a WorkloadKind"),
        ("a = sleep_workload:GONE", "has no attribute 'GONE'"),
        ("a = no_such_package:SLEEP", "No module named 'no_such_package'"),
    ],
)
def test_an_unusable_entry_point_is_named(packages: Path, points: str, fault: str) -> None:
    install(packages, points)
    with pytest.raises(InputError, match=fault) as caught:
        registry.kinds()
    assert GROUP in caught.value.where
