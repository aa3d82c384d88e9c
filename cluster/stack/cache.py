"""The cache: assembled stacks, guest images, and locks of the versions that were added on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from density_study.cluster.state.settings import setting, user_home


def cache_root() -> Path:
    """The setting `cache`, else $XDG_CACHE_HOME/density-study, else ~/.cache/density-study."""
    if own := setting("cache"):
        return Path(own).absolute()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg).absolute() / "density-study"
    return user_home() / ".cache" / "density-study"
