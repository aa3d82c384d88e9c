"""`study doctor` says that a libvirt host has no KVM."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.libvirt.accel import check_kvm


class FakeVirsh:
    """Fails the commands in `failing`."""

    uri = "qemu:///system"

    def __init__(self, *failing: str) -> None:
        self.failing = failing

    def run(self, *arguments: str) -> str:
        if arguments[0] in self.failing:
            raise StudyError(f"virsh {arguments[0]} failed: no.", "libvirt", "read its log.")
        return ""


def test_a_host_with_kvm_has_no_fault() -> None:
    check_kvm(FakeVirsh())  # type: ignore[arg-type]


def test_a_host_without_kvm_is_named_with_what_it_means() -> None:
    with pytest.raises(InputError) as caught:
        check_kvm(FakeVirsh("domcapabilities"))  # type: ignore[arg-type]
    assert caught.value.where == "libvirt qemu:///system"
    assert "emulated" in caught.value.what and "nested" in caught.value.remedy


def test_a_libvirt_that_does_not_answer_is_another_fault() -> None:
    with pytest.raises(StudyError, match="virsh version failed") as caught:
        check_kvm(FakeVirsh("version", "domcapabilities"))  # type: ignore[arg-type]
    assert not isinstance(caught.value, InputError)
