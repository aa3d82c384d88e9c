"""The package: rooms at the top of the checkout are `density_study.<room>`, installed or editable."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from hatch_build import UNKNOWN, version_of
from tests.fresh.wheels import changelog_fault

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
sys.modules |= dict.fromkeys(("pandas", "pyarrow", "pyspark", "airflow", "altair", "duckdb", "hdrh"))
"""
IMPORTED = """
from importlib import import_module
from pkgutil import walk_packages
from density_study.analysis.capacity import curves, plan
from density_study.analysis.capacity.sizing import size
from density_study.dags.cli.main import app
for package in (curves, plan):
    for module in walk_packages(package.__path__, package.__name__ + "."):
        import_module(module.name)
"""
SIZED = """
from pathlib import Path
from density_study.analysis import capacity
from density_study.analysis.capacity.sizing import turnaround
from density_study.dags.cli.main import app
turnaround.GENOMES, turnaround.SIMULATIONS = 60, 16
examples = Path(capacity.__file__).parent / "inputs" / "examples"
app(["capacity", "fit", "--points", str(examples / "points.csv"), "-o", "model.json"], standalone_mode=False)
app(["capacity", "size", "--genomes-per-day", "20", "--hosts", str(examples / "catalog.yaml"),
     "--model", "model.json", "--draws", "100"], standalone_mode=False)
"""


@pytest.mark.parametrize(
    "code", [IMPORTED, pytest.param(SIZED, marks=pytest.mark.slow)], ids=["imported", "sized"]
)
def test_without_extras_a_cluster_is_sized(code: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WITHOUT_EXTRAS + code]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def built(checkout: Path, hook: str, site: Path) -> subprocess.CompletedProcess[str]:
    """Runs the backend's hook as pip does, and unpacks what it made into `site`."""
    code = f"import sys; from hatchling.build import {hook}; {hook}(sys.argv[1])"
    argv = [sys.executable, "-c", code, str(site)]
    site.mkdir(exist_ok=True)
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


def test_the_version_is_that_of_the_git_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, capture_output=True, check=True)

    assert version_of(tmp_path) == "0.0.0+unknown"
    git("init")
    git("commit", "--allow-empty", "-m", "first")
    assert re.fullmatch(r"0\.0\.0\.post1\+g[0-9a-f]{7,}", version_of(tmp_path))
    git("tag", "v0.2.0")
    assert version_of(tmp_path) == "0.2.0"
    git("commit", "--allow-empty", "-m", "later")
    assert re.fullmatch(r"0\.2\.0\.post1\+g[0-9a-f]{7,}", version_of(tmp_path))
    git("tag", "v0.3.0-rc1")
    assert version_of(tmp_path) == "0.3.0-rc1", "as installers read 0.3.0rc1"
    git("commit", "--allow-empty", "-m", "later still")
    assert re.fullmatch(r"0\.3\.0-rc1\.post1\+g[0-9a-f]{7,}", version_of(tmp_path))
    monkeypatch.setenv("PATH", "/nonexistent")
    assert version_of(tmp_path) == "0.0.0+unknown", "no git"
    inside = tmp_path / "archive"
    inside.mkdir()
    assert version_of(inside) == "0.0.0+unknown", "the repository around it is another's"
    (inside / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: x\nVersion: 0.2.0\n")
    assert version_of(inside) == "0.2.0"


def test_the_changelog_begins_with_the_version() -> None:
    text = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog_fault(text, version_of(CHECKOUT)) is None


@pytest.mark.parametrize(
    ("top", "version", "fits"),
    [
        ("0.2.0", "0.2.0", True),
        ("Unreleased", "0.2.0", False),
        ("0.1.9", "0.2.0", False),
        ("0.10.0", "0.2.0", False),
        ("0.2.0", UNKNOWN, True),
        ("0.2.0", "0.0.0.post9+g1a2b3c4", True),
        ("0.2.0", "0.2.0.post3+g1a2b3c4", True),
        ("Unreleased", "0.2.0.post3+g1a2b3c4", True),
        ("0.10.0", "0.2.0.post3+g1a2b3c4", True),
        ("0.1.9", "0.2.0.post3+g1a2b3c4", False),
    ],
)
def test_a_release_needs_its_section_of_the_changelog(top: str, version: str, fits: bool) -> None:
    fault = changelog_fault(f"# Changelog\n\n## {top}\n\n### Added\n\n## 0.0.1\n", version)
    assert (fault is None) is fits
    assert fits or (fault is not None and top in fault and version in fault)


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


def test_the_source_archive_of_a_set_up_checkout_builds_the_same_wheel(
    checkout: Path, tmp_path: Path
) -> None:
    """Its links in .editable lead to the same folders."""
    assert built(checkout, "build_editable", tmp_path / "editable").returncode == 0
    assert (checkout / ".editable" / "density_study" / "cluster" / "__init__.py").is_file()
    done = built(checkout, "build_sdist", tmp_path)
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    (source / "docs" / "reference").mkdir(parents=True, exist_ok=True)
    (source / "docs" / "reference" / "study.schema.json").write_text("{}")
    done = built(source, "build_wheel", tmp_path / "wheel")
    assert done.returncode == 0, done.stderr
    for room in ROOMS:
        made, ours = (
            {path.relative_to(root).as_posix() for path in root.rglob("*.py")}
            for root in (tmp_path / "wheel" / "density_study" / room, checkout / room)
        )
        assert made == ours, room
