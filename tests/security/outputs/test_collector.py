"""`study export --to URL`: addresses, collectors and journals of strangers."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.events import Event, PhaseEnded, RunOpened, StepStarted
from density_study.cluster.state.journal import Journal
from density_study.cluster.stores import answer_limits
from density_study.dags.telemetry.send import send
from density_study.dags.telemetry.spans import spans
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.planning.plan import write_plan
from tests.support.drafts import QUICKSTART, plan

pytestmark = pytest.mark.usefixtures("watchdog")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    root = tmp_path / "quickstart" / "20261101T000000Z"
    root.mkdir(parents=True)
    (root / "study.yaml").write_text(QUICKSTART.read_text())
    write_plan(plan(), root / "plan.json")
    journal = Journal(root / "journal.jsonl")
    journal.write("run-opened", study="quickstart", run=root.name, tag="t")
    journal.write("run-ended", outcome="ok", message="")
    return load_run(root)


@pytest.mark.parametrize(
    "address",
    ["http://", "http://:4318", "http://[::1", "http://h:99999999", "http://h:x", "http://h:0",
     "https:///v1", "http://\x00", "http://user:secret-42@127.0.0.1:9"],
)  # fmt: skip
def test_an_address_that_is_none_or_has_a_login_is_refused_without_it(
    address: str, run: Run
) -> None:
    with pytest.raises(InputError) as refused:
        send(run, address)
    assert "secret-42" not in str(refused.value) and refused.value.remedy


class Endless(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endless() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_collector_without_an_end_is_not_awaited(
    endless: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_limits, "MOST_S", 0.5)
    with pytest.raises(StudyError, match="the collector took 0 of"):
        send(run, endless)


def test_a_journal_of_many_phases_takes_time_as_it_is_long() -> None:
    """Of a stranger's run: each of 20,000 steps is open during each of 20,000 phases."""
    count = 20_000
    events: list[Event] = [RunOpened(t=0.0, study="s", run="r", tag="t")]
    events += [
        StepStarted(t=1.0 + n / count, index=n, kind="up", build="b1", label="x", trial=None)
        for n in range(count)
    ]
    events += [
        PhaseEnded(t=3.0 + n / count, build="b1", tag="t/b1", name="p", seconds=0.1)
        for n in range(count)
    ]
    begun = time.process_time()
    (whole,) = spans("s", "r", events)
    assert sum(len(step.within) for step in whole.within) == count
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "seconds", ["-1", "-1e300", "1e300", "NaN", "Infinity", "true", '"1"', "9" * 400]
)
def test_a_phase_of_no_time_is_named_with_its_line(run: Run, seconds: str) -> None:
    about = '"event": "phase", "build": "b", "tag": "t", "name": "n", "seconds": '
    with run.journal.path.open("a") as journal:
        journal.write(f'{{"format": 1, "t": 1.7e9, {about}{seconds}}}\n')
    try:
        made = spans("s", "r", run.journal.events(Event))
    except StudyError as error:
        assert error.where.endswith(":3") and len(error.what) < 400
    else:
        assert seconds in ("true", '"1"') and made


@pytest.mark.parametrize("t", [2**34 + 1, 253402300799, -1, 2**64])
def test_a_time_that_no_collector_holds_is_refused(run: Run, t: int) -> None:
    with run.journal.path.open("a") as journal:
        journal.write(f'{{"format": 1, "t": {t}, "event": "analysis-started", "stage": "x"}}\n')
    with pytest.raises(StudyError, match="not an event"):
        run.journal.events(Event)


def test_half_characters_reach_collectors_and_monitors_as_marks(run: Run) -> None:
    from density_study.dags.run_status.status import status_of
    from density_study.dags.telemetry.openmetrics import openmetrics

    with run.journal.path.open("a") as journal:
        line = '{"format": 1, "t": 17179869184, "event": "analysis-started", "stage": "\\ud800\\n\\""}\n'
        journal.write(line)
    made = spans("s", "r", run.journal.events(Event))
    assert [span.name.encode() for span in made[-1].within]
    assert int(made[-1].end_t * 1e9) < 2**64
    page = openmetrics(status_of(run).progress).decode()
    assert all(one.startswith(("#", "density_study_")) for one in page.splitlines())
