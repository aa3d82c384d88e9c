"""Flight Recorder: the device's file, and the report of Mission Control's rules."""

from __future__ import annotations

import time
from pathlib import Path
from xml.etree.ElementTree import ParseError

import pytest

from density_study.workloads.monitors.daemons import recordings
from density_study.workloads.monitors.daemons.flight import SECRET, found_in, parse_jfr, recorded
from density_study.workloads.monitors.daemons.jvms import Jvm
from density_study.workloads.monitors.daemons.profile import recording_name
from density_study.workloads.monitors.daemons.watcher import Order

SAMPLE = (Path(__file__).parents[3] / "samples" / "jfr-1.csv").read_text()
REPORT = """<?xml version="1.0" encoding="UTF-8"?><reportcollection><report><file>a.jfr</file>
<rule><id>A</id><name>Low</name><severity>OK</severity><score>3.0</score><message>all is well</message></rule>
<rule><id>B</id><name>GC Pressure</name><score>40.2</score><message>1.6 % &lt;b&gt;in&lt;/b&gt;
 collections</message></rule>
<rule><id>C</id><name>Java Blocking</name><score>81.0</score><message>Threads were blocked.</message></rule>
<rule><id>D</id><name>Broken</name><error>x</error></rule></report></reportcollection>"""


def test_a_file() -> None:
    parsed = parse_jfr(SAMPLE, "f")
    assert parsed.quarantined == ()
    events = [row.event for row in parsed.rows if row.event]
    assert [one.duration_ms for one in events] == [None, None]  # of the whole trial
    assert events[0].what.startswith("Java Blocking: Threads")
    assert recorded(SAMPLE) == ["w2/regionserver-1"]
    assert recorded(SAMPLE.replace("w2/", "../w2/")) == recorded("") == []


def test_the_findings_of_a_report_the_highest_score_first() -> None:
    assert list(found_in(REPORT)) == [
        ("a.jfr", 81.0, "Java Blocking: Threads were blocked."),
        ("a.jfr", 40.2, "GC Pressure: 1.6 % in collections"),
    ]


def test_what_is_no_report_is_an_error() -> None:
    with pytest.raises(ParseError):
        list(found_in("Exception in thread main"))


@pytest.mark.parametrize("text", ["x,words", "81,", "81"])
def test_a_finding_that_cannot_be_trusted_is_quarantined(text: str) -> None:
    parsed = parse_jfr(SAMPLE + f"1795507640.100,w2/regionserver-1,{text}\n", "f")
    assert len(parsed.quarantined) == 1


@pytest.mark.parametrize(("refuses", "left"), [(None, 2), ("c1/client", 1), ("w1/datanode", None)])
def test_jvms_are_recorded_and_a_daemon_that_refuses_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuses: str | None, left: int | None
) -> None:
    known = [Jvm("w1/datanode", 1, tmp_path / "log", tmp_path), Jvm("c1/client", 2, None, tmp_path)]

    def jcmd(pid: int, command: str, within_s: float) -> str:
        if known[pid - 1].name == refuses:
            raise OSError("refused")
        if command.startswith("JFR.start"):
            assert all(f"{event}#enabled=false" in command for event in SECRET)
            Path(command.partition("filename=")[2].split()[0]).write_text("recording")
        return ""

    monkeypatch.setattr(recordings, "jvms", lambda _: iter(known))
    monkeypatch.setattr(recordings, "jcmd", jcmd)
    output = tmp_path / "record" / "h1.jfr.csv"
    output.parent.mkdir()
    watcher = recordings.FlightRecordings(Order("h1", "t", output, {}, "", Path()))
    watcher.begin()
    while not all(one.done() for one in watcher._starting.values()):
        time.sleep(0.01)
    if left is None:
        with pytest.raises(OSError, match="refused"):
            watcher.rows(1795507625.0)
        return
    text = watcher.head + watcher.rows(1795507625.0)
    watcher.end()
    names = [recording_name("jfr", "h1", jvm) for jvm in recorded(text)]
    assert len(names) == left
    assert sorted(path.name for path in output.parent.iterdir()) == sorted(names)
