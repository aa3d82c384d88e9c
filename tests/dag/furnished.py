"""`furnish`: an AIRFLOW_HOME with its databases, which take Airflow seconds to create."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from density_study.cluster.state.atomic import locked
from density_study.dags.airflow_home.home import Home, migrate_once, project_root


def furnish(root: Path) -> Path:
    """Creates the folder with the databases of `study run` and of the web UI, both empty."""
    root.mkdir(parents=True, mode=0o700)
    place, source = Home(root, project_root()), _database()
    for database in (place.command_database, place.web_database):
        shutil.copy(source, database)
        shutil.copy(source.with_suffix(".ready"), database.with_suffix(".ready"))
    return root


def _database() -> Path:
    """One for all processes of pytest, and for later runs, until Airflow has another version."""
    root = project_root() / ".pytest_cache" / "airflow"
    root.mkdir(parents=True, exist_ok=True)
    place = Home(root, project_root())
    with locked(root / "lock"):  # several processes may be the first
        migrate_once(place.command_database, {**os.environ, **place.command_environment()})
    return place.command_database
