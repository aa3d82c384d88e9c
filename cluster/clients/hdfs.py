"""`Hdfs`: the cluster's filesystem over WebHDFS, through fsspec; no JVM start for a listing."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import fsspec

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.providers.existing.web import session_of, url_of, user_of
from density_study.cluster.render.conf_files import HISTORY_DIR

TIMEOUT_S = 30.0
MOST_BYTES = 2**30
"""For a job's history, or of the benchmark's own results."""


@dataclass(frozen=True)
class FileStatus:
    """A file as the NameNode describes it. `storage_policy` is the policy's number; 0 means the folder's
    or HDFS's default. `erasure_coding` is the policy's name, empty for replicated files."""

    path: str
    size_bytes: int
    storage_policy: int
    erasure_coding: str


@dataclass(frozen=True)
class Block:
    """A block of a file, the addresses (IP and port) of the DataNodes that have a replica of it, and the
    addresses of their nodes, as the topology has them."""

    size_bytes: int
    datanodes: tuple[str, ...]
    nodes: tuple[str, ...] = ()


class Hdfs:
    """Paths are absolute on HDFS. Refused requests raise OSError or a subclass."""

    def __init__(self, cluster: Cluster) -> None:
        self._address = cluster.endpoints.one("namenode.http")
        self._access, self._network = cluster.access, cluster.endpoints.network
        self._given = cluster.topology.existing

    @cached_property
    def _fs(self) -> Any:
        url = urlsplit(url_of(self._address))
        found = fsspec.filesystem(
            "webhdfs", host=url.hostname, port=url.port, user=user_of(self._access).get("user.name"),
            use_https=url.scheme == "https", skip_instance_cache=True,
        )  # fmt: skip
        found.session = session_of(self._access, self._network)
        return found

    @property
    def benchmarks(self) -> str:
        """Folder of TestDFSIO: the tool's own default; on an existing cluster, below the study's folder."""
        return self._given.benchmarks if self._given else "/benchmarks/TestDFSIO"

    def glob(self, pattern: str) -> list[str]:
        """Paths that match, sorted; empty if the folder does not exist."""
        return sorted(str(path) for path in self._fs.glob(pattern))

    def statuses(self, folder: str) -> list[FileStatus]:
        """The files directly in `folder`, by path; empty if it does not exist."""
        if not self._fs.exists(folder):
            return []
        return sorted(
            (
                FileStatus(e["name"], e["size"], e["storagePolicy"], e.get("ecPolicy", ""))
                for e in self._fs.ls(folder, detail=True)
                if e["type"] == "file"
            ),
            key=lambda status: status.path,
        )

    def blocks(self, path: str) -> list[Block]:
        """The blocks of a file on a cluster of the study's own. OSError if HDFS refuses."""
        answer = session_of(self._access, self._network).get(
            f"http://{self._address}/webhdfs/v1{path}",
            params={"op": "GETFILEBLOCKLOCATIONS", "user.name": getpass.getuser()},
            timeout=TIMEOUT_S,
        )
        answer.raise_for_status()
        found = answer.json()["BlockLocations"]["BlockLocation"]
        return [Block(one["length"], tuple(one["names"]), tuple(one["hosts"])) for one in found]

    def enable_erasure_coding(self, policy: str) -> None:
        """Allow files to use the erasure coding `policy`, one of HDFS's own. OSError if HDFS refuses."""
        answer = session_of(self._access, self._network).put(
            f"http://{self._address}/webhdfs/v1/",
            params={"op": "ENABLEECPOLICY", "ecpolicy": policy, "user.name": getpass.getuser()},
            timeout=TIMEOUT_S,
        )
        answer.raise_for_status()

    def delete(self, path: str) -> None:
        """Remove a file or a whole folder, if it exists."""
        if self._fs.exists(path):
            self._fs.rm(path, recursive=True)

    def fetch(self, path: str, to: Path) -> None:
        """Copy one file to the controller. OSError for one that is larger than any that a study asks for."""
        size = self._fs.info(path)["size"]
        if not 0 <= size <= MOST_BYTES:
            raise OSError(f"{path} has {size} bytes; at most {MOST_BYTES} are copied from HDFS")
        to.parent.mkdir(parents=True, exist_ok=True)
        self._fs.get_file(path, str(to))

    def put(self, file: Path, path: str) -> None:
        """Copy one file from the controller; its folder is made."""
        self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._fs.put_file(str(file), path)

    def job_histories(self) -> list[str]:
        """Histories (.jhist) of finished MapReduce jobs."""
        folder = self._given.history if self._given else f"{HISTORY_DIR}/intermediate"
        return self.glob(f"{folder}/*/*.jhist")

    def fetch_histories(self, to: Path) -> list[str]:
        """Fetch the histories into the folder `to`, each under the name of its job; returns their paths."""
        found = self.job_histories()
        for history in found:
            job = Path(history).name.partition("-")[0]  # followed by user, name, times, counts
            self.fetch(history, to / f"{job}.jhist")
        return found

    def clear_histories(self) -> None:
        for history in self.job_histories():
            self.delete(history)
