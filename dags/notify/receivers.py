"""Deliver a message to one receiver of a study, within a time limit."""

from __future__ import annotations

import contextvars
import re
import threading
from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseNotifier
from airflow.sdk.log import redact

from density_study.dags.notify.message import Message
from density_study.dags.notify.webhook import NotDeliveredError, WebHook
from density_study.workloads.spec.notify import SMTP, Receiver

TIME_LIMIT_S = 60.0
_MAX_CHARACTERS = 300
_URL = re.compile(r"(https?://[^/\s'\"]+)[^\s'\"]*")
_PATH = re.compile(r"(with url: )\S+")


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
            # Not by calling the notifier: that replaces `message` by a field of this name, which some
            # notifiers have, and logs the exception as it is.
            notifier, given = notifier_of(receiver), {**context, "message": message}
            notifier.render_template_fields(given)
            notifier.notify(given)
        except BaseException as error:
            faults.append(_words(error))

    inherited = contextvars.copy_context()
    thread = threading.Thread(target=inherited.run, args=(notify,), daemon=True)
    thread.start()
    thread.join(time_limit_s)
    if thread.is_alive():
        faults.append(f"not delivered within {time_limit_s:g} s")
    return f"{receiver.name}: {faults[0]}" if faults else ""


def notifier_of(receiver: Receiver) -> BaseNotifier:
    """Airflow's notifier for this receiver. NotDeliveredError if there is none."""
    if receiver.webhook is not None:
        return WebHook(receiver.webhook)
    if receiver.mail is not None:
        return _mail(receiver)
    kind = _imported(receiver.notifier or "")
    if not (isinstance(kind, type) and issubclass(kind, BaseNotifier)):
        raise NotDeliveredError("this is not an Airflow notifier (a subclass of BaseNotifier)")
    return kind(**(receiver.arguments or {}))


def _mail(receiver: Receiver) -> BaseNotifier:
    try:
        from airflow.providers.smtp.notifications.smtp import SmtpNotifier
    except ImportError:
        raise NotDeliveredError(
            "mail needs Airflow's SMTP provider: install apache-airflow-providers-smtp"
        ) from None
    # Templates, so that braces in the message itself are not rendered.
    return SmtpNotifier(
        to=list(receiver.mail or ()),
        subject="{{ message.subject }}",
        html_content="{{ message.html }}",
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
