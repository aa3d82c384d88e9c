"""The cache: assembled stacks, guest images, and locks of the versions that were added on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """$DENSITY_STUDY_CACHE, else $XDG_CACHE_HOME/density-study, else ~/.cache/density-study."""
    if own := os.environ.get("DENSITY_STUDY_CACHE"):
        return Path(own).absolute()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg).absolute() / "density-study"
    return Path.home() / ".cache" / "density-study"
