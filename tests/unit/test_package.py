"""The package: rooms at the top of the checkout are `density_study.<room>`, installed or editable."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy without .venv and without generated files."""
    copy = tmp_path_factory.mktemp("checkout")
    for room in ROOMS:
        shutil.copytree(CHECKOUT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md"):
        shutil.copy(CHECKOUT / name, copy)
    return copy


WITHOUT_EXTRAS = """
import sys
from pathlib import Path
sys.modules |= dict.fromkeys(("pandas", "pyarrow", "pyspark", "airflow", "altair", "duckdb", "hdrh"))
from density_study.analysis import capacity
from density_study.dags.cli.main import app
examples = Path(capacity.__file__).parent / "inputs" / "examples"
app(["capacity", "fit", "--points", str(examples / "points.csv"), "-o", "model.json"], standalone_mode=False)
app(["capacity", "size", "--genomes-per-day", "20", "--hosts", str(examples / "catalog.yaml"),
     "--model", "model.json", "--draws", "100"], standalone_mode=False)
"""


def test_without_extras_a_cluster_is_sized(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WITHOUT_EXTRAS]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def built(checkout: Path, hook: str, site: Path) -> subprocess.CompletedProcess[str]:
    """Runs the backend's hook as pip does, and unpacks what it made into `site`."""
    code = f"import sys; from hatchling.build import {hook}; {hook}(sys.argv[1])"
    argv = [sys.executable, "-c", code, str(site)]
    done = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, check=False)
    for wheel in site.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(site)
    return done


def test_an_editable_install_imports_the_checkouts_files(checkout: Path, tmp_path: Path) -> None:
    assert built(checkout, "build_editable", tmp_path).returncode == 0
    names = ", ".join(f"density_study.{room}" for room in ROOMS)
    code = f"""
import site, sys
site.addsitedir({str(tmp_path)!r})
import {names}
print(density_study.cluster.__file__)
"""
    argv = [sys.executable, "-S", "-c", code]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert Path(done.stdout.strip()).resolve() == checkout / "cluster" / "__init__.py", done.stderr


def test_a_wheel_has_the_generated_pages(checkout: Path, tmp_path: Path) -> None:
    refused = built(checkout, "build_wheel", tmp_path)
    assert refused.returncode != 0 and "run `make docs`" in refused.stderr
    (checkout / "docs" / "reference").mkdir(parents=True)
    for name in ("study.schema.json", "cli.md"):
        (checkout / "docs" / "reference" / name).write_text("{}")
    assert built(checkout, "build_wheel", tmp_path).returncode == 0
    package = tmp_path / "density_study"
    assert {path.name for path in package.iterdir()} == {*ROOMS, "reference"}
    assert (package / "reference" / "study.schema.json").read_text() == "{}"
