"""Declared effects and noise."""

from __future__ import annotations

import time
from math import exp
from pathlib import Path

import numpy as np
import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.simulated.noise import Noise, log_speed
from density_study.workloads.simulated.effects_file import check_effects, named_effects
from tests.support.drafts import plan

V1, V2 = (plan().topologies[name] for name in ("v1-flash", "v2-flash"))


def test_effects_multiply_the_speed_of_their_variants_and_workloads(tmp_path: Path) -> None:
    path = tmp_path / "effects.yaml"
    path.write_text(
        "effects:\n"
        "  - {factor: vms_per_host, level: 2, workload: 'scan*', speed: 1.5}\n"
        "  - {factor: vms_per_host, per_level: true, speed: 1.2}\n"
    )
    effects = named_effects(str(path))
    assert exp(effects.log_speed(V1, "scan95-insert5")) == pytest.approx(1.0)
    assert exp(effects.log_speed(V2, "scan95-insert5")) == pytest.approx(1.8)
    assert exp(effects.log_speed(V2, "load")) == pytest.approx(1.2)


def test_shipped_effects_are_the_talks() -> None:
    talk = named_effects("talk")
    assert talk.are_alike("load") and not talk.are_alike("random")
    assert exp(talk.log_speed(V2, "scan95-insert5")) == pytest.approx(2.2)
    assert talk.service["scan"]["serial_ms"] == 2.0
    assert named_effects("none").are_alike("random")


@pytest.mark.parametrize("name", ("../sets/talk", "sets/talk", "/talk"))
def test_shipped_effects_have_a_name_and_no_path(name: str) -> None:
    with pytest.raises(InputError, match="no such effects"):
        named_effects(name)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("effects: [", "not valid YAML"),
        ("effects: !!bool maybe", "the tag"),
        ("effects: []\neffects: []", "duplicate key"),
        (f"effects: [{', '.join(['{factor: disk_type, level: hdd, speed: 2}'] * 2)}]", "multiply"),
        ("effects: [{factor: disk_type, level: on, speed: 2}]", "`level`"),
        ("# " + "x" * 2**17, "larger than 128 KiB"),
        ("effects: [{factor: disk_type, level: [[hdd]], speed: 2}]", "`level`"),
        ("effects: []", "key `effects`"),
        ("[1]", "key `effects`"),
        ("effects: [{factor: disk_type, level: hdd, speed: 0}]", "`speed`"),
        ("effects: [{factor: disk_type, level: hdd, speed: true}]", "`speed`"),
        ("effects: [{factor: disk_type, speed: 2}]", "`factor`"),
        ("effects: [{factor: disk_type, level: hdd, colour: red, speed: 2}]", "keys"),
        ("effects: [{factor: disk_type, level: hdd, speed: 2}]\nalike: load", "`alike`"),
        ("effects: [{factor: disk_type, level: hdd, speed: 2}]\nservice: {scan: 3}", "`service`"),
        (
            "effects: [{factor: disk_type, level: hdd, speed: 2}]\nservice: {scan: {cpu_ms: -1}}",
            "`service`",
        ),
        ("effects: [{factor: disk_type, level: hdd, speed: 2}]\nservice: {seek: {}}", "`service`"),
    ],
)
def test_bad_effects_are_refused(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "effects.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=what) as refused:
        named_effects(str(path))
    assert str(path) in refused.value.where
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("levels", "what"),
    [
        ("disk_type, level: falsh", "disk_type 'falsh'"),
        ("vms_per_host, level: 22", "vms_per_host '22'"),
        ("tier, level: heap", "tier 'heap'"),
        ("disk_type, per_level: true", "disk_type above 1"),
        ("regionservers_per_node, per_level: true", "regionservers_per_node above 1"),
    ],
)
def test_a_level_that_no_variant_has_is_refused(levels: str, what: str, tmp_path: Path) -> None:
    """It would change nothing, and the rehearsal would answer another question."""
    path = tmp_path / "effects.yaml"
    path.write_text(f"effects: [{{factor: {levels}, speed: 2}}]")
    with pytest.raises(InputError, match=f"no variant of the study has {what}"):
        check_effects(named_effects(str(path)), (V1, V2), {"load"})
    # shipped, for studies with more densities
    check_effects(named_effects("talk"), (V1, V2), {"load"})


@pytest.mark.parametrize("keys", ["workload: 'scn*'", "workload: load}]\nalike: [raed] #"])
def test_a_workload_that_the_study_lacks_is_refused(keys: str, tmp_path: Path) -> None:
    path = tmp_path / "effects.yaml"
    path.write_text(f"effects: [{{factor: vms_per_host, per_level: true, speed: 2, {keys}}}]")
    with pytest.raises(InputError, match=r"no workload of the study is '(scn.|raed)'"):
        check_effects(named_effects(str(path)), (V1, V2), {"load", "read", "scan95-insert5"})


def test_effects_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="no such effects"):
        named_effects("no-such-file.yaml")


def test_noise_is_read_as_written() -> None:
    assert Noise.parse("builds=5%, nights=0%") == Noise(nights=0.0, builds=0.05)
    for text in ("builds=5", "hours=5%", "builds=500%", "builds=5%,builds=1%"):
        with pytest.raises(InputError, match="not a part of the noise"):
            Noise.parse(text)


def test_draws_have_the_declared_spread_and_do_not_depend_on_the_order() -> None:
    noise = Noise(nights=0.0, builds=0.03, trials=0.04)
    drawn = [log_speed(noise, 1, 1, f"b{n}", f"b{n}-t") for n in range(4000)]
    assert np.std(drawn) == pytest.approx(0.05, rel=0.05)
    assert np.mean(drawn) == pytest.approx(0.0, abs=0.003)
    assert log_speed(noise, 1, 1, "b7", "b7-t") == drawn[7]
    assert log_speed(noise, 2, 1, "b7", "b7-t") != drawn[7]


def test_a_night_is_common_to_the_variants_of_a_repetition() -> None:
    noise = Noise(nights=0.1, builds=0.0, trials=0.0)
    first, later = (log_speed(noise, 1, 3, build, "t") for build in ("b3-v1", "b3-v2"))
    assert first == later != log_speed(noise, 1, 4, "b4-v1", "t")


MERGED = "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 12))
LISTED = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))


@pytest.mark.parametrize("text", [f"a0: &a0 {{k: 1}}\n{MERGED}", f"a0: &a0 [x]\n{LISTED}"])
def test_effects_that_grow_by_aliases_are_refused_soon(text: str, tmp_path: Path) -> None:
    path = tmp_path / "effects.yaml"
    path.write_text(f"{text}effects: []\n")
    begun_s = time.process_time()
    with pytest.raises(InputError, match="aliases"):
        named_effects(str(path))
    assert time.process_time() - begun_s < 5
