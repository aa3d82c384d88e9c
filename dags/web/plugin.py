"""Airflow plugin: a DAG run shows the report of its study, and the UI shows the results hub.

Airflow finds it by the entry point group `airflow.plugins` (pyproject.toml) and loads it in all of its
processes; only the API server asks for the pages, which take a second to import.
"""

from __future__ import annotations

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

from density_study.dags.web.results import PREFIX


class StudyPlugin(AirflowPlugin):  # type: ignore[misc]  # mypy does not follow Airflow
    """Relative addresses, because Airflow's UI may be served below a path of its own."""

    name = PREFIX
    external_views: ClassVar[list[dict[str, str]]] = [
        {
            "name": "Report",
            "href": f"{PREFIX}/dag-run?dag_id={{DAG_ID}}&run_id={{RUN_ID}}",
            "destination": "dag_run",
            "url_route": f"{PREFIX}-report",
        },
        {
            "name": "Study results",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "category": "browse",
            "url_route": PREFIX,
        },
    ]

    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:
        """The pages of `dags.web.pages`, on the port of Airflow's UI."""
        from density_study.dags.airflow_home.home import runs_folder
        from density_study.dags.web.pages import pages

        return [{"app": pages(runs_folder()), "url_prefix": f"/{PREFIX}", "name": PREFIX}]
