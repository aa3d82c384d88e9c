"""Whatever builds a package on this machine is in uv.lock, with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[3]
PROJECT: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
LOCK: dict[str, Any] = tomllib.loads((CHECKOUT / "uv.lock").read_text())
PACKAGES = {one["name"]: one for one in LOCK["package"]}
BUILD = {need["name"] for need in PACKAGES["density-study"]["dev-dependencies"]["build"]}


def closure(names: set[str]) -> set[str]:
    needed = {need["name"] for name in names for need in PACKAGES[name].get("dependencies", ())}
    return names if needed <= names else closure(names | needed)


def test_what_builds_this_package_is_locked() -> None:
    (wanted,) = PROJECT["build-system"]["requires"]
    assert wanted in PROJECT["dependency-groups"]["build"]
    assert wanted == f"hatchling=={PACKAGES['hatchling']['version']}"
    assert {"pathspec", "pluggy", "trove-classifiers", "packaging"} < closure(BUILD)


def test_every_file_has_a_hash() -> None:
    for name, one in PACKAGES.items():
        files = [*one.get("wheels", ()), *([one["sdist"]] if "sdist" in one else [])]
        assert files or name == "density-study"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"]) for file in files), name


def test_make_setup_builds_with_locked_packages_alone() -> None:
    """uv takes what a build needs from the registry, unless the build is not isolated."""
    built = {name for name, one in PACKAGES.items() if not one.get("wheels")}
    makefile = (CHECKOUT / "Makefile").read_text()
    (flags,) = re.findall(r"^BUILT_BY_LOCKED = (.*)$", makefile, re.M)
    assert set(re.findall(r"--no-build-isolation-package (\S+)", flags)) == built
    commands = re.findall(r"\$\(UV\) (?:sync|pip sync|pip install .*--editable).*", makefile)
    assert len(commands) == 3
    (of_mirror,) = (one for one in commands if one.startswith("$(UV) pip sync "))
    assert "--require-hashes --no-build-isolation $(VENV)/build.txt " in of_mirror
    assert all("$(BUILT_BY_LOCKED)" in one for one in commands if one != of_mirror)
    assert built <= {"density-study", "pyspark"}  # which need the group `build`, no more
