"""The registry of this user's own runs: `study reap`, `study rm` and a resumed run act only on these.

A run's folder may come from anybody: an archive, a colleague's copy. What its journal says is believed only
if this user opened the run. So the process that opens a run puts a random key into its folder, and a file
of that name into the state folder, outside of all runs. That file holds the folder's inode and time of
birth: a copy of the folder is not registered, and neither is another folder that is put in its place. It
also holds digests of the run's plan.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePath
from shlex import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from density_study.cluster.model.errors import InputError
from density_study.cluster.state import atomic
from density_study.cluster.state.birth import birth_ns
from density_study.cluster.state.plain_file import fault_of, read_plain
from density_study.cluster.state.settings import VARIABLES, setting

KEY = "run.key"
"""The file in a run's folder with its name in the registry."""
SECRET = "secret"
"""In the state folder."""
JOURNAL, PLAN, STUDY = "journal.jsonl", "plan.json", "study.yaml"
MAX_PLAN_BYTES = 2**26
_KEY = re.compile(r"[0-9a-f]{32}")
_MAX_ENTRY_BYTES, _MAX_SECRET_BYTES = 2**20, 64
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ACL_HEADER, _ACL_OWNER = 4, 1
"""Bytes before the entries of a list of rights, and the tag of the owner's: acl(5)."""
_OF_DAEMONS = frozenset({"data", "logs", "containers"})
"""Folders of a build that only its daemons write to, and nothing here believes."""


class _Entry(BaseModel):
    """`inode` and `birth_ns` are the folder's: inodes' numbers are used again. `plans`: SHA-256 of each plan
    that this user wrote to the run; none of a claimed run. `folder` is for people."""

    model_config = ConfigDict(extra="ignore")
    folder: str
    inode: int
    birth_ns: int
    plans: tuple[str, ...] = ()


def tag_of(root: Path) -> str:
    """The tag that the run in `root` must have: <study>/<run>."""
    root = root.absolute()
    return f"{root.parent.name}/{root.name}"


def register(root: Path, plan: str | None = None) -> None:
    """Make the run in `root` this user's own; `plan`: what is about to be written as its plan.json.

    InputError if the state folder cannot be used.
    """
    entry = _entry(root)
    key = _key(root) if entry else secrets.token_hex(16)
    plans = entry.plans if entry else ()
    if plan is not None:
        plans = tuple(dict.fromkeys((*plans, _digest(plan.encode()))))
    registry = _state_dir()
    if entry is None:
        atomic.write_text(root / KEY, f"{key}\n", mode=0o600)
    inode, birth = root.stat().st_ino, birth_ns(root)
    new = _Entry(folder=str(root.absolute()), inode=inode, birth_ns=birth, plans=plans)
    atomic.write_text(registry / f"{key}.json", new.model_dump_json() + "\n", mode=0o600)


def forget(key: str) -> None:
    """Remove the entry of this key; none: nothing."""
    if key:
        (_registry() / f"{key}.json").unlink(missing_ok=True)


def key_of(root: Path) -> str:
    """The key of the run in `root` if it is registered, else empty."""
    return _key(root) if is_registered(root) else ""


def own_secret() -> bytes:
    """Random, and the same for all processes of this user: it signs what they write where others may write.
    InputError if the state folder cannot be used."""
    path = _state_dir().parent / SECRET
    with suppress(FileNotFoundError):
        return read_plain(path, _MAX_SECRET_BYTES)
    atomic.write_text(path, secrets.token_hex(32), mode=0o600)
    return read_plain(path, _MAX_SECRET_BYTES)


def is_registered(root: Path) -> bool:
    """Whether this user opened, or claimed, the run in this very folder."""
    return _entry(root) is not None


def deleted(runs: Path) -> list[Path]:
    """Folders below `runs` of runs that this user opened, and that are gone: deleted, or moved away."""
    known = map(_remembered, _registry().glob("*.json"))
    folders = {Path(entry.folder) for entry in known if entry}
    return sorted(root for root in folders if root.is_relative_to(runs) and not root.exists())


def refusal(root: Path) -> str:
    """Why nothing may be done for the run in `root` by its journal, and a remedy; empty if it is registered,
    and others cannot have changed it."""
    return stranger(root) or unregistered(root) or strange_file(root) or _other_plan(root)


def require_own(root: Path) -> None:
    """InputError with the reason of `refusal`."""
    if why := refusal(root):
        raise InputError(f"the run is left alone: {why}.", str(root), _claim(root))


def unregistered(root: Path) -> str:
    if is_registered(root):
        return ""
    return f"this user has not opened it. If it is yours: {_claim(root)}"


def stranger(root: Path) -> str:
    """Why the folder itself cannot be this user's own; empty if it can."""
    status = root.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder but a link or a file"
    if status.st_uid != os.getuid():
        return f"its folder belongs to the user with uid {status.st_uid}, who can reap it"
    if status.st_mode & _OTHERS_WRITE:
        return f"others may write to its folder. If they have not: chmod go-w {root}"
    return ""


def strange_file(root: Path) -> str:
    """The first file or folder that is a link, a pipe or a device, or that others may have written and that
    is believed, in words; empty if there is none. What daemons wrote is not looked at."""
    for path in _files(root):
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) and (fault := fault_of(path)):
            return f"{path} is {fault}. Find out how it came there, then remove it"
        if not _is_believed(path.relative_to(root)):
            continue
        if status.st_uid not in (os.getuid(), 0):
            return f"{path} belongs to the user with uid {status.st_uid}"
        if status.st_mode & _OTHERS_WRITE:
            return f"others may write to {path}. If they have not: chmod -R go-w {root}"
    return ""


