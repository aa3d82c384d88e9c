"""Coverage-guided fuzzing of every parser, for an hour when a parser has changed; not part of the tests.

    .venv/bin/python -m pip install --target /tmp/atheris atheris     (or: uv pip install)
    PYTHONPATH=/tmp/atheris .venv/bin/python -m tests.property.fuzz -max_total_time=3600 CORPUS

The first byte selects the parser, the remaining bytes are the file. The checked property is that of
the property tests (`check_account`): rows, or a ParseError, and every line accounted for. The initial
corpus is the samples. Each finding becomes a test in test_parsers.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["workloads"]):
    from tests.property.mutations import PARSERS, samples
    from tests.property.support.accounts import parsed


def one_input(data: bytes) -> None:
    if data:
        parsed(PARSERS[data[0] % len(PARSERS)], data[1:])


def seed(corpus: Path) -> None:
    """Every sample, shortened to a size that mutations can work on."""
    corpus.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate(samples()):
        first = bytes([PARSERS.index(sample.parse)])
        (corpus / f"sample-{number:03d}").write_bytes(first + sample.data[:8000])


def main() -> None:
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    if not folders:
        sys.exit("name a folder for the corpus")
    seed(folders[0])
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
