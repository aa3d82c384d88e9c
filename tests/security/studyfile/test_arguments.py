"""No text of a study becomes an option of a program, a query of a URI, or a second argument."""

from __future__ import annotations

import pytest

from tests.security.studyfile.documents import (
    ALL,
    EXISTING,
    LIBVIRT,
    LOCAL,
    Path,
    changed,
    fault,
    texts,
)

WORDS_OF_PEOPLE: tuple[Path, ...] = (
    ("question",),
    ("notify", 2, "arguments", "text"),
    ("notify", 2, "arguments", "slack_conn_id"),
)
"""Texts that no program gets as an argument."""
PLACES = [
    (name, path)
    for name, document in ALL.items()
    for path in texts(document)
    if path not in WORDS_OF_PEOPLE
]


@pytest.mark.parametrize("name", ALL)
def test_the_studies_are_valid_before_they_are_changed(name: str) -> None:
    assert fault(ALL[name]) == ""


def test_no_text_is_an_option_or_has_control_characters() -> None:
    assert len(PLACES) > 70
    for name, path in PLACES:
        before = ALL[name]
        for part in path:
            before = before[part]
        for value in ("-oProxyCommand=touch /tmp/x", "-x", f"{before}\n-x", f"{before}\x1b[2J"):
            assert fault(changed(ALL[name], path, value)), (path, value)


@pytest.mark.parametrize(
    "uri",
    [
        "qemu+ssh://u@h/system?command=/tmp/x&no_verify=1", "qemu:///system?socket=/tmp/x",
        "qemu+ssh://u@h/system?", "qemu+ssh://u@h/system?keyfile=/x", "qemu+ssh://u@h/system#x",
        "qemu+ssh://-oProxyCommand=x/system", "qemu+ssh://u@-oProxyCommand=x/system",
        "qemu+ssh://-l@h/system", "qemu+ssh://u:p@h/system", "qemu+ssh://u@h:22:33/system",
        "qemu+ssh://u@h/session", "qemu+ext://u@h/system?command=x", "qemu+libssh://u@h/system",
        "qemu+tcp://h/system", "qemu+tls://h/system?pkipath=/x", "qemu+unix:///system?socket=/x",
        "qemu:///system\n", "qemu:///embed?root=/x", "xen:///", "lxc:///", "test:///default", "qemu:///session",
        "esx://h/?no_verify=1", "qemu+ssh://u@h/system/../x", "qemu+ssh:///system", "QEMU:///system",
        "qemu+ssh://u@h/system%3Fcommand=x", "qemu+ssh://u@@h/system", "qemu+ssh://u@h/systemx",
    ],
)  # fmt: skip
def test_a_libvirt_uri_has_no_query_and_no_option(uri: str) -> None:
    assert "libvirt" in fault(changed(LIBVIRT, ("hosts", 0, "libvirt"), uri))


@pytest.mark.parametrize(
    "uri",
    ["qemu:///system", "qemu+ssh://root@192.0.2.1/system", "qemu+ssh://h1.example.org:2222/system"],
)
def test_a_libvirt_uri_without_a_query_is_taken(uri: str) -> None:
    assert fault(changed(LIBVIRT, ("hosts", 0, "libvirt"), uri)) == ""


@pytest.mark.parametrize("document", [LOCAL, LIBVIRT, EXISTING])
def test_every_host_has_an_address_whatever_its_provider(document: object) -> None:
    for address in (
        "-oProxyCommand=x",
        "u@h",
        "h h",
        "h;x",
        "h/x",
        "$(x)",
        "",
        "[::1]",
        "h\n",
        "h-",
        ".h",
        "%h",
    ):
        assert "is not an IPv4 address" in fault(
            changed(document, ("hosts", 0, "address"), address)
        )


def test_guests_disks_and_images_are_plain_paths() -> None:
    for path in ("/a b", "/a/../b", "relative", "/a,b", "/a:b", "/a\tb"):
        assert "disks[0].path" in fault(changed(LIBVIRT, ("hosts", 0, "disks", 0, "path"), path))
    for path in ("/a/../b", "/..", "/../etc", "/a/.", "/a;b"):
        assert "vms.images" in fault(changed(LIBVIRT, ("vms", "images"), path))