def keep_others_out() -> None:
    """From now on, what this process creates cannot be written by others, whatever the user's umask is."""
    os.umask(os.umask(0o077) | _OTHERS_WRITE)


def make_folder(root: Path) -> None:
    """Create a run's folder, and its study's: nobody else can write there. FileExistsError if it exists."""
    root.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    root.mkdir(mode=0o755)
    for folder in (root.parent, root):
        _let_others_read(folder)


def _let_others_read(folder: Path) -> None:
    """Where the folder above has a default list of rights (`setfacl -d`), the umask has no effect, and what
    is made here would inherit the list."""
    for name in ("system.posix_acl_access", "system.posix_acl_default"):
        with suppress(OSError):  # no list, or a file system without any
            rights = os.getxattr(folder, name)
            entries = struct.iter_unpack("<HHI", rights[_ACL_HEADER:])
            kept = (
                struct.pack("<HHI", tag, right if tag == _ACL_OWNER else right & ~os.W_OK, who)
                for tag, right, who in entries
            )
            os.setxattr(folder, name, rights[:_ACL_HEADER] + b"".join(kept))


def require_state_dir() -> None:
    """InputError if the state folder cannot be made or used."""
    _state_dir()


def _files(root: Path) -> Iterator[Path]:
    """All but results, closed records, and what daemons write."""
    for at, folders, files in os.walk(root):  # does not follow links
        here = Path(at)
        yield from (here / name for name in (*folders, *files))
        if here == root:
            folders[:] = [name for name in folders if name in ("builds", "records")]
        elif here == root / "records":
            folders[:] = [name for name in folders if name.endswith(".open")]
        elif here.parent == root / "builds":
            folders[:] = [name for name in folders if name not in _OF_DAEMONS]


def _is_believed(path: PurePath) -> bool:
    return path.parts[0] == "builds" or str(path) in (JOURNAL, PLAN, STUDY, KEY)


def _other_plan(root: Path) -> str:
    entry = _entry(root)
    if entry is None or not entry.plans or not (root / PLAN).exists():
        return ""
    try:
        digest = _digest(read_plain(root / PLAN, MAX_PLAN_BYTES))
    except OSError as error:
        return f"its plan cannot be read: {error}"
    if digest in entry.plans:
        return ""
    return f"its {PLAN} is not the one that it was opened with. If you changed it: {_claim(root)}"


def has_known_plan(root: Path) -> bool:
    """Whether this user wrote the run's plan.json; False of a claimed run."""
    entry = _entry(root)
    return bool(entry and entry.plans) and not _other_plan(root)


def claim(root: Path) -> None:
    """Register a run of this user's whose entry was lost. InputError if its folder shows that others made or
    changed it."""
    if why := stranger(root) or strange_file(root):
        raise InputError(
            f"the run cannot be claimed: {why}.",
            str(root),
            "if it is the copy of another person's run, delete its folder; else correct what is named.",
        )
    forget(key_of(root))
    register(root)


def _claim(root: Path) -> str:
    return f"study reap --claim {quote(str(root))}"


def _key(root: Path) -> str:
    try:
        text = read_plain(root / KEY, 64).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if _KEY.fullmatch(text) else ""


def _entry(root: Path) -> _Entry | None:
    key = _key(root)
    if not key:
        return None
    entry = _remembered(_registry() / f"{key}.json")
    if entry is None:
        return None
    birth = birth_ns(root)
    is_later = entry.birth_ns and birth and birth != entry.birth_ns
    return entry if entry.inode == root.lstat().st_ino and not is_later else None


def _remembered(file: Path) -> _Entry | None:
    """None if there is no such file, or it is damaged: as if it were lost."""
    try:
        return _Entry.model_validate(json.loads(read_plain(file, _MAX_ENTRY_BYTES)))
    except (FileNotFoundError, ValidationError, ValueError, RecursionError):
        return None


def _digest(plan: bytes) -> str:
    return sha256(plan).hexdigest()


def _registry() -> Path:
    """The folder of the entries, which need not exist. InputError if others may write to it."""
    folder = Path("~/.local/state/density-study")
    try:
        given = setting("state")
        folder = Path(given).absolute() if given else folder.expanduser()
        if folder.exists():
            _check(folder)
    except OSError as error:
        raise _unusable(folder, f"cannot be read: {error.strerror}") from error
    except RuntimeError as error:  # there is no HOME, and this user is in no list of users
        raise _unusable(folder, "is not known: this user has no home folder") from error
    return folder / "runs"


def _state_dir() -> Path:
    """As `_registry`; the folder is made if it does not exist."""
    registry = _registry()
    try:
        for folder in (registry.parent, registry):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _check(folder)
        if not os.access(registry, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise _unusable(registry.parent, f"cannot be written: {error.strerror}") from error
    return registry


def _check(folder: Path) -> None:
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077 or not stat.S_ISDIR(status.st_mode):
        raise _unusable(
            folder, "is not a folder that this user owns and no other may enter (mode 0700)"
        )


def _unusable(folder: Path, why: str) -> InputError:
    return InputError(
        f"the state folder, which remembers your runs, {why}.",
        str(folder),
        f"correct this, or set {VARIABLES['state']} (key `state` of the settings file) to a folder of "
        "your own that lasts.",
    )
