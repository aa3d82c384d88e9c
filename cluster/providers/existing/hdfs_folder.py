"""The study's folder on a given HDFS: made, marked and removed over WebHDFS."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import requests

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.existing.web import (
    TIMEOUT_S,
    session_of,
    understood,
    url_of,
    user_of,
)
from density_study.cluster.state.plain_file import why_unread

LEAST_NAMES = 100
"""Files and folders of the smallest study: a job's staging files, its history, and its files."""
MARKER = ".density-study"
"""Holds the tag of the build that made the folder."""


@dataclass(frozen=True)
class HdfsFolder:
    """`path` on the HDFS whose NameNode has the web server `namenode`."""

    namenode: str
    path: str
    access: Access = OPEN

    def make(self, tag: str) -> None:
        """Make the folder, and mark it. InputError as in `check_free`."""
        self.check_free()
        self._put(self.path, op="MKDIRS", permission="700")
        self._write(f"{self.path}/{MARKER}", tag)

    def check_free(self) -> None:
        """InputError if the folder exists, or may not be made. Changes nothing."""
        if self._exists(self.path):
            raise InputError(
                "the folder exists already; a study makes its own, and removes it.",
                f"HDFS {self.path}",
                "name another folder in existing.folder, or remove this one if it is a study's; "
                "`study reap` removes what killed runs left.",
            )
        parent = str(PurePosixPath(self.path).parent)
        if not self._exists(parent):
            raise InputError(
                f"the folder {parent} does not exist.",
                f"HDFS {self.path}",
                "make it, or name a folder in existing.folder whose parent exists.",
            )
        self._checked(self._call("GET", parent, op="CHECKACCESS", fsaction="-wx"))

    def check_room(self, needed_mib: int, hbase: str = "") -> None:
        """InputError if a quota of a folder above leaves less space, replicas included, or too few names. So
        for HBase's own folder `hbase`, if it is known.

        HDFS tells a folder's quota only to those who may read all of it: then it refuses the write itself.
        """
        above = PurePosixPath(hbase or "/")
        for folder in dict.fromkeys((*PurePosixPath(self.path).parents, above, *above.parents)):
            answer = self._call("GET", str(folder), op="GETQUOTAUSAGE")
            with understood(self.namenode):
                usage = answer.json()["QuotaUsage"] if answer.ok else {}
                left_mib = _left(usage, "spaceQuota", "spaceConsumed", 2**20)
                names = _left(usage, "quota", "fileAndDirectoryCount")
            if left_mib is not None and left_mib < needed_mib:
                raise InputError(
                    f"its space quota leaves {left_mib:,} MiB, and the study writes up to "
                    f"{needed_mib:,} MiB.",
                    f"HDFS {folder}",
                    "ask for a larger quota, or reduce files, file_size or records.",
                )
            if names is not None and names < LEAST_NAMES:
                raise InputError(
                    f"its quota leaves {names:,} files and folders, and a study makes {LEAST_NAMES} or more.",
                    f"HDFS {folder}",
                    "ask for a larger quota.",
                )

    def tag(self) -> str | None:
        """The tag of the build that made the folder; empty if it has none; None if there is no folder."""
        if not self._exists(self.path):
            return None
        answer = self._call("GET", f"{self.path}/{MARKER}", op="OPEN")
        if answer.status_code == requests.codes.not_found:
            return ""
        return self._checked(answer).text.strip()

    def remove(self, tag: str) -> None:
        """Remove the folder with all in it, if it has the tag. A folder without a tag, which an interrupted
        `make` leaves, only if it is empty."""
        held = self.tag()
        if held == tag or (held == "" and not self._children()):
            self._checked(self._call("DELETE", self.path, op="DELETE", recursive="true"))

    def _children(self) -> list[dict[str, Any]]:
        with understood(self.namenode):
            listed = self._get(self.path, "LISTSTATUS")
            found: list[dict[str, Any]] = listed["FileStatuses"]["FileStatus"]
        return found

    def _exists(self, path: str) -> bool:
        return bool(self._get(path, "GETFILESTATUS", may_be_missing=True))

    def _get(self, path: str, op: str, may_be_missing: bool = False) -> dict[str, Any]:
        answer = self._call("GET", path, op=op)
        if may_be_missing and answer.status_code == requests.codes.not_found:
            return {}
        with understood(self.namenode):
            found: dict[str, Any] = self._checked(answer).json()
        return found

    def _put(self, path: str, **parameters: str) -> None:
        self._checked(self._call("PUT", path, **parameters))

    def _write(self, path: str, text: str) -> None:
        # The NameNode answers with the address of a DataNode, which takes the bytes.
        told = self._checked(self._call("PUT", path, op="CREATE", noredirect="true"))
        with understood(self.namenode):
            address = str(told.json()["Location"])
        self._checked(self._sent("PUT", address, data=text.encode()))

    def _call(self, method: str, path: str, **parameters: str) -> requests.Response:
        url = f"{url_of(self.namenode)}/webhdfs/v1{quote(path)}"
        return self._sent(method, url, params={**parameters, **user_of(self.access)})

    def _sent(self, method: str, url: str, **given: Any) -> requests.Response:
        try:
            return session_of(self.access).request(method, url, timeout=TIMEOUT_S, **given)
        except requests.RequestException as error:
            raise StudyError(
                f"WebHDFS does not answer: {why_unread(error)}.",
                f"HDFS {self.path}",
                "check that WebHDFS is enabled, and that this machine reaches NameNodes and DataNodes.",
            ) from error

    def _checked(self, answer: requests.Response) -> requests.Response:
        if answer.ok:
            return answer
        try:
            said = answer.json()["RemoteException"]["message"].splitlines()[0]
        except (ValueError, LookupError, TypeError):
            said = f"HTTP {answer.status_code}"
        raise InputError(
            f"HDFS refuses: {said.rstrip('.')}.",
            f"HDFS {self.path}",
            "name a folder in existing.folder below one that this user may write.",
        )


def _left(usage: dict[str, int], quota: str, used: str, unit: int = 1) -> int | None:
    """What a quota leaves; None if there is none, or it is not told."""
    return (usage[quota] - usage[used]) // unit if usage.get(quota, -1) >= 0 else None
