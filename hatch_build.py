"""What hatchling adds to a build: links for an editable install, generated pages for a wheel.

The rooms stay at the top of the checkout; in a wheel they are packages of `density_study`. For an editable
install, links in `.editable/density_study` lead to them: Python, mypy, import-linter and editors follow
links, but not the import hooks with which other backends rename packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
