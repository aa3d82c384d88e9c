"""Hooks of the documentation site (properdocs.yml): it names its version, and finds no single decision."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from properdocs.plugins import event_priority

NOT_SEARCHED = "decisions/0"


def on_config(config: Any) -> Any:
    """The footer of every page names the version that the site describes."""
    config["copyright"] = f"Documentation of density-study {version('density-study')}."
    return config


@event_priority(-100)  # after the search has written its index
def on_post_build(config: Any) -> None:
    """Search finds pages for users. decisions/README.md, which it finds, lists the decisions."""
    path = Path(config["site_dir"], "search", "search_index.json")
    index = json.loads(path.read_text(encoding="utf-8"))
    every = index["docs"]
    index["docs"] = [one for one in every if not one["location"].startswith(NOT_SEARCHED)]
    assert len(index["docs"]) < len(every)
    path.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")
