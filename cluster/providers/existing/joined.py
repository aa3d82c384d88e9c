"""`Joined`: an existing cluster as it answers now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.versions import Versions


@dataclass(frozen=True)
class Joined:
    """`client_conf`: folder with its clients' configuration. `seen`: for the disclosure."""

    versions: Versions
    endpoints: Endpoints
    client_conf: Path
    seen: Mapping[str, Any]
