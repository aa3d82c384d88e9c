"""The cache of golden images on a host: a libvirt pool that stays between studies.

An image is complete when its last volume, `<key>.complete`, exists; what an interrupted upload left is
uploaded again.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.libvirt.image import FILES
from density_study.cluster.providers.libvirt.names import IMAGE_POOL
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.libvirt.xml import pool_xml, volume_xml
from density_study.cluster.state.journal import Journal


@dataclass(frozen=True)
class Stored:
    """Where an image is on a host."""

    root: PurePosixPath
    kernel: PurePosixPath
    initrd: PurePosixPath
    root_bytes: int


def store(virsh: Virsh, folder: str, image: Path, journal: Journal, tag: str) -> Stored:
    """The image in the host's cache, uploaded first if it is not complete there."""
    target = PurePosixPath(folder)
    _ensure_pool(virsh, target)
    files = {kind: image / name for kind, name in FILES.items()}
    there = virsh.volumes(IMAGE_POOL)
    done = f"{image.name}.complete"
    if done not in there:
        journal.intend("upload-image", tag, uri=virsh.uri, image=image.name)
        for kind, file in files.items():
            _upload(virsh, f"{image.name}.{kind}", file, there)
        with tempfile.NamedTemporaryFile() as empty:
            empty.write(b"\0" * 512)
            empty.flush()
            _upload(virsh, done, Path(empty.name), there)
        journal.write("image-uploaded", tag=tag, uri=virsh.uri, image=image.name)
    paths = {kind: target / f"{image.name}.{kind}" for kind in files}
    return Stored(paths["root"], paths["kernel"], paths["initrd"], files["root"].stat().st_size)


def _ensure_pool(virsh: Virsh, target: PurePosixPath) -> None:
    if IMAGE_POOL not in virsh.names("pool-list"):
        virsh.run("pool-define", "/dev/stdin", stdin=pool_xml(IMAGE_POOL, None, target))
    elif f"<path>{target}</path>" not in virsh.run("pool-dumpxml", IMAGE_POOL):
        raise StudyError(
            f"the pool {IMAGE_POOL} is not at {target}.",
            f"libvirt {virsh.uri}",
            f"set the host's libvirt.images to the pool's path, or run: virsh pool-undefine {IMAGE_POOL}",
        )
    if not virsh.active("pool-list", IMAGE_POOL):
        virsh.run("pool-build", IMAGE_POOL)
        virsh.run("pool-start", IMAGE_POOL)


def _upload(virsh: Virsh, name: str, file: Path, there: dict[str, str]) -> None:
    if name in there:  # left by an upload that was cut short
        virsh.delete_volume(IMAGE_POOL, name)
    xml = volume_xml(name, file.stat().st_size, public=True)
    virsh.run("vol-create", IMAGE_POOL, "/dev/stdin", stdin=xml)
    virsh.upload(IMAGE_POOL, name, file)
