"""The golden image: Debian 12 from its packages with our stacks in it, cached by its recipe's hash.

mmdebstrap makes the tree and, in its last hook, a filesystem of it; so it needs no mount, and no root
where user namespaces are allowed. Kernel and initrd lie beside: guests are booted from them directly.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cluster.model.errors import StudyError
from cluster.providers.libvirt import customize, guest
from cluster.providers.libvirt.programs import CONTROLLER
from cluster.providers.ssh.programs import check_programs
from cluster.stack.archive import CLASSES
from cluster.stack.recipe import recipe_of
from cluster.stack.stack import Stack, cache_root
from cluster.state import atomic

FORMAT = 1
BUILD_TIMEOUT_S = 1800
ROOT_MIB = 2048
STACKS = PurePosixPath("/opt/density-study")
_MADE = ("root.raw", "vmlinuz", "initrd", "packages.txt")


@dataclass(frozen=True)
class Image:
    """A golden image on the controller. `key` names its content; `packages` are Debian's versions."""

    key: str
    folder: Path
    packages: Mapping[str, str]

    @property
    def root(self) -> Path:
        return self.folder / "root.raw"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"


def home_in_guest(stack: Stack) -> PurePosixPath:
    return STACKS / stack.home.name


def jars_in_guest(stack: Stack) -> tuple[str, ...]:
    """The class path's jars, in the order every daemon and the archive share."""
    home = home_in_guest(stack)
    return tuple(sorted(f"{home}/lib/{jar.name}" for jar in (stack.home / "lib").iterdir()))


def image_key(stacks: Sequence[Stack]) -> str:
    """16 hex digits over all that the image is made from, save for Debian's package versions."""
    recipe = {
        "format": FORMAT,
        "suite": guest.SUITE,
        "packages": guest.PACKAGES,
        "files": {path: list(file) for path, file in guest.FILES.items()},
        "early": {path: list(file) for path, file in guest.EARLY_FILES.items()},
        "services": [guest.ENABLED, guest.MASKED],
        "stacks": [str(home_in_guest(stack)) for stack in stacks],
        "classes": [hashlib.sha256(_classes(stack).encode()).hexdigest() for stack in stacks],
        "hook": Path(customize.__file__).read_text(),
    }
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]


def ensure_image(stacks: Sequence[Stack]) -> Image:
    """The image with these stacks, built first if the cache does not hold it (about a minute).

    InputError if a program it takes is not installed; StudyError if the build fails.
    """
    key = image_key(stacks)
    folder = cache_root() / "images" / key
    if not (folder / "image.json").exists():
        with _locked(folder):
            if not (folder / "image.json").exists():
                _build(stacks, key, folder)
    rows = (folder / "packages.txt").read_text().splitlines()
    return Image(key, folder, dict(row.split(" ", 1) for row in rows))


def _build(stacks: Sequence[Stack], key: str, folder: Path) -> None:
    check_programs([CONTROLLER])
    aside = folder.with_name(f".{key}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    print(f"building the guests' image {key} from Debian packages ...", file=sys.stderr, flush=True)
    began = time.monotonic()
    plan = aside / "plan.json"
    plan.write_text(json.dumps(_plan(stacks, aside)))
    _run(_argv(plan), aside)
    seconds = round(time.monotonic() - began, 1)
    atomic.write_text(
        aside / "image.json", json.dumps({"format": FORMAT, "key": key, "seconds": seconds}) + "\n"
    )
    shutil.rmtree(folder, ignore_errors=True)  # without its image.json it was never whole
    for scratch in aside.glob("*.classes"):
        scratch.unlink()
    aside.rename(folder)
    print(f"built the guests' image in {seconds:.0f} s", file=sys.stderr, flush=True)


def _plan(stacks: Sequence[Stack], aside: Path) -> dict[str, Any]:
    return {
        "to": str(aside),
        "packages_to": str(aside / "packages.txt"),
        "root_mib": ROOT_MIB,
        "label": guest.ROOT_LABEL,
        "user": guest.USER,
        "uid": guest.UID,
        "java_home": guest.JAVA_HOME,
        "early_files": dict(guest.EARLY_FILES),
        "files": dict(guest.FILES),
        "enabled": guest.ENABLED,
        "masked": guest.MASKED,
        "trees": [_tree(stack, aside) for stack in stacks],
    }


def _tree(stack: Stack, aside: Path) -> dict[str, Any]:
    classes = aside / f"{stack.name}.classes"
    classes.write_text(_classes(stack))
    return {
        "source": str(stack.home),
        "home": str(home_in_guest(stack)),
        "classes": str(classes),
        "jars": jars_in_guest(stack),
    }


def _classes(stack: Stack) -> str:
    return gzip.decompress((recipe_of(stack.name).directory / CLASSES).read_bytes()).decode()


def _argv(plan: Path) -> list[str]:
    hook = [sys.executable, customize.__file__]
    early = shlex.join([*hook, "early", str(plan)])
    late = shlex.join([*hook, "late", str(plan)])
    return [
        "mmdebstrap",
        "--variant=minbase",
        "--format=null",
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=APT::Install-Recommends "false"',
        "--dpkgopt=force-unsafe-io",  # a build that is cut short is thrown away whole
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        f'--essential-hook={early} "$1"',
        f'--customize-hook={late} "$1"',
        f"--include={','.join(guest.PACKAGES)}",
        guest.SUITE,
        "/dev/null",
    ]


def _run(argv: Sequence[str], aside: Path) -> None:
    log = aside / "build.log"
    with log.open("wb") as stream:
        code = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            timeout=BUILD_TIMEOUT_S,
            check=False,
        ).returncode
    missing = [name for name in _MADE if not (aside / name).exists()]
    if code != 0 or missing:
        tail = log.read_text(errors="replace").strip()[-1500:]
        raise StudyError(
            f"mmdebstrap exited with {code}; its last lines:\n{tail}",
            "golden image",
            f"read {log}; check that Debian's package archive is reachable (apt update).",
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
