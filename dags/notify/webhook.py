"""`WebHook`: an Airflow notifier that posts a message as JSON to the URL in an Airflow connection.

The URL is a secret: whoever knows it can post. No error and no log contains it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

import requests
from airflow.sdk import BaseNotifier, Connection
from airflow.sdk.exceptions import AirflowNotFoundException
from requests import exceptions

CONNECT_TIMEOUT_S = 10
READ_TIMEOUT_S = 20
_WEB = ("http", "https")
_FAULTS = (
    (exceptions.ConnectTimeout, f"no connection within {CONNECT_TIMEOUT_S} s"),
    (exceptions.ReadTimeout, f"no answer within {READ_TIMEOUT_S} s"),
    (exceptions.SSLError, "the certificate of the receiver was not accepted"),
    (exceptions.ConnectionError, "the receiver cannot be reached, or closed the connection"),
)


class NotDeliveredError(Exception):
    """The reason in words that may be logged."""


class WebHook(BaseNotifier):  # type: ignore[misc]  # mypy does not follow Airflow (pyproject.toml)
    """Posts `body`. `connection` holds the URL: `AIRFLOW_CONN_<ID>=https://...`, or a connection
    with the whole URL in its field *host*. A login becomes basic authentication, a password without a login a
    bearer token."""

    def __init__(self, connection: str, body: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.connection = connection
        self.body = body

    def notify(self, context: Any) -> None:
        """NotDeliveredError unless the receiver answers with a 2xx status; a redirect is not followed."""
        request = self._request(json.dumps(self.body))
        try:
            with _quiet(), requests.Session() as session:
                answer = session.send(
                    request,
                    timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S),
                    allow_redirects=False,
                    **session.merge_environment_settings(request.url, {}, None, None, None),
                )
        except exceptions.RequestException as error:
            fault = next((text for kind, text in _FAULTS if isinstance(error, kind)), "")
            # `error` and what caused it contain the URL
            raise NotDeliveredError(fault or type(error).__name__) from None
        if not 200 <= answer.status_code < 300:
            raise NotDeliveredError(f"the receiver answered {_phrase(answer.status_code)}")

    def _request(self, body: str) -> requests.PreparedRequest:
        try:
            held = Connection.get(self.connection)
        except AirflowNotFoundException:
            raise NotDeliveredError(
                f"Airflow has no connection {self.connection!r}; define it there, or set "
                f"AIRFLOW_CONN_{self.connection.upper()} to the URL"
            ) from None
        url = url_of(held)
        headers = {"Content-Type": "application/json"}
        login = None
        if held.login:
            login = (held.login, held.password or "")
        elif held.password:
            headers["Authorization"] = f"Bearer {held.password}"
        try:
            request = requests.Request("POST", url, headers, data=body, auth=login).prepare()
        except exceptions.RequestException:
            request = None
        if request is None or not url.startswith(tuple(f"{scheme}://" for scheme in _WEB)):
            raise NotDeliveredError(
                f"the Airflow connection {self.connection!r} holds no http or https URL"
            ) from None
        return request


def url_of(held: Any) -> str:
    """The URL of an Airflow connection: its field *host* if that is a whole URL, else the URL that Airflow
    took apart, in which *schema* is the path and *extra* the query. A *schema* of http or https is the
    scheme, as for Airflow's HTTP hook."""
    host = held.host or ""
    if "://" in host:
        return str(host)
    scheme, path = held.conn_type, held.schema or ""
    if path in _WEB:
        scheme, path = path, ""
    port = f":{held.port}" if held.port else ""
    query = urlencode(json.loads(held.extra)) if held.extra else ""
    return f"{scheme}://{host}{port}/{quote(path)}" + (f"?{query}" if query else "")


@contextmanager
def _quiet() -> Iterator[None]:
    """urllib3 logs paths at the level DEBUG."""
    logger = logging.getLogger("urllib3.connectionpool")
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)


def _phrase(status: int) -> str:
    known = {each.value: each.phrase for each in HTTPStatus}
    return f"{status} {known.get(status, '')}".strip()
