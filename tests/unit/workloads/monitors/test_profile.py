"""The profiler's command, its recordings, and its native library."""

from __future__ import annotations

import base64
import io
import platform
import zipfile
from pathlib import Path

import pytest

from density_study.workloads.monitors import with_devices
from density_study.workloads.monitors.daemons.profile import LIBRARY, recorded, recording_name
from density_study.workloads.monitors.daemons.recordings import unpacked

SAMPLE = Path(__file__).parents[3] / "samples" / "telemetry-1_profile.csv"


def test_the_command_names_the_library_of_its_host() -> None:
    command = with_devices(["profile"], profiler={"h1": "/b/lib"})["profile"](
        "h1", "/x", 1.0, "s/r/b", ("python3",)
    )
    assert command.argv[-2:] == ("--library", "/b/lib")


def test_recordings_are_named_after_daemons_that_were_profiled() -> None:
    text = SAMPLE.read_text()
    assert recorded(text) == ["w1/regionserver-1"]
    name = recording_name("profile", "h1", "w1/regionserver-1")
    assert name == "h1.profile.w1.regionserver-1.jfr"
    assert recorded(text.replace("w1/", "../w1/")) == []
    assert recorded("") == ()


def library(tmp_path: Path, *names: str) -> Path:
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    path = tmp_path / LIBRARY
    path.write_bytes(base64.b64encode(jar.getvalue()))
    return path


def test_the_library_of_this_machine_is_unpacked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    jar = library(tmp_path, "libs/lib-4-linux-x64.so", "libs/lib-4-linux-arm64.so")
    found = unpacked(jar)
    assert found.read_text() == "libs/lib-4-linux-arm64.so"
    before = found.stat().st_ino
    assert unpacked(jar) == found and found.stat().st_ino == before  # a JVM has it mapped
    assert {path.name for path in tmp_path.iterdir()} == {jar.name, found.name}


def test_a_machine_without_a_library_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="riscv64"):
        unpacked(library(tmp_path, "libs/lib-4-linux-x64.so"))
