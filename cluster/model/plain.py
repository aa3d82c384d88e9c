"""`plain`: text from others, without the characters that a terminal obeys or that reorder a line."""

from __future__ import annotations

import re

# C0 but tab and line ends, DEL and C1; marks, embeddings, overrides and isolates of direction; and half
# characters, which no encoding can write.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)

# Some languages' spreadsheets part cells at semicolons too, and read full-width signs as these.
_FORMULA = re.compile(r"(^|;)(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
_MEANING = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
_LINE_ENDS = re.compile("[\t\n\r\u2028\u2029]")


def plain(text: str) -> str:
    """`text` with a question mark for every control character. Tabs and line ends stay."""
    return _CONTROLS.sub("?", text)


def one_line(text: str) -> str:
    """`plain`, without line ends and tabs too: a name of others makes no line of its own."""
    return _LINE_ENDS.sub("?", plain(text))


def capitalised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def counted(count: int, noun: str) -> str:
    """ "1 build", "2 builds"; the noun's last word has its plural in s."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def csv_cell(value: object) -> object:
    """Numbers unchanged, null as an empty cell, text so that no spreadsheet evaluates it."""
    if isinstance(value, str):
        return _FORMULA.sub(r"\1'", value)
    return "" if value is None else value


def escaped(text: str) -> str:
    """One line that Markdown, and HTML inside it, treats as plain text."""
    return _MEANING.sub(r"\\\1", " ".join(text.split()))


def plain_json(text: str) -> str:
    """The JSON document `text` with every control character escaped; it reads as the same value."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
