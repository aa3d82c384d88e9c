"""What hatchling adds to a build: its version, links for an editable install, generated pages for a wheel.

The rooms stay at the top of the checkout; in a wheel they are packages of `density_study`. For an editable
install, links in `.editable/density_study` lead to them: Python, mypy, import-linter and editors follow
links, but not the import hooks with which other backends rename packages.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

UNKNOWN = "0.0.0+unknown"


class Version(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        metadata["version"] = version_of(Path(self.root))


def version_of(root: Path) -> str:
    """0.2.0 at the tag v0.2.0; 0.2.0.post3+g1a2b3c4 three commits later; 0.0.0.post9+g1a2b3c4 without a tag.
    A source archive has its version in PKG-INFO; elsewhere, and where git does not answer, it is unknown."""
    archived = root / "PKG-INFO"
    if archived.is_file():
        found = re.search(r"^Version: (.+)$", archived.read_text(encoding="utf-8"), re.M)
        return found[1] if found else UNKNOWN
    if not (root / ".git").exists():  # another project's repository may lie around it
        return UNKNOWN
    described = _git(root, "describe", "--tags", "--match", "v[0-9]*", "--long")
    if not described:
        number = _git(root, "rev-list", "--count", "HEAD")
        if not number:
            return UNKNOWN
        described = f"v0.0.0-{number}-g{_git(root, 'rev-parse', '--short', 'HEAD')}"
    tag, number, commit = described.rsplit("-", 2)  # a tag may have a dash: v0.3.0-rc1
    return tag[1:] if number == "0" else f"{tag[1:]}.post{number}+{commit}"


def _git(root: Path, *arguments: str) -> str:
    """Its answer; empty if it has none, or is not installed."""
    try:
        done = subprocess.run(
            ("git", *arguments), cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


class Build(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """`version` is "editable" or "standard". FileNotFoundError if pages were not generated."""
        if version == "editable":
            self._link_rooms()
            return
        reference = Path(self.root, "docs", "reference")
        if not (reference / "study.schema.json").exists():
            raise FileNotFoundError(
                f"{reference} is missing: run `make docs`, which generates the pages that a wheel has."
            )
        build_data["force_include"][str(reference)] = "density_study/reference"

    def _link_rooms(self) -> None:
        for room, name in self.build_config.sources.items():
            link = Path(self.root, ".editable", name.rstrip("/"))
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(Path("..", "..", room.rstrip("/")))
