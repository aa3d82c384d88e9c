"""JVM flags that run programs, touch files, load code or listen are refused; flags that tune are not."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from density_study.cluster.render.settable import flag_fault
from density_study.cluster.stack import find_java
from tests.security.studyfile.documents import listed

EVIL = listed("evil_flags.txt")
GOOD = listed("good_flags.txt")


def test_the_lists_are_long() -> None:
    assert len(set(EVIL)) >= 120 and len(set(GOOD)) >= 80


@pytest.mark.parametrize("flag", EVIL)
def test_an_evil_flag_is_refused(flag: str) -> None:
    assert flag_fault(flag), flag


@pytest.mark.parametrize("flag", GOOD)
def test_a_flag_that_tunes_is_taken(flag: str) -> None:
    assert flag_fault(flag) == ""


@pytest.mark.parametrize("end", ["\n-XX:OnError=x", "\r", "\x00", " ", "\u2028", "é"])
def test_nothing_follows_a_flag(end: str) -> None:
    assert flag_fault(f"-XX:MaxGCPauseMillis=50{end}")


def test_a_flag_has_a_bounded_length() -> None:
    assert flag_fault("-XX:+" + "A" * 100_000) and flag_fault("-Xlog:" + "a," * 100_000)


def test_no_text_flag_of_the_jvm_takes_any_text() -> None:
    """HotSpot's own list: what is not a number or a switch is a text, and only listed words are taken."""
    if shutil.which("java") is None:
        pytest.skip("no JDK")
    argv = [str(find_java().command), "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+UnlockExperimentalVMOptions", "-XX:+PrintFlagsFinal", "-version"]  # fmt: skip
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    texts = [line.split()[1] for line in told.splitlines() if line.strip().startswith("ccstr")]
    assert "OnError" in texts and len(texts) > 20
    words = {"NativeMemoryTracking", "ShenandoahGCHeuristics", "ShenandoahGCMode", "MetaspaceReclaimPolicy",
             "OnSpinWaitInst", "UseBranchProtection"}  # fmt: skip
    harmless = {"AbortVMOnException", "AbortVMOnExceptionMessage", "ControlIntrinsic", "DisableIntrinsic",
                "VerifyGCType", "VerifySubSet"}  # fmt: skip
    for name in texts:
        assert flag_fault(f"-XX:{name}=word") and flag_fault(f"-XX:{name}=/x"), name
        if name not in words | harmless:
            assert flag_fault(f"-XX:{name}=7"), name
