"""The toolkit: this program's modules that run on a host, and dool, as one zip that Python imports.

Standard library only, so a host needs Python and nothing else. The same bytes for the same sources.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]  # the folder that contains the rooms
TOOLKIT = "toolkit.zip"
_MODULES = (
    "cluster/__init__.py",
    "cluster/machine/*.py",
    "cluster/machine/equality/*.py",
    "cluster/machine/privileged/*.py",
    "cluster/model/__init__.py",
    "cluster/model/access.py",
    "cluster/model/dividing/__init__.py",
    "cluster/model/dividing/cpus.py",
    "cluster/model/errors.py",
    "cluster/model/host.py",
    "cluster/model/network.py",
    "cluster/model/plain.py",
    "cluster/model/transport.py",
    "cluster/model/versions.py",
    "cluster/providers/__init__.py",
    "cluster/providers/ssh/__init__.py",
    "cluster/providers/ssh/agent.py",
    "cluster/providers/ssh/host_lease.py",
    "cluster/providers/ssh/host_stacks.py",
    "cluster/providers/ssh/units.py",
    "cluster/providers/ssh/wire.py",
    "cluster/providers/ssh/work_folder.py",
    "cluster/stack/java.py",
    "cluster/stack/machine_program.py",
    "cluster/state/__init__.py",
    "cluster/state/atomic.py",
    "cluster/state/plain_file.py",
    "cluster/state/tags.py",
    "cluster/state/runtime.py",
    "workloads/__init__.py",
    "workloads/base/__init__.py",
    "workloads/base/local_time.py",
    "workloads/base/parsing.py",
    "workloads/monitors/*.py",
    "workloads/monitors/daemons/*.py",
    "workloads/monitors/*.toml",
    "workloads/pipeline/__init__.py",
    "workloads/pipeline/machine/*.py",
)
_EMPTY = ("cluster/stack/__init__.py",)
"""Packages whose `__init__` imports modules that hosts do not need."""
_WHEN = (1980, 1, 1, 0, 0, 0)


@cache
def toolkit() -> bytes:
    """The zip's bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "density_study/__init__.py", b"")  # no namespace packages in a zip without it
        for pattern in _MODULES:
            for file in sorted(ROOT.glob(pattern)):
                _add(archive, f"density_study/{file.relative_to(ROOT)}", file.read_bytes())
        for name in _EMPTY:
            _add(archive, f"density_study/{name}", b"")
        dool = _dool_folder()
        for file in sorted(dool.rglob("*.py")):
            _add(archive, f"dool/{file.relative_to(dool)}", file.read_bytes())
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)


def _dool_folder() -> Path:
    spec = find_spec("dool")
    assert spec is not None and spec.origin is not None  # a locked dependency
    return Path(spec.origin).parent
