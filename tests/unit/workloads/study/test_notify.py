"""The key `notify`: exactly one kind of receiver, and no secret in a study."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.study.notify import OCCASIONS
from density_study.workloads.study.study_file import parse_study

TEXT = Path("tests/support/quickstart.yaml").read_text()


def refused(receiver: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_study(f"{TEXT}notify: [{receiver}]\n", "q.yaml")
    return caught.value


def test_receivers_are_read_and_get_every_event_by_default() -> None:
    hook, mail, other = parse_study(
        TEXT + "notify:\n"
        "  - webhook: hook\n"
        "  - {mail: [me@example.org], connection: smtp_lab, events: [failure, late]}\n"
        "  - {notifier: a.b.C, arguments: {slack_conn_id: s, text: '{{ message.text }}'}}\n",
        "q.yaml",
    ).study.notify
    assert (hook.webhook, hook.events) == ("hook", OCCASIONS)
    assert (mail.mail, mail.connection, mail.events) == (
        ("me@example.org",), "smtp_lab", ("failure", "late"),
    )  # fmt: skip
    assert other.arguments == {"slack_conn_id": "s", "text": "{{ message.text }}"}
    assert [hook.name, mail.name] == ["web hook hook", "mail to me@example.org"]


@pytest.mark.parametrize(
    ("receiver", "key", "message"),
    (
        ("{}", "notify[0]", "exactly one of webhook, mail or notifier"),
        ("{webhook: a, mail: [a@b.c]}", "notify[0]", "exactly one of"),
        ("{webhok: a}", "notify[0].webhok", "unknown key 'webhok'"),
        ("{webhook: a, connection: b}", "notify[0].connection", "belongs to `mail`"),
        ("{mail: [a@b.c], arguments: {}}", "notify[0].arguments", "to `notifier` or `webhook`"),
        ("{mail: [me]}", "notify[0].mail[0]", "not a mail address"),
        ("{mail: ['a@b.c, d@e.f']}", "notify[0].mail[0]", "not a mail address"),
        ("{mail: []}", "notify[0].mail", "give 1 or more values"),
        ("{notifier: Slack}", "notify[0].notifier", "not an import path"),
        ("{webhook: a, events: [later]}", "notify[0].events[0]", "'late', not 'later'"),
        ("{webhook: a, events: [late, late]}", "notify[0].events", "duplicate event: 'late'"),
        ("{webhook: a, events: []}", "notify[0].events", "give 1 or more values"),
    ),
)
def test_a_fault_has_a_key(receiver: str, key: str, message: str) -> None:
    error = refused(receiver)
    assert error.where.endswith(f", key {key}")
    assert message in error.what


def test_a_misspelt_key_gets_a_suggestion() -> None:
    assert "did you mean webhook?" in refused("{webhok: a}").remedy
    with pytest.raises(InputError, match="did you mean notify"):
        parse_study(TEXT + "notfy: []\n", "q.yaml")


@pytest.mark.parametrize(
    "receiver",
    (
        "{webhook: 'https://hooks.example.org/SECRET'}",
        "{webhook: 'user:SECRET@host'}",
        "{mail: [a@b.c], connection: 'smtp://u:SECRET@h'}",
        "{notifier: a.B, arguments: {token: SECRET}}",
        "{webhook: a, arguments: {fields: {token: SECRET}}}",
        "{notifier: a.B, arguments: {headers: {Authorization: Bearer SECRET}}}",
        "{notifier: a.B, arguments: {urls: ['https://u:SECRET@h/x']}}",
        "{notifier: a.B, arguments: {slack_webhook_url: 'https://h/SECRET'}}",
    ),
)
def test_a_secret_is_refused_and_not_repeated(receiver: str) -> None:
    try:
        parse_study(f"{TEXT}notify: [{receiver}]\n", "q.yaml")
    except InputError as error:
        assert "is a secret" in error.what or "looks like a secret" in error.what
        assert "SECRET" not in traceback.format_exc().replace(TEXT, "")
    else:
        pytest.fail("it was accepted")


def test_a_secret_of_a_connection_may_be_named() -> None:
    arguments = "{token: '{{ conn.pager.password }}', pager_conn_id: token_of_pager}"
    text = f"{TEXT}notify: [{{notifier: a.B, arguments: {arguments}}}]\n"
    assert parse_study(text, "q.yaml").study.notify[0].arguments
