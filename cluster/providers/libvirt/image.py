"""The golden image: Debian 12 from its packages with our stacks in it, cached by its recipe's hash.

mmdebstrap makes the tree and, in its last hook, a filesystem of it; so it needs no mount, and no root
where user namespaces are allowed. Kernel and initrd are separate files: guests boot from them directly.

At boot `study-seed` (see image.yaml) unpacks the seed disk over the root: name, addresses, keys. It runs
once, before the network and sshd, so no guest ever answers under another's name or key.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from density_study.cluster.machine.as_root import INSTALLED, PROGRAMS, source
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.store import stores
from density_study.cluster.providers.libvirt import customize
from density_study.cluster.providers.libvirt.programs import CONTROLLER
from density_study.cluster.providers.ssh import sudo_rules
from density_study.cluster.providers.ssh.programs import check_programs
from density_study.cluster.stack import Stack, classpath
from density_study.cluster.stack.archive import class_list, has_archive
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.state import atomic

FORMAT = 2
BUILD_TIMEOUT_S = 1800
ROOT_MIB = 3072
ROOT_LABEL = "study-root"
STACKS = PurePosixPath("/opt/density-study")
USER = "study"
UID = 1000
DATA = "/study"
"""Where a guest's first data disk is mounted; the others are at /study-2, /study-3, ..."""
JAVA_HOME = "/usr/lib/jvm/java-17-openjdk-amd64"
FILES = {"root": "root.raw", "kernel": "vmlinuz", "initrd": "initrd"}
"""What a host needs of an image."""
PACKAGES = "packages.txt"
"""Beside them: Debian's packages with their versions."""
SERVERS = "servers.json"
"""Beside them: Debian's servers of stores by package, as `cluster.stack.machine_program` describes them."""


def home_in_guest(stack: Stack) -> PurePosixPath:
    return STACKS / stack.home.name


def system() -> dict[str, Any]:
    """image.yaml: Debian's suite and packages, services, and files as path -> (mode, text). What root does
    for the guests' user is as on any host."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
    for key in ("files", "early_files"):
        found[key] = {path: (int(mode, 8), text) for path, (mode, text) in found[key].items()}
    found["files"][sudo_rules.FILE] = (0o440, sudo_rules.rules(USER, PROGRAMS))
    for program in PROGRAMS:
        found["files"][str(INSTALLED / program)] = (0o755, source(program))
    found["servers"] = servers_of_stores()
    found["packages"] += found["servers"]
    found["masked"] += [f"{package}.service" for package in found["servers"]]
    return found


def servers_of_stores() -> dict[str, list[str]]:
    """Debian's package -> names of the program, of stores whose servers the guests' system has."""
    programs = (store.program for store in stores().values())
    return {one.package: list(one.names) for one in programs if one}


def image_key(stacks: Sequence[Stack]) -> str:
    """16 hex digits over all that the image is made from, except Debian's package versions."""
    recipe = {
        "format": FORMAT,
        "system": system(),
        "stacks": [str(home_in_guest(stack)) for stack in stacks],
        "classes": [hashlib.sha256(_classes(stack).encode()).hexdigest() for stack in stacks],
        "hook": Path(customize.__file__).read_text(),
    }
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]


def java_version(image: Path) -> str:
    """The version of its JDK, as its vendor writes it: 17.0.15 of Debian's 17.0.15+6-1~deb12u1."""
    lines = (image / PACKAGES).read_text().splitlines()
    versions = dict(line.split(" ", 1) for line in lines)
    return versions["openjdk-17-jre-headless"].partition("+")[0]


def ensure_image(stacks: Sequence[Stack]) -> Path:
    """The folder of the image with these stacks, named by its key.

    Built first if the cache does not hold it (about a minute). InputError if a program that this needs is not
    installed; StudyError if the build fails.
    """
    key = image_key(stacks)
    folder = cache_root() / "images" / key
    if not (folder / "image.json").exists():
        with atomic.locked(folder.with_name(f".{key}.lock")):
            if not (folder / "image.json").exists():
                _build(stacks, key, folder)
    return folder


def _build(stacks: Sequence[Stack], key: str, folder: Path) -> None:
    check_programs([CONTROLLER])
    aside = folder.with_name(f".{key}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    print(f"building the guests' image {key} from Debian packages ...", file=sys.stderr, flush=True)
    began = time.monotonic()
    plan = aside / "plan.json"
    given = system()
    plan.write_text(json.dumps({**given, **_plan(stacks, aside)}))
    _run(_argv(plan, given), aside)
    seconds = round(time.monotonic() - began, 1)
    atomic.write_text(
        aside / "image.json", json.dumps({"format": FORMAT, "key": key, "seconds": seconds}) + "\n"
    )
    shutil.rmtree(folder, ignore_errors=True)  # without its image.json it is incomplete
    for scratch in aside.glob("*.classes"):
        scratch.unlink()
    aside.rename(folder)
    print(f"built the guests' image in {seconds:.0f} s", file=sys.stderr, flush=True)


def _plan(stacks: Sequence[Stack], aside: Path) -> dict[str, Any]:
    return {
        "to": str(aside),
        "packages_to": str(aside / PACKAGES),
        "servers_to": str(aside / SERVERS),
        "root_mib": ROOT_MIB,
        "label": ROOT_LABEL,
        "user": USER,
        "uid": UID,
        "java_home": JAVA_HOME,
        "trees": [_tree(stack, aside) for stack in stacks],
    }


def _tree(stack: Stack, aside: Path) -> dict[str, Any]:
    classes = aside / f"{stack.name}.classes"
    classes.write_text(_classes(stack))
    home = home_in_guest(stack)
    return {
        "source": str(stack.home),
        "home": str(home),
        "classes": str(classes),
        "jars": classpath(stack, home)[:-1],
    }


def _classes(stack: Stack) -> str:
    """Empty for a stack without an archive."""
    return class_list(stack) if has_archive(stack) else ""


def _argv(plan: Path, given: Mapping[str, Any]) -> list[str]:
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
        f"--include={','.join(given['packages'])}",
        given["suite"],
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
    missing = [name for name in (*FILES.values(), PACKAGES) if not (aside / name).exists()]
    if code != 0 or missing:
        tail = log.read_text(errors="replace").strip()[-1500:]
        raise StudyError(
            f"mmdebstrap exited with {code}; its last lines:\n{tail}",
            "golden image",
            f"read {log}; check that Debian's package archive is reachable (apt update).",
        )
