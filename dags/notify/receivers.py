"""Deliver a message to one receiver of a study, within a time limit.

A study is data: it chooses among the notifiers of Airflow's providers and those that the machine's owner
lists, and no other module is imported. Its arguments are no templates. Parts of the message are put into
them, and of connections those that the owner lists; nothing of Airflow's context.
"""

from __future__ import annotations

import contextvars
import re
import threading
from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseNotifier, Connection
from airflow.sdk.log import redact

from density_study.cluster.state.settings import listed
from density_study.dags.notify.message import Message
from density_study.dags.notify.webhook import NotDeliveredError, WebHook
from density_study.workloads.study.notify import PLACE, SMTP, Receiver

TIME_LIMIT_S = 60.0
_MAX_CHARACTERS = 300
_URL = re.compile(r"(https?://[^/\s'\"]+)[^\s'\"]*")
_PATH = re.compile(r"(with url: )\S+")
_OF_PROVIDERS = re.compile(
    r"airflow\.providers\.[a-z0-9_.]+\.notifications\.[a-z0-9_.]+\.[A-Za-z0-9_]+"
)


def deliver(
    receiver: Receiver,
    message: Message,
    context: Mapping[str, Any],
    time_limit_s: float = TIME_LIMIT_S,
) -> str:
    """Why the receiver did not get the message; empty if it did. Never raises.

    `context` is that of the Airflow task, if there is one. A notifier may hang for ever, and Python cannot
    stop a thread: after the time limit it is left behind, and ends with this process.
    """
    faults: list[str] = []

    def notify() -> None:
        try:
            # Not by calling the notifier: that renders its fields as templates, replaces `message` by a field
            # of this name, which some notifiers have, and logs the exception as it is.
            notifier_of(receiver, message).notify({**context, "message": message})
        except BaseException as error:
            faults.append(_words(error))

    inherited = contextvars.copy_context()
    thread = threading.Thread(target=inherited.run, args=(notify,), daemon=True)
    thread.start()
    thread.join(time_limit_s)
    if thread.is_alive():
        faults.append(f"not delivered within {time_limit_s:g} s")
    return f"{receiver.name}: {faults[0]}" if faults else ""


def notifier_of(receiver: Receiver, message: Message) -> BaseNotifier:
    """Airflow's notifier for this receiver. NotDeliveredError if there is none, or it is not allowed here."""
    if receiver.webhook is not None:
        own = receiver.arguments
        return WebHook(receiver.webhook, message.facts if own is None else filled(own, message))
    if receiver.mail is not None:
        return _mail(receiver, message)
    path = receiver.notifier or ""
    if not _OF_PROVIDERS.fullmatch(path) and path not in listed("notifiers"):
        raise NotDeliveredError(
            "this machine does not allow it: it is neither a notifier of an Airflow provider nor in the "
            "setting `notifiers`"
        )
    kind = _imported(path)
    if not (isinstance(kind, type) and issubclass(kind, BaseNotifier)):
        raise NotDeliveredError("this is not an Airflow notifier (a subclass of BaseNotifier)")
    return kind(**filled(receiver.arguments or {}, message))


def filled(value: Any, message: Message) -> Any:
    """The arguments with the message in their places. What is put in is not looked at again."""
    if isinstance(value, dict):
        return {key: filled(one, message) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, message) for one in value]
    if isinstance(value, str):
        return PLACE.sub(lambda place: _part(place, message), value)
    return value


def _part(place: re.Match[str], message: Message) -> str:
    if place["part"]:
        return str(getattr(message, place["part"]))
    if place["id"] not in listed("notify_connections"):
        raise NotDeliveredError(
            f"this machine does not allow parts of the connection {place['id']!r}: it is not in the setting "
            "`notify_connections`"
        )
    return str(getattr(Connection.get(place["id"]), place["field"]) or "")


def _mail(receiver: Receiver, message: Message) -> BaseNotifier:
    try:
        from airflow.providers.smtp.notifications.smtp import SmtpNotifier
    except ImportError:
        raise NotDeliveredError(
            "mail needs Airflow's SMTP provider: install apache-airflow-providers-smtp"
        ) from None
    return SmtpNotifier(
        to=list(receiver.mail or ()),
        subject=message.subject,
        html_content=message.html,
        smtp_conn_id=receiver.connection or SMTP,
    )


def _imported(path: str) -> Any:
    from importlib import import_module

    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise NotDeliveredError(f"it cannot be imported: {error}") from None


def _words(error: BaseException) -> str:
    """One line without secrets: those that Airflow knows are masked, and URLs lose their paths."""
    if isinstance(error, NotDeliveredError):
        return str(error)
    lines = str(redact(str(error))).splitlines() or [""]
    line = _PATH.sub(r"\1***", _URL.sub(r"\1/***", lines[0]))[:_MAX_CHARACTERS]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
