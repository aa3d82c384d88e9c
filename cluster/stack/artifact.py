"""`Artifact`: what a jar of a stack is, by the names of Maven's repositories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, order=True)
class Artifact:
    """`file` is the jar's name. `licences` are the names that its pom.xml, or a parent of it, gives them."""

    file: str
    group: str
    name: str
    version: str
    classifier: str = ""
    licences: tuple[str, ...] = ()

    @property
    def purl(self) -> str:
        """The package URL (https://github.com/package-url/purl-spec)."""
        what = "/".join(quote(part, safe="") for part in (self.group, self.name))
        classifier = f"classifier={quote(self.classifier, safe='')}&" if self.classifier else ""
        return f"pkg:maven/{what}@{quote(self.version, safe='')}?{classifier}type=jar"

    def facts(self) -> dict[str, Any]:
        """As a stack's manifest keeps them."""
        return {
            "group": self.group,
            "artifact": self.name,
            "version": self.version,
            "purl": self.purl,
            "licences": self.licences,
        }


def artifact_of(line: str) -> Artifact:
    """For a line that our extension of Maven writes."""
    file, group, name, version, classifier, licences = line.split("\t")
    named = tuple(dict.fromkeys(one for one in licences.split(";") if one))
    return Artifact(file, group, name, version, classifier, named)
