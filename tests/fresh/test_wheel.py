"""The wheel in a fresh environment, away from the checkout: `study`, its extras, and DAGs as a bundle."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.stack.stack import cache_root
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.shipped import shipped_studies
from tests.support.receivers import Hook, serving

CHECKOUT = Path(__file__).parents[2]
UV = CHECKOUT / ".uv" / "bin" / "uv"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
CORE_COMMANDS = (
    "--help",
    "plan quickstart",
    "init first.yaml --provider local --densities 1,2 --memory-gib 6 --repetitions 1",
    "plan first.yaml",
    "list",
    "schema",
    "reap --dry-run",
    "capacity fit --points {examples}/points.csv -o model.json",
    "capacity size --genomes-per-day 20 --hosts {examples}/catalog.yaml --model model.json --draws 100",
)
NEED_EXTRAS = {
    "run quickstart": "airflow,spark,report",
    "airflow": "airflow,spark,report",
    "notify {folder}/told.yaml": "airflow",
    "report": "spark,report",
    "capacity whatif --genomes-per-day 20 --hosts {examples}/catalog.yaml --model model.json --draws 100 "
    "-o chart.svg": "report",
}


class Installed:
    """The wheel in an environment of its own. Commands run in an empty folder, as a user without settings."""

    def __init__(self, folder: Path, wheel: Path, extras: str = "") -> None:
        self.folder, self.home = folder / "here", folder / "home"
        for path in (self.folder, self.home):
            path.mkdir(parents=True)
        self.bin = folder / "env" / "bin"
        _uv("venv", "--python", sys.executable, str(self.bin.parent))
        what = f"density-study{extras} @ {wheel.as_uri()}"
        _uv("pip", "install", "--python", str(self.bin / "python"), what)
        (self.packages,) = self.bin.parent.glob("lib/python*/site-packages/density_study")
        (self.folder / "told.yaml").write_text(
            shipped_studies()["quickstart"].read_text() + "notify: [{webhook: hook}]\n"
        )

    def run(
        self, program: str, *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        clean |= {key: os.environ[key] for key in ("JAVA_HOME",) if key in os.environ}
        clean |= {"DENSITY_STUDY_CACHE": str(cache_root()), "NO_PROXY": "127.0.0.1"}
        return subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=self.folder,
            env=clean | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def study(self, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        examples = self.packages / "analysis" / "capacity" / "inputs" / "examples"
        filled = line.format(examples=examples, folder=self.folder)
        return self.run("study", *filled.split(), **environment)

    def own_files(self) -> set[str]:
        """Everything of the installed packages but byte code, which Python adds."""
        all_packages = self.packages.parent
        files = (str(path.relative_to(all_packages)) for path in all_packages.rglob("*"))
        return {name for name in files if "__pycache__" not in name}


def _uv(*arguments: str) -> None:
    done = subprocess.run([str(UV), "-q", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "docs.generator"], cwd=CHECKOUT, check=True)
    _uv("build", "--wheel", "--out-dir", str(folder), str(CHECKOUT))
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    return Installed(tmp_path_factory.mktemp("core"), wheel)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Iterator[Installed]:
    yield Installed(tmp_path_factory.mktemp("all"), wheel, "[all]")


def test_without_extras_studies_are_written_planned_and_sized(core: Installed) -> None:
    before = core.own_files()
    for line in CORE_COMMANDS:
        done = core.study(line)
        assert done.returncode == 0, f"study {line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    schema = re.search(r"\$schema=(\S+)", (core.folder / "first.yaml").read_text())
    assert schema and json.loads(Path(schema[1]).read_text())["$defs"]
    assert core.own_files() == before, "nothing is written into the packages"


@pytest.mark.parametrize(("line", "extras"), NEED_EXTRAS.items())
def test_a_command_without_its_extra_names_it(core: Installed, line: str, extras: str) -> None:
    done = core.study(line)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"pip install 'density-study[{extras}]'" in done.stderr.replace("\n", "")


def test_no_message_speaks_of_the_checkout(core: Installed) -> None:
    files = [path for room in ("cluster", "workloads", "analysis", "jobs", "dags")
             for path in (core.packages / room).rglob("*.py")]  # fmt: skip
    assert len(files) > 300
    own = [path.name for path in files if "make setup" in path.read_text(encoding="utf-8")]
    assert own == ["requirements.py"], "which only a checkout runs"


def test_databases_and_runs_are_in_the_users_folder(complete: Installed) -> None:
    before = complete.own_files()
    done = complete.study("setup")
    assert done.returncode == 0, done.stderr[-3000:]
    assert (complete.home / "density-study" / ".airflow" / "command.db").exists()
    moved = complete.study("setup", DENSITY_STUDY_HOME=str(complete.folder / "base"))
    assert moved.returncode == 0
    assert (complete.folder / "base" / ".airflow" / "command.db").exists()
    assert complete.own_files() == before


def test_messages_are_sent(complete: Installed) -> None:
    with serving(Hook()) as hook:
        done = complete.study("notify told.yaml", AIRFLOW_CONN_HOOK=hook.address)
        assert done.returncode == 0, done.stdout + done.stderr
        assert [body["event"] for body in hook.bodies] == ["test"]


def test_the_dags_are_a_bundle_for_any_airflow(complete: Installed) -> None:
    """An Airflow that somebody else configured, with the bundle of docs/how-to/your-own-airflow.md."""
    page = (CHECKOUT / "docs" / "how-to" / "your-own-airflow.md").read_text(encoding="utf-8")
    (bundle,) = re.findall(r"dag_bundle_config_list = (\[.*?\n?\])\n", page, re.S)
    place = complete.run(
        "python", "-c", "from density_study import dags; print(dags.__path__[0])"
    ).stdout.strip()
    environment = {
        "AIRFLOW_HOME": str(complete.folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": bundle.replace("DAGS", place),
    }
    for line in ("db migrate", "dag-processor --num-runs 1"):
        done = complete.run("airflow", *line.split(), **environment)
        assert done.returncode == 0, done.stderr[-3000:]
    listed = complete.run("airflow", "dags", "list", "-o", "json", **environment).stdout
    rows = json.loads(listed[listed.index("[{") :])
    assert {"capacity_plan", "reap_clusters"} < {row["dag_id"] for row in rows}
    assert {row["bundle_name"] for row in rows} == {"density-study"}
    errors = complete.run("airflow", "dags", "list-import-errors", **environment)
    assert "No data found" in errors.stdout, errors.stdout


@pytest.mark.live
def test_a_study_runs_from_the_package_alone(complete: Installed) -> None:
    """Real daemons, through Airflow and Spark to the report."""
    before = complete.own_files()
    done = complete.study("run quickstart")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (report,) = (complete.folder / "runs" / "quickstart").glob("*Z/report/index.html")
    summary = json.loads(report.with_name("summary.json").read_text())
    plan = plan_study(shipped_studies()["quickstart"]).plan
    assert len(summary["trials"]) == len(plan.trials)
    assert complete.own_files() == before
