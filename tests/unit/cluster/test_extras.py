"""A missing extra is named with the command that installs it."""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model import extras
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.extras import MODULES, missing_extra, need
from density_study.dags.cli import main

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]


@pytest.fixture
def core_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    yield


def test_what_is_installed_is_not_missing() -> None:
    need("study run", *MODULES)


@pytest.mark.usefixtures("core_only")
def test_missing_extras_are_named_together() -> None:
    with pytest.raises(InputError) as caught:
        need("study run", "airflow", "spark")
    assert caught.value.what == "study run needs the extras airflow, spark."
    assert caught.value.remedy == "install it: pip install 'density-study[airflow,spark]'"
    assert caught.value.where == sys.prefix and caught.value.exit_code == 2


def test_a_module_that_cannot_be_imported_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def app(**_: object) -> None:
        raise ModuleNotFoundError("No module named 'altair.vegalite'", name="altair.vegalite")

    monkeypatch.setattr(main, "app", app)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2
    assert "pip install 'density-study[report]'" in capsys.readouterr().err
    assert missing_extra(ModuleNotFoundError("x", name="own_module")) is None


def owners(module: str) -> list[str]:
    """The distributions that installed files of `module`."""
    lines = re.compile(rf"^{module}[/.]", re.M)  # a package or an extension module
    records = Path(sysconfig.get_path("platlib")).glob("*.dist-info/RECORD")
    return [
        record.parent.name.partition("-")[0].replace("_", "-")
        for record in records
        if lines.search(record.read_text(encoding="utf-8"))
    ]


def test_every_module_belongs_to_its_extra_in_the_package() -> None:
    for extra, modules in MODULES.items():
        required = tuple(line.split(">")[0] for line in PROJECT["optional-dependencies"][extra])
        for module in modules:  # apache-airflow itself has no module, only its parts have
            assert any(name.startswith(required) for name in owners(module)), (extra, module)
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert everything == f"density-study[{','.join(MODULES)}]"
