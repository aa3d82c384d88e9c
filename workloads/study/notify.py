"""The key `notify` of a study: who gets a message when a run got slower, failed, recovered or is late.

Nothing here holds a secret, because the study is stored with every run. Addresses and passwords of
services are in Airflow connections, and a study names a connection. Arguments of a notifier may have places
for parts of the message; they are no templates, which could read whatever Airflow knows.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from density_study.cluster.model.secrets import has_login
from density_study.workloads.base.checked import FaultyKeyError, leaves, like, no_duplicates
from density_study.workloads.base.values import Frozen

Occasion = Literal["regression", "failure", "recovery", "late"]
OCCASIONS: tuple[Occasion, ...] = ("regression", "failure", "recovery", "late")
MAX_RECEIVERS = 20
SMTP = "smtp_default"
_CONNECTION = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_SECRET = re.compile(
    r"password|passwd|passphrase|secret|token|api_?key|private_?key|access_?key|authorization|webhook_(?:url|endpoint)",
    re.IGNORECASE,
)
MESSAGE = ("event", "study", "run", "headline", "subject", "text", "html", "report")
"""Parts of the message that arguments may have."""
CONNECTION = ("login", "password", "host", "port", "schema")
"""Parts of a connection that arguments may have, if the machine's owner lists it for notifiers."""
PLACE = re.compile(
    rf"\{{\{{ {{0,4}}(?:message\.(?P<part>{'|'.join(MESSAGE)})"
    rf"|conn\.(?P<id>[A-Za-z0-9_-]{{1,200}})\.(?P<field>{'|'.join(CONNECTION)})) {{0,4}}\}}\}}"
)
"""{{ message.text }} or {{ conn.pager.password }}: nothing else is replaced."""
_TEMPLATE = re.compile(r"\{[{%#]")
MAX_PLACES = 50
_OF_FILES = re.compile(r"(?:.*_)?(?:files?|paths?|dirs?|folders?|attach|template)", re.IGNORECASE)


def _connection(name: str) -> str:
    """Never repeats the value: somebody may have written the secret address itself."""
    if not re.fullmatch(_CONNECTION, name):
        raise ValueError(
            "write the id of an Airflow connection here. Keep an address or a password out of the study: "
            "it is a secret"
        )
    return name


Connection = Annotated[
    str,
    AfterValidator(_connection),
    WithJsonSchema({"type": "string", "pattern": rf"^{_CONNECTION}$"}),
]
"""The id of an Airflow connection."""
Address = Annotated[
    str, like(r"[^@\s<>,;]+@[^@\s<>,;]+", "a mail address, for example me@example.org")
]
ImportPath = Annotated[
    str,
    like(
        r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+",
        "an import path, for example my_package.MyNotifier",
    ),
]


class Receiver(Frozen):
    """Who gets a message, and when: exactly one of `webhook`, `mail` and `notifier`."""

    webhook: Connection | None = Field(
        None, description="Id of the Airflow connection with the URL of a web hook. It gets JSON."
    )
    mail: tuple[Address, ...] | None = Field(
        None, min_length=1, max_length=50, description="Mail addresses."
    )
    notifier: ImportPath | None = Field(
        None,
        description="Import path of a notifier of an Airflow provider, or of another one that the setting "
        "`notifiers` of the machine lists.",
    )
    connection: Connection | None = Field(
        None,
        description=f"With `mail`: the Airflow connection of the SMTP server. Default: `{SMTP}`.",
    )
    arguments: dict[str, Any] | None = Field(
        None,
        description="With `notifier`: its arguments. With `webhook`: the JSON that it gets instead of the "
        "message. Places such as `{{ message.text }}` are filled in: "
        f"{', '.join(MESSAGE)}; of connections in the setting `notify_connections`, "
        "`{{ conn.<id>.password }}` and so on.",
    )
    events: tuple[Occasion, ...] = Field(
        OCCASIONS,
        min_length=1,
        description="Events to report: `late` is a run under Airflow's scheduler that takes twice its "
        "estimate.",
    )

    @property
    def name(self) -> str:
        """The receiver's name in messages to people."""
        if self.webhook is not None:
            return f"web hook {self.webhook}"
        if self.mail is not None:
            return f"mail to {', '.join(self.mail)}"
        return f"notifier {self.notifier}"

    @model_validator(mode="after")
    def _coherent(self) -> Receiver:
        kinds = [key for key in ("webhook", "mail", "notifier") if getattr(self, key) is not None]
        if len(kinds) != 1:
            raise ValueError("name exactly one of webhook, mail or notifier")
        for key, of in (("connection", ("mail",)), ("arguments", ("notifier", "webhook"))):
            if getattr(self, key) is not None and kinds[0] not in of:
                owners = " or ".join(f"`{kind}`" for kind in of)
                raise FaultyKeyError(f"`{key}` belongs to {owners}, not to `{kinds[0]}`", key)
        no_duplicates("event", self.events, "events")
        self._check_arguments()
        return self

    def _check_arguments(self) -> None:
        places = 0
        for name in self.arguments or {}:
            if _OF_FILES.fullmatch(name):
                message = "a notifier would read this file, and send it"
                raise FaultyKeyError(message, "arguments", name)
        for path, value in leaves(self.arguments or {}):
            if not isinstance(value, str):
                continue
            if _shows_secret(path, value):
                raise FaultyKeyError(
                    "this looks like a secret, and the study is stored with every run. Put it into an "
                    "Airflow connection, and write {{ conn.<id>.password }}",
                    *("arguments", *path),
                )
            places += len(PLACE.findall(value))
            if _TEMPLATE.search(PLACE.sub("", value)):
                raise FaultyKeyError(
                    "only parts of the message are filled in, like {{ message.text }}: "
                    f"{', '.join(MESSAGE)}",
                    *("arguments", *path),
                )
        if places > MAX_PLACES:
            message = f"{places} places are to be filled in; the maximum is {MAX_PLACES}"
            raise FaultyKeyError(message, "arguments")


def _shows_secret(path: tuple[str | int, ...], value: str) -> bool:
    """By the names on its path. A part of a connection is none, since nothing of it is in the study."""
    if not PLACE.sub("", value).strip():
        return False
    names = [part for part in path if isinstance(part, str) and not part.endswith("_conn_id")]
    return has_login(value) or any(map(_SECRET.search, names))
