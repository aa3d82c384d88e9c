"""What an editable install adds: a folder in which the rooms are packages of `density_study`, as in a wheel.

The rooms stay at the top of the checkout; links in `.editable/density_study` lead to them. Python, mypy,
import-linter and editors follow links, but not the import hooks with which other backends rename packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Links(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by pip and uv before each build; `version` is "editable" or "standard"."""
        if version != "editable":
            return
        for room, name in self.build_config.sources.items():
            link = Path(self.root, ".editable", name.rstrip("/"))
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(Path("..", "..", room.rstrip("/")))
