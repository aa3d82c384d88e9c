"""Record a first session in a terminal, and write the page that plays it, docs/recording.html (`make docs`).

    python -m docs.generator.recording record    # runs the quickstart study; for an idle machine

If a command fails, what was recorded goes to first-report.failed.cast, and the page stays.

The recording is an asciicast of version 2 (https://docs.asciinema.org/manual/asciicast/v2/), which
`asciinema play docs/generator/first-report.cast` plays as well. Its commands write to a pipe: each of their
lines stays, as in a log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from density_study.dags.airflow_home.home import project_root

Event = tuple[float, str]
"""Seconds since the start, and the text that appeared."""

HERE = Path(__file__).parent
CAST = HERE / "first-report.cast"
PAGE = project_root() / "docs" / "recording.html"
COMMANDS = ("study plan quickstart", "study run quickstart")
SIZE = {"width": 110, "height": 36}
LONGEST_PAUSE_S = 2.0
"""The page shortens longer pauses. The file has the true times."""


def record() -> tuple[list[Event], str]:
    """Run the commands in a folder of their own, which the recording calls ~, up to the first that fails; and
    what failed, or ""."""
    begin_s, events = time.monotonic(), list[Event]()
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"COLUMNS": str(SIZE["width"]), "PYTHONUNBUFFERED": "1"}
        for command in COMMANDS:
            events.append((time.monotonic() - begin_s, f"$ {command}\n"))
            argv = [str(Path(sys.executable).parent / "study"), *command.split()[1:]]
            with subprocess.Popen(
                argv, cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            ) as running:  # fmt: skip
                assert running.stdout is not None
                for line in running.stdout:
                    events.append((time.monotonic() - begin_s, line.replace(folder, "~")))
            if running.returncode:
                return events, f"{command} exited with {running.returncode}"
    return events, ""


def write_cast(events: list[Event], path: Path, failed: str = "") -> None:
    """failed: marks the recording in its title."""
    header = {
        "version": 2, **SIZE, "timestamp": int(time.time()),
        "title": f"density-study: the first report{failed and f' (failed: {failed})'}",
        "idle_time_limit": LONGEST_PAUSE_S,
    }  # fmt: skip
    rows = [[round(at_s, 2), "o", text.replace("\n", "\r\n")] for at_s, text in events]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (header, *rows))
    path.write_text(text, encoding="utf-8")


def read_cast(path: Path) -> tuple[dict[str, object], list[Event]]:
    """Its header and events."""
    header, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return header, [(at_s, text.replace("\r\n", "\n")) for at_s, _, text in rows]


def shortened(events: list[Event]) -> Iterator[Event]:
    """The same with pauses of at most LONGEST_PAUSE_S."""
    before_s = at_s = 0.0
    for then_s, text in events:
        at_s += min(then_s - before_s, LONGEST_PAUSE_S)
        before_s = then_s
        yield at_s, text


def page() -> str:
    header, events = read_cast(CAST)
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, autoescape=True
    )
    return templates.get_template("recording.html.j2").render(
        title=header["title"],
        date=time.strftime("%Y-%m-%d", time.gmtime(float(str(header["timestamp"])))),
        longest_pause_s=LONGEST_PAUSE_S,
        text="".join(text for _, text in events),
        steps=[[round(at_s, 2), len(text)] for at_s, text in shortened(events)],
    )


def main() -> None:
    if sys.argv[1:] == ["record"]:
        events, failed = record()
        kept = CAST.with_suffix(".failed.cast") if failed else CAST
        write_cast(events, kept, failed)
        if failed:  # the page plays the last whole one
            raise SystemExit(f"{failed}; what was recorded is in {kept}")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
