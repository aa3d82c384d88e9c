"""Messages reach real HTTP and SMTP servers; failing, slow and hanging ones are named, without secrets."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from density_study.dags.notify.message import Message, Number
from density_study.workloads.study.notify import Receiver
from tests.support.receivers import Hook, Mailbox, serving

pytestmark = [pytest.mark.dag, pytest.mark.usefixtures("airflow")]
SECRET = "/services/T0SECRET/B0SECRET"
MESSAGE = Message(
    event="regression",
    study="nightly",
    run="20261121T020003Z",
    headline="YCSB a, v1-flash: throughput 0.80x (0.78 to 0.82, p = 0.001)",
    lines=("{{ 7 * 7 }} <b>not a template</b>",),
    numbers=(Number("YCSB a", "v1-flash", "throughput", 0.8, 0.78, 0.82, 0.001),),
    causes=("machine.kernel: Linux 6.1 -> Linux 6.2",),
    baseline=("20261114T020003Z",),
    report="https://reports.example.org/nightly/20261121T020003Z/report/index.html",
)


@pytest.fixture
def hook(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    with serving(Hook(getattr(request, "param", "ok"))) as server:
        monkeypatch.setenv("AIRFLOW_CONN_HOOK", server.address + SECRET)
        yield server


@pytest.fixture
def mailbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mailbox]:
    with serving(Mailbox(getattr(request, "param", "ok"))) as server:
        mail_at(monkeypatch, server.server_port)
        yield server


def mail_at(monkeypatch: pytest.MonkeyPatch, port: int, login: str = "", more: str = "") -> None:
    plain = (
        "disable_ssl=true&disable_tls=true&from_email=study%40example.org&timeout=1&retry_limit=0"
    )
    monkeypatch.setenv(
        "AIRFLOW_CONN_SMTP_DEFAULT", f"smtp://{login}127.0.0.1:{port}/?{plain}{more}"
    )


def deliver(time_limit_s: float = 20.0, **receiver: Any) -> str:
    from density_study.dags.notify.receivers import deliver

    return deliver(Receiver(**receiver), MESSAGE, {}, time_limit_s)


def test_a_web_hook_gets_what_how_much_interval_cause_and_link(hook: Hook) -> None:
    assert deliver(webhook="hook") == ""
    assert hook.paths == [SECRET]
    (body,) = hook.bodies
    assert body["subject"] == f"nightly: regression: {MESSAGE.headline}"
    assert body["numbers"][0] == {
        "subject": "YCSB a", "among": "v1-flash", "measure": "throughput",
        "ratio": 0.8, "low": 0.78, "high": 0.82, "p": 0.001,
    }  # fmt: skip
    assert body["causes"] == ["machine.kernel: Linux 6.1 -> Linux 6.2"]
    assert body["report"] == MESSAGE.report
    assert all(part in body["text"] for part in (MESSAGE.headline, "likely cause: ", "report: "))


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ({"title": "{{ message.subject }}", "labels": ["perf"]},
         {"title": f"nightly: regression: {MESSAGE.headline}", "labels": ["perf"]}),
        ({"fields": {"project": {"key": "PERF"}, "description": "run {{ message.run }}"}},
         {"fields": {"project": {"key": "PERF"}, "description": "run 20261121T020003Z"}}),
        ({}, {}),
    ],
)  # fmt: skip
def test_a_web_hook_gets_the_json_that_its_service_reads(
    hook: Hook, arguments: dict[str, Any], body: dict[str, Any]
) -> None:
    assert deliver(webhook="hook", arguments=arguments) == ""
    assert hook.bodies == [body]


def test_a_slow_web_hook_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Hook("slow")) as server:
        monkeypatch.setenv("AIRFLOW_CONN_HOOK", server.address)
        assert deliver(webhook="hook") == ""


@pytest.mark.parametrize(
    ("hook", "fault"),
    (
        (500, "the receiver answered 500 Internal Server Error"),
        (404, "the receiver answered 404 Not Found"),
        (302, "the receiver answered 302 Found"),
        ("drop", "the receiver cannot be reached, or closed the connection"),
    ),
    indirect=["hook"],
)
def test_a_failing_web_hook_is_named_without_its_url(
    hook: Hook, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    assert deliver(webhook="hook") == f"web hook hook: {fault}"
    assert len(hook.bodies) == 1, "a redirect is not followed"
    assert "SECRET" not in caplog.text


@pytest.mark.parametrize("hook", ("hang", "drip"), indirect=True)
def test_a_hanging_web_hook_ends_at_the_time_limit(hook: Hook) -> None:
    began = time.monotonic()
    assert deliver(0.7, webhook="hook") == "web hook hook: not delivered within 0.7 s"
    assert time.monotonic() - began < 5.0


def test_a_hanging_web_hook_is_given_up_by_itself(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    from density_study.dags.notify import webhook

    hook.how = "hang"
    monkeypatch.setattr(webhook, "READ_TIMEOUT_S", 0.3)
    assert deliver(webhook="hook").startswith("web hook hook: no answer within")


def test_a_web_hook_without_a_connection_or_with_a_bad_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "set AIRFLOW_CONN_NOWHERE to the URL" in deliver(webhook="nowhere")
    monkeypatch.setenv("AIRFLOW_CONN_HOOK", "ftp://127.0.0.1/SECRET")
    fault = deliver(webhook="hook")
    assert "no http or https URL" in fault and "SECRET" not in fault
    with serving(Hook()) as closed:
        monkeypatch.setenv("AIRFLOW_CONN_HOOK", closed.address + SECRET)
    fault = deliver(webhook="hook")
    assert "cannot be reached" in fault and "SECRET" not in fault


@pytest.mark.parametrize(
    ("connection", "url"),
    (
        (
            "https://h.example:8443/a/b%20c?sig=x%2By&v=1",
            "https://h.example:8443/a/b%20c?sig=x%2By&v=1",
        ),
        ("https://h.example", "https://h.example/"),
        ('{"conn_type": "http", "host": "https://h.example/a/b"}', "https://h.example/a/b"),
        ('{"conn_type": "http", "host": "h.example", "schema": "https"}', "https://h.example/"),
    ),
)
def test_the_url_is_that_of_the_connection(
    monkeypatch: pytest.MonkeyPatch, connection: str, url: str
) -> None:
    from airflow.sdk import Connection

    from density_study.dags.notify.webhook import url_of

    monkeypatch.setenv("AIRFLOW_CONN_HOOK", connection)
    assert url_of(Connection.get("hook")) == url


@pytest.mark.parametrize(
    ("login", "header"),
    (("user:pass@", "Basic dXNlcjpwYXNz"), (":token@", "Bearer token"), ("", None)),
)
def test_a_login_is_sent_as_authorization(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, login: str, header: str | None
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_HOOK", hook.address.replace("://", f"://{login}"))
    assert deliver(webhook="hook") == ""
    assert hook.headers[0].get("Authorization") == header


def test_a_mail_has_the_message_and_renders_no_template_of_it(mailbox: Mailbox) -> None:
    assert deliver(mail=["a@example.org", "b@example.org"]) == ""
    (mail,) = mailbox.mails
    assert mail["Subject"] == f"nightly: regression: {MESSAGE.headline}"
    assert len(mailbox.recipients) == 2
    parts = [part.get_payload(decode=True) for part in mail.walk() if not part.is_multipart()]
    text = b"".join(part for part in parts if isinstance(part, bytes)).decode()
    assert "{{ 7 * 7 }} &lt;b&gt;not a template&lt;/b&gt;" in text
    assert f'<a href="{MESSAGE.report}">' in text


def test_mail_logs_in_with_the_password_of_the_connection(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_at(monkeypatch, mailbox.server_port, "me:right-password@")
    assert deliver(mail=["a@example.org"]) == ""
    assert mailbox.logins == [("me", "right-password")]
    mail_at(monkeypatch, mailbox.server_port, "me:WRONGSECRET@")
    fault = deliver(mail=["a@example.org"])
    assert "535" in fault and "WRONGSECRET" not in fault


@pytest.mark.parametrize(
    ("mailbox", "fault"), (("refuse", "550"), ("hang", "Unable to connect")), indirect=["mailbox"]
)
def test_a_failing_or_hanging_mail_server_is_named(mailbox: Mailbox, fault: str) -> None:
    told = deliver(mail=["a@example.org"])
    assert told.startswith("mail to a@example.org: ") and fault in told
    assert mailbox.mails == []


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's owner allows the notifier of this file."""
    monkeypatch.setenv("DENSITY_STUDY_NOTIFIERS", f"a.b.C, {__name__}.Own")
    own_notifier()


