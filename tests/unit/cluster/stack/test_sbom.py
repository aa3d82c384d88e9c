"""Bills of materials are valid CycloneDX, and hold what the locks hold."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack import ensure
from density_study.cluster.stack.sbom import of_package, of_stack
from tests.support.toy_stack import ToyStack

LOCK: dict[str, Any] = tomllib.loads((Path(__file__).parents[4] / "uv.lock").read_text())


def read(text: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The bill, and its components by reference. It is valid."""
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    return bill, {one["bom-ref"]: one for one in bill["components"]}


def test_of_a_stack(toy: ToyStack) -> None:
    stack = ensure("toy")
    bill, jars = read(of_stack(stack))
    manifest = json.loads((stack.home / "manifest.json").read_text())
    assert {ref: one["hashes"][0]["content"] for ref, one in jars.items()} == {
        jar["name"]: jar["sha256"] for jar in manifest["jars"]
    }
    assert jars["a-1.jar"]["purl"] == "pkg:maven/org.toy/a-1@1?type=jar"
    assert jars["a-1.jar"]["licenses"] == [{"license": {"name": "Toy Licence"}}]
    assert bill["serialNumber"] == json.loads(of_stack(stack))["serialNumber"]


@pytest.mark.parametrize(
    "licences",
    [
        ["MIT"], ["Apache-2.0", "MIT"], ["MIT OR Apache-2.0"], ["GPL2 w/ CPE", "CDDL 1.1", "MIT"],
        ["MIT OR Apache-2.0", "BSD"], ["MIT", "MIT"], ["x" * 5000], ["<b>&\"'\u202e"], [], [" "],
    ],
)  # fmt: skip
def test_any_declared_licence_gives_a_valid_bill(licences: list[str], toy: ToyStack) -> None:
    stack = ensure("toy")
    path = stack.home / "manifest.json"
    manifest = json.loads(path.read_text())
    for jar in manifest["jars"]:
        jar["licences"] = licences
    path.write_text(json.dumps(manifest))
    read(of_stack(stack))


def test_of_the_package() -> None:
    _, packages = read(of_package())
    others = (one for one in LOCK["package"] if "version" in one)  # ours is that of the git tag
    locked = {f"{one['name']}@{one['version']}": one for one in others}
    for ref, one in packages.items():
        files = one["externalReferences"]
        hashes = {f"sha256:{file['hashes'][0]['content']}" for file in files}
        assert hashes == {
            file["hash"]
            for file in (*locked[ref].get("wheels", ()), *filter(None, [locked[ref].get("sdist")]))
        }
        assert one["purl"] == f"pkg:pypi/{ref}"
    by_name = {one["name"]: one for one in packages.values()}
    assert {"apache-airflow", "celery", "pyspark", "hatchling", "numpy"} <= by_name.keys()
    assert by_name["hatchling"]["scope"] == "excluded" and by_name["numpy"]["scope"] == "required"
    assert by_name["pydantic"]["licenses"] in (
        [{"license": {"id": "MIT"}}],
        [{"expression": "MIT"}],
    )
    assert not {"pytest", "mypy", "density-study"} & by_name.keys()


def test_without_a_lock_it_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no uv\.lock"):
        of_package(tmp_path / "uv.lock")
