"""Properties of a client's configuration, with their variables expanded as Hadoop does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.secrets import without_logins

VARIABLE = re.compile(r"\$\{([^${}\s]{1,200})\}")
_EXPANSIONS = 20
"""For one value, one variable at a time: as many as Hadoop's own Configuration makes."""
_MAX_VALUE = 64 * 1024
"""Characters that a value may grow to."""


@dataclass(frozen=True)
class Properties:
    """Properties of Hadoop under their present names, from the files in `folder`."""

    folder: Path
    properties: Mapping[str, str]

    def get(self, name: str, default: str = "") -> str:
        """The property with its variables expanded, as far as the limits allow; or `default`."""
        value, at = self.properties.get(name, default), 0
        for _ in range(_EXPANSIONS):
            inner = None
            while (found := VARIABLE.search(value, at)) and (
                inner := self._value_of(found[1])
            ) is None:
                at = found.end()  # a property of a client's JVM
            if found is None or inner is None:
                break
            if len(value) + len(inner) > _MAX_VALUE:
                break
            value, at = value[: found.start()] + inner + value[found.end() :], 0
        return value

    def with_variables(self, values: Sequence[tuple[str, str]]) -> Self:
        """The configuration with values for variables that nothing defines. InputError for any other name: a
        study does not change what the cluster's administrators set."""
        used = {name for value in self.properties.values() for name in VARIABLE.findall(value)}
        for name, _ in values:
            if name not in used or name in self.properties:
                why = "defines it itself" if name in self.properties else "does not use it"
                raise InputError(
                    f"the client configuration {why}: {name}.",
                    str(self.folder),
                    f"remove {name} from existing.variables.",
                    ("existing", "variables"),
                )
        return replace(self, properties={**self.properties, **dict(values)})

    def _value_of(self, variable: str) -> str | None:
        """The value of `${variable}`. Clients run without the environment of the cluster's own hosts, so that
        a default counts: `${env.NAME:-default}`."""
        kind, dot, name = variable.partition(".")
        if dot and kind == "env":
            _, dash, default = name.partition("-")
            if dash:
                return default
        return self.properties.get(variable)

    def expanded(self, key: str) -> str:
        """The property. InputError if it has a variable that nothing defines."""
        value = self.get(key)
        for variable in VARIABLE.findall(value):
            raise self.undefined(key, variable)
        return value

    def undefined(self, key: str, variable: str, example: str = "") -> InputError:
        return InputError(
            f"{key} uses ${{{variable}}}, which nothing defines.",
            str(self.folder),
            f"add existing.variables: {{{variable}: ...}} with the value of the cluster's hosts{example}.",
            ("existing",),
        )

    def wrong(self, key: str, site: str, remedy: str) -> InputError:
        value = without_logins(self.get(key))
        what = f"{key} is {value!r}." if value else f"{key} is missing."
        return InputError(what, str(self.folder / f"{site}.xml"), remedy)