@pytest.mark.usefixtures("own")
def test_a_notifier_that_the_owner_lists_gets_the_message_in_its_arguments() -> None:
    template = {"message": "{{ message.event }} of {{ message.study }}"}
    assert deliver(notifier=f"{__name__}.Own", arguments=template) == ""
    assert GOT == ["regression of nightly"]


@pytest.mark.usefixtures("own")
def test_what_is_put_into_arguments_is_no_template() -> None:
    assert deliver(notifier=f"{__name__}.Own", arguments={"message": "{{ message.text }}"}) == ""
    assert "{{ 7 * 7 }}" in GOT[0]


@pytest.mark.usefixtures("own")
def test_parts_of_a_connection_need_the_owners_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_PAGER", "http://u:PAGERSECRET@h:1/")
    monkeypatch.setenv("AIRFLOW_CONN_PROD", "http://u:PRODSECRET@h:1/")
    receiver = {
        "notifier": f"{__name__}.Own",
        "arguments": {"message": "{{ conn.pager.password }}"},
    }
    fault = deliver(**receiver)
    assert "does not allow parts of the connection 'pager'" in fault and not GOT
    monkeypatch.setenv("DENSITY_STUDY_NOTIFY_CONNECTIONS", "pager,other")
    assert deliver(**receiver) == "" and GOT == ["PAGERSECRET"]
    receiver["arguments"] = {"message": "{{ conn.prod.password }}"}
    assert "does not allow" in deliver(**receiver) and GOT == ["PAGERSECRET"]


