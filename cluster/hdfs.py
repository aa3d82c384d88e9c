"""`Hdfs`: the cluster's filesystem over WebHDFS, through fsspec; no JVM start for a listing."""

from __future__ import annotations

import getpass
from functools import cached_property
from pathlib import Path
from typing import Any

import fsspec

from cluster.cluster import Cluster
from cluster.render.mapred import HISTORY_DIR


class Hdfs:
    """Paths are absolute on HDFS. OSError family for what HDFS refuses."""

    def __init__(self, cluster: Cluster) -> None:
        self._address = cluster.endpoints.namenode_http

    @cached_property
    def _fs(self) -> Any:
        host, _, port = self._address.rpartition(":")
        return fsspec.filesystem(
            "webhdfs", host=host, port=int(port), user=getpass.getuser(), skip_instance_cache=True
        )

    def glob(self, pattern: str) -> list[str]:
        """Paths that match, sorted; none if the folder is not there."""
        return sorted(str(path) for path in self._fs.glob(pattern))

    def files(self, folder: str) -> list[tuple[str, int]]:
        """(path, bytes) of each file right below `folder`; none if it is not there."""
        if not self._fs.exists(folder):
            return []
        listed = self._fs.ls(folder, detail=True)
        return sorted((e["name"], e["size"]) for e in listed if e["type"] == "file")

    def delete(self, path: str) -> None:
        """Remove a file or a whole folder; what is not there is gone already."""
        if self._fs.exists(path):
            self._fs.rm(path, recursive=True)

    def fetch(self, path: str, to: Path) -> None:
        """Copy one file to the controller."""
        to.parent.mkdir(parents=True, exist_ok=True)
        self._fs.get_file(path, str(to))

    def job_histories(self) -> list[str]:
        """Histories (.jhist) of finished MapReduce jobs."""
        return self.glob(f"{HISTORY_DIR}/intermediate/*/*.jhist")
