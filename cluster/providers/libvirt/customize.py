"""Hooks of mmdebstrap: `python customize.py early|late PLAN ROOT`. Standard library only.

Runs as a program of its own, in mmdebstrap's user namespace where there is one, so that files get
their owners without root.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_HEAP = "-Xmx512m"


def early(plan: dict[str, Any], root: Path) -> None:
    """Before most packages: what their installation reads."""
    (root / "usr/share/man/man1").mkdir(parents=True, exist_ok=True)  # for the JRE's alternatives
    _write(root, plan["early_files"])


def late(plan: dict[str, Any], root: Path) -> None:
    """After all packages: our files, user, services, stacks; then the filesystem of it all."""
    _write(root, plan["files"])
    user = plan["user"]
    _in(root, "useradd", "--create-home", "--uid", str(plan["uid"]), "--shell", "/bin/bash", user)
    _in(root, "usermod", "--password", "*", user)
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()  # each guest gets its own from its seed
    _in(root, "systemctl", "enable", *plan["enabled"])
    _in(root, "systemctl", "mask", *plan["masked"])
    with ThreadPoolExecutor() as pool:  # archiving classes takes longer than all else in here
        list(pool.map(lambda tree: _add_tree(root, tree, plan["java_home"]), plan["trees"]))
    Path(plan["packages_to"]).write_text(_packages(root))
    servers = {package: _server(root, names) for package, names in plan["servers"].items()}
    Path(plan["servers_to"]).write_text(json.dumps(servers))
    for name, pattern in (("vmlinuz", "vmlinuz-*"), ("initrd", "initrd.img-*")):
        (newest,) = (root / "boot").glob(pattern)
        shutil.copyfile(newest, Path(plan["to"]) / name)
    _empty(root)
    _filesystem(plan, root)


def _write(root: Path, files: dict[str, Any]) -> None:
    for path, (mode, text) in files.items():
        to = root / path.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.unlink(missing_ok=True)
        to.write_text(text)
        to.chmod(mode)


def _add_tree(root: Path, tree: dict[str, Any], java_home: str) -> None:
    """Copy a stack, and archive its classes with the guest's own JVM, which alone can map them."""
    home = root / tree["home"].lstrip("/")
    shutil.copytree(tree["source"], home, symlinks=True)
    for stale in home.glob("classes*"):  # they belong to this machine's Java
        stale.unlink()
    if not Path(tree["classes"]).stat().st_size:
        return
    listed = home / ".classes.txt"
    listed.write_text(Path(tree["classes"]).read_text())
    java = f"{java_home}/bin/java"
    archive = f"-XX:SharedArchiveFile={tree['home']}/classes.jsa"
    path = ("-cp", ":".join(tree["jars"]))
    classes = f"-XX:SharedClassListFile={tree['home']}/.classes.txt"
    _in(root, java, _HEAP, "-Xshare:dump", classes, archive, *path)
    _in(root, java, "-Xshare:on", archive, *path, "-version")
    listed.unlink()


def _packages(root: Path) -> str:
    """A package and its version a line."""
    show = ("dpkg-query", "--show", "--showformat=${Package} ${Version}\n")
    return subprocess.run(
        ["chroot", str(root), *show], check=True, capture_output=True, text=True, errors="replace"
    ).stdout


def _server(root: Path, names: list[str]) -> dict[str, str]:
    """Name, version, SHA-256 and program of the first one that the package brought."""
    program = next(
        path for name in names if (root / (path := f"/usr/bin/{name}").lstrip("/")).exists()
    )
    said = subprocess.run(
        ["chroot", str(root), program, "--version"],
        check=True,
        capture_output=True,
        text=True,
        errors="replace",
    ).stdout.split()
    sha256 = hashlib.sha256((root / program.lstrip("/")).read_bytes()).hexdigest()
    version = said[2].removeprefix("v=")
    return {"name": said[0], "version": version, "sha256": sha256, "program": program}


def _empty(root: Path) -> None:
    """Empty the folders that no guest needs."""
    for folder in ("var/cache/apt", "var/lib/apt/lists", "var/log", "tmp", "boot"):
        for child in (root / folder).iterdir():
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()


def _filesystem(plan: dict[str, Any], root: Path) -> None:
    file = Path(plan["to"]) / "root.raw"
    with file.open("wb") as stream:
        stream.truncate(plan["root_mib"] * 2**20)
    options = ("-q", "-F", "-t", "ext4", "-m", "0", "-L", plan["label"])
    # Whole inode tables now: what is written later by itself would be measured.
    eager = ("-E", "lazy_itable_init=0,lazy_journal_init=0")
    bare = Path(plan["to"]) / "bare"
    bare.mkdir()
    # A view of the tree without what is mounted in it just now: /proc, /sys, /dev.
    view = 'mount --bind "$1" "$2" && shift 2 && exec mke2fs "$@"'
    make = ("sh", "-c", view, "sh", str(root), str(bare))
    rest = (*options, "-d", str(bare), *eager, str(file))
    subprocess.run(["unshare", "--mount", *make, *rest], check=True)
    bare.rmdir()


def _in(root: Path, *argv: str) -> None:
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["chroot", str(root), *argv],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{argv[0]} in the image ended with {done.returncode}: {done.stderr[-1000:]}")


if __name__ == "__main__":
    os.umask(0o022)
    when, given, tree = sys.argv[1:]
    {"early": early, "late": late}[when](json.loads(Path(given).read_text()), Path(tree))