def test_nothing_is_imported_that_the_owner_did_not_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil_module.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for path in ("evil_module.Notifier", "os.system", "airflow.providers.evil_module.Notifier",
                 "airflow.models.Variable", "subprocess.Popen"):  # fmt: skip
        assert "this machine does not allow it" in deliver(notifier=path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("receiver", "fault"),
    (
        ({"notifier": "no_such_package.Notifier"}, "this machine does not allow it"),
        ({"notifier": "json.JSONDecoder"}, "this machine does not allow it"),
        (
            {"notifier": "airflow.providers.x.notifications.y.Z"},
            "cannot be imported: No module named",
        ),
        ({"notifier": "airflow.providers.smtp.notifications.smtp.X"}, "cannot be imported: module"),
        ({"notifier": "airflow.providers.smtp.notifications.smtp.Path"}, "not an Airflow notifier"),
        ({"notifier": "airflow.providers.smtp.notifications.smtp.SmtpNotifier"}, "TypeError"),
    ),
)
def test_a_notifier_that_cannot_be_used_is_a_fault(receiver: dict[str, Any], fault: str) -> None:
    assert fault in deliver(**receiver)


@pytest.mark.usefixtures("own")
def test_the_fault_of_a_strange_notifier_shows_no_path_of_a_url() -> None:
    fault = deliver(notifier=f"{__name__}.Own", arguments={"message": "raise"})
    assert fault.endswith("RuntimeError: POST https://h.example/*** failed with url: ***")


@pytest.mark.usefixtures("own")
def test_a_notifier_that_ends_the_thread_is_a_fault() -> None:
    fault = deliver(notifier=f"{__name__}.Own", arguments={"message": "exit"})
    assert fault.endswith("SystemExit: 3")


GOT: list[str] = []


def own_notifier() -> None:
    """Defined when it is first used, because Airflow reads its environment when it is imported."""
    GOT.clear()
    if "Own" in globals():
        return
    from airflow.sdk import BaseNotifier

    class Own(BaseNotifier):  # type: ignore[misc]
        template_fields = ("message",)

        def __init__(self, message: str) -> None:
            super().__init__()
            self.message = message

        def notify(self, context: Any) -> None:
            if self.message == "raise":
                raise RuntimeError("POST https://h.example/OTHER failed with url: /OTHER\nmore")
            if self.message == "exit":
                raise SystemExit(3)
            GOT.append(self.message)

    globals()["Own"] = Own
