"""The key `notify` of a study: who gets a message when a run got slower, failed, recovered or is late.

Nothing here holds a secret, because the study is stored with every run. Addresses and passwords of
services are in Airflow connections, and a study names a connection.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from density_study.workloads.base.checked import FaultyKeyError, like, no_duplicates
from density_study.workloads.base.values import Frozen

Occasion = Literal["regression", "failure", "recovery", "late"]
OCCASIONS: tuple[Occasion, ...] = ("regression", "failure", "recovery", "late")
MAX_RECEIVERS = 20
SMTP = "smtp_default"
_CONNECTION = r"[\w.-]{1,200}"
_SECRET = re.compile(
    r"password|passwd|passphrase|secret|token|api_?key|private_?key|access_?key|authorization|webhook_(?:url|endpoint)",
    re.IGNORECASE,
)
_LOGIN_IN_URL = re.compile(r"://[^/\s]*:[^/\s]*@")
_TEMPLATE = re.compile(r"\{\{.*\}\}", re.DOTALL)


def _connection(name: str) -> str:
    """Never repeats the value: somebody may have written the secret address itself."""
    if not re.fullmatch(_CONNECTION, name, re.ASCII):
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
    like(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", "an import path, for example my_package.MyNotifier"),
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
        None, description="Import path of an Airflow notifier, for example one of a provider."
    )
    connection: Connection | None = Field(
        None,
        description=f"With `mail`: the Airflow connection of the SMTP server. Default: `{SMTP}`.",
    )
    arguments: dict[str, Any] | None = Field(
        None,
        description="With `notifier`: its arguments. Templates such as `{{ message.text }}` are rendered "
        "in the fields that the notifier declares as templates.",
    )
    events: tuple[Occasion, ...] = Field(
        OCCASIONS,
        min_length=1,
        description="Events to report: `late` is a run under Airflow's scheduler that takes twice its "
        "estimate.",
    )

    @property
    def name(self) -> str:
        """For messages to people."""
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
        for key, kind in (("connection", "mail"), ("arguments", "notifier")):
            if getattr(self, key) is not None and kinds != [kind]:
                raise FaultyKeyError(f"`{key}` belongs to `{kind}`, not to `{kinds[0]}`", key)
        no_duplicates("event", self.events, "events")
        for path, value in _leaves(self.arguments or {}):
            if _shows_secret(path, value):
                raise FaultyKeyError(
                    "this looks like a secret, and the study is stored with every run. Put it into an "
                    "Airflow connection, and write {{ conn.<id>.password }}",
                    *("arguments", *path),
                )
        return self


def _leaves(value: Any, *path: str | int) -> list[tuple[tuple[str | int, ...], Any]]:
    """(path, value) of every value that is neither a mapping nor a list."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else None
    )
    if inner is None:
        return [(path, value)]
    return [leaf for key, one in inner for leaf in _leaves(one, *path, key)]


def _shows_secret(path: tuple[str | int, ...], value: Any) -> bool:
    if not isinstance(value, str) or _TEMPLATE.search(value):
        return False
    names = [part for part in path if isinstance(part, str) and not part.endswith("_conn_id")]
    return bool(_LOGIN_IN_URL.search(value)) or any(map(_SECRET.search, names))
