"""Headless Chromium over the DevTools protocol's pipe: to test the report and to take its picture.

Messages are JSON ended by a zero byte, on descriptors 3 (to Chromium) and 4 (from it); see
https://chromedevtools.github.io/devtools-protocol/. No port is opened and nothing is downloaded.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from cluster.model.errors import StudyError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "install it: apt-get install -y chromium (Debian), or name one in CHROMIUM."
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
ANSWER_S = 60.0
_SAFE_DESCRIPTOR = 10


def find() -> str:
    """Path of a Chromium ($CHROMIUM first). StudyError tells how to install one."""
    for program in (os.environ.get("CHROMIUM", ""), *PROGRAMS):
        path = shutil.which(program) if program else None
        if path:
            return path
    raise StudyError("no Chromium was found.", "PATH", INSTALL)


class Chromium:
    """One browser with one page. A context manager: leaving it ends the browser, by its own pid."""

    def __init__(self) -> None:
        self._program = find()
        self._files = contextlib.ExitStack()
        self._next = 0
        self._unread = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Chromium:
        self._directory = Path(
            self._files.enter_context(tempfile.TemporaryDirectory(prefix="chromium-"))
        )
        self._pid = self._spawn()
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = str(attached["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(StudyError, OSError):
            self._session = None
            self.call("Browser.close")
        self._end()
        self._files.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its result. StudyError if Chromium refuses, ends, or takes a minute."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        for answer in self._messages(ANSWER_S, method):
            if answer.get("id") != self._next:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise self._failure(f"{method} was refused: {answer['error'].get('message')}.")
            result: dict[str, Any] = answer["result"]
            return result
        raise self._failure(f"{method} got no answer.")

    def open(
        self, page: Path, width_px: int = 1200, height_px: int = 900, dark: bool = False
    ) -> None:
        """Load a file and wait until the report has drawn its charts (or 30 s have passed)."""
        self.events.clear()
        self.resize(width_px, height_px)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait_for("document.documentElement?.dataset.charts === 'drawn'", 30.0)

    def resize(self, width_px: int, height_px: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width_px,
            height=height_px,
            deviceScaleFactor=1,
            mobile=False,
        )

    def wait_for(self, expression: str, seconds: float) -> None:
        """Until a JavaScript expression is true. StudyError names it after `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise self._failure(f"{expression} did not become true within {seconds:.0f} s.")
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON. StudyError if it throws."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise self._failure(f"{expression[:80]} threw {result['exceptionDetails']['text']}.")
        return result["result"].get("value")

    def complaints(self) -> list[str]:
        """Every console error or warning, uncaught exception and failed request since `open`."""
        self.evaluate("1")  # what was said before this is read by now
        return [text for event in self.events for text in _complaint(event)]

    def _spawn(self) -> int:
        """Start Chromium with the far ends of two pipes as its descriptors 3 and 4."""
        read_commands, self._to = _pipe()
        self._from, write_answers = _pipe()
        self._files.callback(os.close, self._to)
        self._files.callback(os.close, self._from)
        self._log = self._directory / "stderr"
        argv = [self._program, *FLAGS, f"--user-data-dir={self._directory / 'profile'}"]
        log_flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        pid = os.posix_spawn(
            self._program,
            argv,
            dict(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, read_commands, 3),
                (os.POSIX_SPAWN_DUP2, write_answers, 4),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, str(self._log), log_flags, 0o600),
            ],
        )
        os.close(read_commands)
        os.close(write_answers)
        return pid

    def _messages(self, seconds: float, method: str) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + seconds
        while True:
            while b"\0" in self._unread:
                text, self._unread = self._unread.split(b"\0", 1)
                yield json.loads(text)
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._from, 1 << 20) if ready else b""
            if not ready:
                raise self._failure(f"{method} took more than {seconds:.0f} s.")
            if not chunk:
                raise self._failure(f"Chromium ended during {method}.")
            self._unread += chunk

    def _failure(self, what: str) -> StudyError:
        log = self._log.read_text("utf-8", "replace")[-2000:] if self._log.exists() else ""
        return StudyError(what, self._program, f"its last words: {log or 'none'}")

    def _end(self) -> None:
        """Wait for the browser to go, and end it if it does not within five seconds."""
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                os.kill(self._pid, number)
            deadline = time.monotonic() + 5.0
            while time.monotonic() < deadline:
                if os.waitpid(self._pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.02)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends lie above the descriptors that Chromium wants, and close on exec."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _SAFE_DESCRIPTOR) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


def _complaint(event: dict[str, Any]) -> Iterator[str]:
    parameters = event.get("params", {})
    match event.get("method"):
        case "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            yield f"exception: {details.get('exception', {}).get('description', details['text'])}"
        case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
            said = (str(one.get("value", one.get("description"))) for one in parameters["args"])
            yield f"console {parameters['type']}: {' '.join(said)}"
        case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
            yield f"log {parameters['entry']['level']}: {parameters['entry']['text']}"
        case "Network.loadingFailed":
            yield f"request failed: {parameters.get('errorText')}"
