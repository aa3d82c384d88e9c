"""Parts that every HTML page of the project shares: templates, inline scripts, and the policy for them."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

_STATIC = Path(__file__).parent / "static"
_NUMBER_AND_UNIT = re.compile(r"(\d) (?=(?:ms|s|min|h|MiB|GiB|ops)\b|%)")
_P_VALUE = re.compile(r"\bp ([<=]) (?=\d)")
_CODE = re.compile(r"`([^`]+)`")
_OPTION = re.compile(r"--[a-z][a-z-]+(?: \d+)?")


def templates() -> Environment:
    """The templates of analysis/report/templates. Everything is escaped by default."""
    environment = Environment(
        loader=PackageLoader("density_study.analysis.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    environment.filters["quoted"] = shlex.quote
    return environment


def static(name: str) -> str:
    """The text of a file in analysis/report/static."""
    return (_STATIC / name).read_text("utf-8")


def inline_script(source: str) -> Markup:
    """JavaScript for an inline element. `</script` inside a string literal means the same as `<\\/script`."""
    return Markup(source.replace("</script", "<\\/script"))


def policy(scripts: Iterable[str], *sources: str) -> str:
    """The page's Content-Security-Policy: only these scripts may run, and nothing may be loaded.

    sources: further sources of scripts, such as 'unsafe-eval' in its quotes.
    """
    hashes = (hashlib.sha256(text.encode()).digest() for text in scripts)
    allowed = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes]
    return (
        f"default-src 'none'; script-src {' '.join((*allowed, *sources))}; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _prose(text: str) -> Markup:
    """Free text, escaped. A number and its unit stay on one line, and so do a p-value and an option of a
    command. What stands in backticks is code."""
    whole = _NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}", text)
    html = str(escape(_P_VALUE.sub("p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", whole)))
    html = _OPTION.sub(r'<span class="whole">\g<0></span>', html)
    return Markup(_CODE.sub(r"<code>\1</code>", html))
