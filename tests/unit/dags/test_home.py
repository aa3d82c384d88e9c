"""Airflow's environment variables."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.settings import FILE
from density_study.dags.airflow_home import home as module
from density_study.dags.airflow_home.home import Home, base_folder, home, project_root
from density_study.dags.web.webserver import password_of

NO_SETTINGS = {FILE: os.devnull}
HERE = Home(Path("/srv/airflow"), Path("/srv/project"))


def test_the_command_and_the_web_ui_never_share_a_database() -> None:
    """A scheduler would run the tasks of a run that a command executes in its own process."""
    key = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
    command, web = HERE.command_environment()[key], HERE.web_environment()[key]
    assert command != web
    assert command.startswith("sqlite:////srv/airflow/")
    assert web.startswith("sqlite:////srv/airflow/")


def test_the_web_ui_binds_to_loopback_at_the_configured_port() -> None:
    environment = HERE.web_environment(8081)
    assert environment["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert environment["AIRFLOW__API__PORT"] == "8081"
    for value in environment.values():
        assert "0.0.0.0" not in value
        assert not re.search(r"http://(?!127\.0\.0\.1:8081)", value)


@pytest.mark.parametrize("environment", [HERE.command_environment(), HERE.web_environment()])
def test_both_load_this_projects_dag_and_no_examples(environment: dict[str, str]) -> None:
    assert environment["AIRFLOW__CORE__DAGS_FOLDER"] == "/srv/project/dags"
    assert environment["AIRFLOW__CORE__LOAD_EXAMPLES"] == "False"
    assert environment["AIRFLOW_HOME"] == "/srv/airflow"
    assert environment["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"


def test_the_processes_of_airflow_find_the_home_that_they_were_given() -> None:
    assert home({"AIRFLOW_HOME": "/elsewhere"}).root == Path("/elsewhere")
    assert home(NO_SETTINGS).root == project_root() / ".airflow"


def test_the_base_folder_is_the_setting_the_checkout_or_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**NO_SETTINGS, "DENSITY_STUDY_HOME": "/srv/studies"}
    assert base_folder(environment) == Path("/srv/studies")
    assert home(environment) == Home(Path("/srv/studies/.airflow"), project_root())
    assert base_folder(NO_SETTINGS) == project_root()
    monkeypatch.setattr(module, "project_root", lambda: tmp_path)  # as if in site-packages
    monkeypatch.setenv("HOME", "/home/me")
    assert base_folder(NO_SETTINGS) == Path("/home/me/density-study")


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "null"])
def test_a_file_of_passwords_that_a_full_disk_emptied_is_named(text: str, tmp_path: Path) -> None:
    place = Home(tmp_path, tmp_path)
    made = password_of(place)
    assert password_of(place) == made
    place.passwords.write_text(text)
    with pytest.raises(InputError, match="password of admin") as refused:
        password_of(place)
    assert refused.value.where == str(place.passwords)
