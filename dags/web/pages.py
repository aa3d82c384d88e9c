"""`pages`: the results hub and the reports as a web application inside Airflow's API server.

Airflow does not protect a plugin's pages, so every route here asks for Airflow's login and for the right to
read the DAG runs concerned.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from fastapi import Depends, FastAPI, HTTPException, Request, status
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from density_study.analysis.hub.files import HUB, REPORT, hub_policy
from density_study.dags.web.results import dag_of, no_report, run_of_dag_run, served

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
SANDBOX = {"Content-Security-Policy": "sandbox allow-scripts allow-downloads"}
"""A report runs its scripts in an origin of its own: nothing in it can act with the reader's login."""


def pages(runs: Path) -> FastAPI:
    """The application for the folder `runs`. It reads files only, and nothing outside this folder."""
    app = FastAPI(openapi_url=None)

    @app.exception_handler(HTTPException)
    async def to_login(request: Request, error: HTTPException) -> Response:
        """A browser without a login goes to Airflow's; every other client gets the status."""
        wants_page = "text/html" in request.headers.get("accept", "")
        if error.status_code != status.HTTP_401_UNAUTHORIZED or not wants_page:
            return await http_exception_handler(request, error)
        sent = request.headers
        if (sent.get("sec-fetch-dest"), sent.get("sec-fetch-site")) == ("iframe", "cross-site"):
            return _message(  # a link in a sandbox: the reader is logged in, but no browser says so
                "In a tab of its own",
                f"This page cannot be shown inside Airflow. Open {_asked(request)} in a new tab.",
                status.HTTP_401_UNAUTHORIZED,
            )
        # Paths, no addresses: the Host header is whatever the client sent. base_url has the path of Airflow,
        # which may be served below one of its own.
        below = request.base_url.path
        login = f"{below}api/v2/auth/login?next={quote(_asked(request), safe='')}"
        return RedirectResponse(login, status.HTTP_307_TEMPORARY_REDIRECT, HEADERS)

    @app.get("/dag-run", dependencies=[Depends(requires_access_dag("GET", DagAccessEntity.RUN))])
    def dag_run(dag_id: str, run_id: str) -> Response:
        """Redirect to the report of the run that this DAG run carried out, or say why there is none."""
        run = run_of_dag_run(runs, dag_id, run_id)
        if run is None:
            return _message(
                "No report",
                "This DAG run has opened no run of a study, or in another folder than the one that Airflow "
                "shows (DENSITY_STUDY_RUNS).",
            )
        if not (run / REPORT).is_file():
            return _message(*no_report(run))
        at = quote(f"{run.parent.name}/{run.name}/{REPORT}")
        return RedirectResponse(at, status.HTTP_307_TEMPORARY_REDIRECT, HEADERS)

    @app.get("/{path:path}")
    def file(path: str, request: Request, user: GetUserDep) -> Response:
        """The hub, or a file of a report. Nothing is looked for before the rights are known: an answer to
        somebody without them does not reveal which runs exist."""
        _require_access(request, user, dag_of(path))
        found = served(runs, path)
        if found is None and path in ("", HUB):
            return _message("No results yet", "The results hub appears with the first report.")
        if found is None:
            raise HTTPException(status.HTTP_404_NOT_FOUND, "There is no such report.")
        # The hub leads to reports inside Airflow's frame. From a sandbox, a browser would not send the login.
        own = SANDBOX if found.in_report else {"Content-Security-Policy": hub_policy()}
        return Response(found.content, media_type=found.content_type, headers={**HEADERS, **own})

    return app


def _asked(request: Request) -> str:
    """Path and query of the request, as a link on the same site."""
    url = request.url
    return f"/{url.path.lstrip('/')}" + (f"?{url.query}" if url.query else "")


def _require_access(request: Request, user: BaseUser, dag_id: str | None) -> None:
    """403 unless the user may read the runs of this DAG; without a DAG, of all DAGs."""
    if dag_id is not None:
        requires_access_dag("GET", DagAccessEntity.RUN, dag_id)(request, user)
        return
    # With None, requires_access_dag would take the DAG from the query, which the user chooses.
    every = DagDetails(id=None)
    if not get_auth_manager().is_authorized_dag(
        method="GET", access_entity=DagAccessEntity.RUN, details=every, user=user
    ):
        raise HTTPException(status.HTTP_403_FORBIDDEN, "Forbidden")


def _message(title: str, text: str, code: int = status.HTTP_404_NOT_FOUND) -> HTMLResponse:
    """A page in place of a report: what is missing, and when it comes."""
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title></head>"
        '<body style="font-family: system-ui, sans-serif; max-width: 40rem; margin: 2rem">'
        f"<h1>{escape(title)}</h1><p>{escape(text)}</p></body></html>"
    )
    return HTMLResponse(page, code, {**HEADERS, **SANDBOX})
