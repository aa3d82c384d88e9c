"""Software bills of materials (CycloneDX 1.6, JSON): every jar of a stack, every package of this project.

Hashes are those of the locks, package URLs those of the registries. Licences are as the authors declare them:
nobody has judged them.
"""

from __future__ import annotations

import json
import tomllib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.spdx import is_supported_id
from packageurl import PackageURL

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack.stack import Stack
from density_study.cluster.stack.tree import MANIFEST

PACKAGE = "density-study"
_LOCK = Path(__file__).resolve().parents[2] / "uv.lock"
_SPACE = uuid.UUID("6f6b1f0e-8f0c-5d53-9a5e-0a6b6f1d3c55")
_LONGEST_LICENCE = 100
"""For a name; some packages declare the whole text."""


def of_stack(stack: Stack) -> str:
    """The text, by the manifest of the assembled tree."""
    manifest = json.loads((stack.home / MANIFEST).read_text())
    jars = [
        Component(
            name=jar["artifact"],
            group=jar["group"],
            version=jar["version"],
            purl=PackageURL.from_string(jar["purl"]),
            bom_ref=jar["name"],
            hashes=[_sha256(jar["sha256"])],
            licenses=_licences(jar["licences"]),
        )
        for jar in manifest["jars"]
    ]
    return _text(f"{stack.name}-stack", stack.version, stack.jars_sha256, jars)


def of_package(lock: Path = _LOCK) -> str:
    """The same of the Python packages that this project runs on, with all extras, and is built by."""
    if not lock.is_file():
        raise InputError(
            "this installation has no uv.lock, which holds the hashes of its packages.",
            str(lock),
            "run the command in a checkout.",
        )
    text = lock.read_text(encoding="utf-8")
    packages = tomllib.loads(text)["package"]
    own = next(one for one in packages if one["name"] == PACKAGE)
    extras = own["optional-dependencies"].values()
    runs = _closure(packages, [*own["dependencies"], *(one for extra in extras for one in extra)])
    builds = _closure(packages, own["dev-dependencies"]["build"]) - runs
    found = [
        _python_package(
            one, ComponentScope.REQUIRED if one["name"] in runs else ComponentScope.EXCLUDED
        )
        for one in packages
        if one["name"] in runs | builds
    ]
    return _text(PACKAGE, version(PACKAGE), text, found)


def _closure(
    packages: Sequence[Mapping[str, Any]], wanted: Iterable[Mapping[str, Any]]
) -> set[str]:
    """Names of what is wanted and of all that it needs, whatever the platform."""
    needs: dict[str, list[Mapping[str, Any]]] = {}
    extras: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in packages:
        needs.setdefault(one["name"], []).extend(one.get("dependencies", ()))
        for extra, more in one.get("optional-dependencies", {}).items():
            extras.setdefault((one["name"], extra), []).extend(more)
    found: set[str] = set()
    left, seen = list(wanted), set()
    while left:
        one = left.pop()
        for key in ((one["name"], ""), *((one["name"], extra) for extra in one.get("extra", ()))):
            if key not in seen:
                seen.add(key)
                found.add(one["name"])
                left += extras.get(key, []) if key[1] else needs[one["name"]]
    return found - {PACKAGE}


def _python_package(one: Mapping[str, Any], scope: ComponentScope) -> Component:
    files = [*one.get("wheels", ()), *([one["sdist"]] if "sdist" in one else [])]
    return Component(
        name=one["name"],
        version=one["version"],
        type=ComponentType.LIBRARY,
        scope=scope,
        purl=PackageURL("pypi", name=one["name"], version=one["version"]),
        bom_ref=f"{one['name']}@{one['version']}",
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(file["url"]),
                hashes=[_sha256(file["hash"].removeprefix("sha256:"))],
            )
            for file in files
        ],
        licenses=_licences(_declared(one["name"])),
    )


def _declared(name: str) -> list[str]:
    """The licences that the package declares; none if it is not installed here."""
    try:
        found = metadata(name)
    except PackageNotFoundError:
        return []
    if expression := found.get_all("License-Expression", []):
        return list(expression)
    named = (line.split(" :: ") for line in found.get_all("Classifier", []))
    classified = [words[-1] for words in named if words[0] == "License" and len(words) > 2]
    return classified or [one for one in found.get_all("License", []) if one and "\n" not in one]


def _licences(names: Sequence[str]) -> Iterator[License]:
    """One may be an expression of SPDX; of several, each has an identifier or a name of its own."""
    factory = LicenseFactory()
    short = [name[:_LONGEST_LICENCE] for name in names]
    if len(short) == 1:
        yield factory.make_from_string(short[0])
        return
    for name in dict.fromkeys(short):
        make = factory.make_with_id if is_supported_id(name) else factory.make_with_name
        yield make(name)


def _sha256(content: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=content)


def _text(name: str, version: str, made_from: str, components: Sequence[Component]) -> str:
    """The same name, version and content have the same serial number."""
    root = Component(name=name, version=version, type=ComponentType.APPLICATION, bom_ref="root")
    bom = Bom(
        components=components, serial_number=uuid.uuid5(_SPACE, f"{name} {version} {made_from}")
    )
    bom.metadata.component = root
    bom.register_dependency(root, components)
    return str(JsonV1Dot6(bom).output_as_string(indent=1)) + "\n"
