"""A client configuration of a stranger is read within limits or refused by name; it includes nothing else."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.existing.configuration import (
    copy_configuration,
    read_configuration,
)

NAMESPACE = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
LAUGHS = "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


def configuration(*parts: str) -> str:
    return f"<configuration {NAMESPACE}>{''.join(parts)}</configuration>"


def including(name: str, times: int = 1) -> str:
    return configuration(f'<xi:include href="{name}"/>' * times)


def value(text: str, name: str = "x") -> str:
    return f"<property><name>{name}</name><value>{text}</value></property>"


HOSTILE: Mapping[str, tuple[str, dict[str, str]]] = {
    "each file includes the next one often": (
        "more than 200 files",
        {"core-site": including("a.xml", 100), "a": including("b.xml", 100), "b": including("c.xml", 100),
         "c": including("d.xml", 100), "d": configuration()},
    ),
    "itself": ("in one another", {"core-site": including("core-site.xml")}),
    "elements in elements": (
        "in one another",
        {"core-site": "<configuration>" * 5000 + "</configuration>" * 5000},
    ),
    "fallbacks in fallbacks": (
        "in one another",
        {"core-site": configuration('<xi:include href="no.xml"><xi:fallback>' * 2000
                                    + "</xi:fallback></xi:include>" * 2000)},
    ),
    "many large files": (
        "larger than 8 MiB",
        {"core-site": including("a.xml", 50), "a": configuration(value("y" * 2**20))},
    ),
    "a file elsewhere": ("own folder", {"core-site": including("/etc/passwd")}),
    "a file above": ("own folder", {"core-site": including("../../../etc/passwd")}),
    "an address": ("own folder", {"core-site": including("http://127.0.0.1:9/x.xml")}),
    "a file as an entity": (
        "undefined entity",
        {"core-site": '<!DOCTYPE c [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + configuration(value("&e;"))},
    ),
    "a billion laughs": (
        "cannot be read",
        {"core-site": f'<!DOCTYPE c [<!ENTITY a "{"a" * 1000}">{LAUGHS}]>' + configuration(value("&i;"))},
    ),
}  # fmt: skip


def written(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, text in {
        "core-site": configuration(),
        "hbase-site": configuration(),
        **files,
    }.items():
        (folder / f"{name}.xml").write_text(text)
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_what_grows_or_leads_elsewhere_is_refused_soon(name: str, tmp_path: Path) -> None:
    reason, files = HOSTILE[name]
    begun_s = time.process_time()
    with pytest.raises(InputError, match=reason) as caught:
        read_configuration(written(tmp_path / "conf", files))
    assert time.process_time() - begun_s < 5
    assert str(tmp_path / "conf") in caught.value.where and caught.value.remedy
    assert "root:" not in str(caught.value)


def test_long_addresses_take_time_as_they_are_long(tmp_path: Path) -> None:
    """A password is looked for in each of them, after its variables."""
    many = (value("${long}", f"{number}.address") for number in range(500))
    folder = written(
        tmp_path / "conf", {"core-site": configuration(value(":" * 60_000, "long"), *many)}
    )
    begun_s = time.process_time()
    copy_configuration(folder, tmp_path / "copy")
    read_configuration(folder)
    assert time.process_time() - begun_s < 5


@pytest.mark.parametrize(
    "address", ["hdfs://u:p@h:1", "h:2181,u:p@h2", "x://a b:c@d", f"{'a:' * 1000}b@c"]
)
def test_an_address_with_a_password_is_still_found(address: str, tmp_path: Path) -> None:
    folder = written(
        tmp_path / "conf", {"core-site": configuration(value(address, "some.address"))}
    )
    with pytest.raises(InputError, match="password before the host's name"):
        read_configuration(folder)


@pytest.mark.parametrize(
    "address", ["hdfs://nn:8020", "h1:2181,h2:2181", "a@b", "http://h/@x", "x:// y@z"]
)
def test_an_address_without_one_is_taken(address: str, tmp_path: Path) -> None:
    folder = written(
        tmp_path / "conf", {"core-site": configuration(value(address, "some.address"))}
    )
    assert read_configuration(folder).get("some.address") == address
