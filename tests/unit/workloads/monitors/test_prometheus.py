"""What a Prometheus of others tells of a trial: asked over HTTP at a server that answers as its documentation
says (prometheus.io/docs, querying/api), with names of node_exporter and jmx_exporter."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pyarrow as pa
import pytest

from density_study.analysis.explanation.rules import rules
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import Prometheus
from density_study.cluster.providers.existing import prometheus
from density_study.cluster.providers.existing.prometheus import instances_of, lead_s, scraped
from density_study.workloads import tables
from density_study.workloads.base.values import ExportedSeries, Window
from density_study.workloads.monitors.devices import devices, parse_device
from density_study.workloads.monitors.prometheus.exported import exported
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.monitors.device_aggregates import device_tables
from density_study.workloads.rows.raw.file_kinds import SAMPLES
from density_study.workloads.rows.raw.raw_files import raw_files
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables.arrow import arrow_schema
from tests.support.records.exported_trial import exported_trial

BEGIN_S, END_S, EVERY_S = 1_780_000_000.0, 1_780_000_060.0, 5
HOSTS = ("rs1.example.org", "rs2.example.org")
SELECTOR = re.compile(r"\{(.*)\}\[(\d+)s\]")
MATCHER = re.compile(r'(\w+)=~("(?:[^"\\]|\\.)*"),?')
Labels = Mapping[str, str]


def of_node(host: str) -> Iterator[tuple[Labels, float, float]]:
    """Labels of each series of a node_exporter, its first value, and by how much it grows in a second."""
    at: dict[str, str] = {"instance": f"{host}:9100", "job": "node"}
    modes = {"user": 0.2, "system": 0.1, "idle": 0.3, "iowait": 0.35, "steal": 0.05}
    for cpu in "01":
        for mode, grows in modes.items():
            yield (
                {"__name__": "node_cpu_seconds_total", "cpu": cpu, "mode": mode, **at},
                100.0,
                grows,
            )
    of_disk = {"reads_completed": 50.0, "read_time_seconds": 2.0, "writes_completed": 10.0,
               "write_time_seconds": 0.1, "io_time_seconds": 0.9,
               "io_time_weighted_seconds": 2.1}  # fmt: skip
    for name, grows in of_disk.items():
        yield {"__name__": f"node_disk_{name}_total", "device": "sda", **at}, 7.0, grows
    for card in ("eth0", "veth12", "lo"):
        received = {"__name__": "node_network_receive_bytes_total", "device": card}
        yield {**received, **at}, 0.0, 62.5e6
        yield {"__name__": "node_network_speed_bytes", "device": card, **at}, 125e6, 0.0
    yield {"__name__": "node_netstat_Tcp_RetransSegs", **at}, 3.0, 4.0
    yield {"__name__": "node_netstat_Tcp_OutSegs", **at}, 3.0, 400.0
    yield {"__name__": "node_memory_Dirty_bytes", **at}, 2.0**20, 0.0


def of_daemon(host: str, lower: bool) -> Iterator[tuple[Labels, float, float]]:
    """The same of jmx_exporter in a RegionServer, without the misses of a second cache."""
    at = {"instance": f"{host}:9404", "job": "hbase"}
    server = {"name": "RegionServer", "sub": "Server", **at}
    grows = {"blockCacheHitCount": 90.0, "blockCacheMissCount": 10.0, "FlushTime_num_ops": 0.1,
             "updatesBlockedTime": 500.0, "percentFilesLocal": 0.0}  # fmt: skip
    for name, each in grows.items():
        name = f"Hadoop_HBase_{name}"
        yield {"__name__": name.lower() if lower else name, **server}, 80.0, each


class Fake(ThreadingHTTPServer):
    """`every`: labels, first value, growth. `ahead_s`: its clock. `answer`: another status and text."""

    every: list[tuple[Labels, float, float]]
    ahead_s = 0.0
    answer: tuple[int, str] | None = None
    token = ""
    asked: list[dict[str, str]]
    skipped: frozenset[str] = frozenset()

    def told(self, query: str, at_s: float) -> dict[str, Any]:
        if query == "time()":
            return {"resultType": "scalar", "result": [at_s, str(at_s)]}
        if query == "up":
            up = {(one["instance"], one["job"]) for one, *_ in self.every}
            found: list[Any] = [
                {"metric": {"__name__": "up", "instance": where, "job": job}, "value": [at_s, "1"]}
                for where, job in sorted(up)
            ]
            return {"resultType": "vector", "result": found}
        selector = SELECTOR.fullmatch(query)
        assert selector is not None, query
        wanted = {name: json.loads(text) for name, text in MATCHER.findall(selector[1])}
        found = [
            {"metric": dict(labels),
             "values": list(self.samples(labels, first, grows, at_s, int(selector[2])))}
            for labels, first, grows in self.every
            if all(re.fullmatch(regex, labels.get(name, "")) for name, regex in wanted.items())
        ]  # fmt: skip
        return {"resultType": "matrix", "result": found}

    def samples(
        self, labels: Labels, first: float, grows: float, at_s: float, length_s: int
    ) -> Iterator[list[Any]]:
        begin_s = BEGIN_S + self.ahead_s - 600
        for place in range(240):
            scraped_s = begin_s + place * EVERY_S + 0.25
            if at_s - length_s < scraped_s <= at_s:
                alone = labels["instance"] in self.skipped and place != 121
                value = "NaN" if alone else f"{first + grows * place * EVERY_S}"
                yield [scraped_s, value]


class Handler(BaseHTTPRequestHandler):
    server: Fake

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        asked = {name: values[0] for name, values in form.items()}
        self.server.asked.append(
            {**asked, "path": self.path, "auth": str(self.headers["Authorization"])}
        )
        at_s = float(asked.get("time", time.time() + self.server.ahead_s))
        said = {"status": "success", "data": {}}
        status = 200
        if self.server.token and self.headers["Authorization"] != f"Bearer {self.server.token}":
            status, text = 401, "Unauthorized"
        elif self.server.answer:
            status, text = self.server.answer
        else:
            text = json.dumps({**said, "data": self.server.told(asked["query"], at_s)})
        self.send_response(status)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *words: Any) -> None: ...


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    monkeypatch.setattr(prometheus, "_address", lambda host: "")  # of names that nobody has
    server = Fake(("127.0.0.1", 0), Handler)
    server.asked = []
    server.every = [one for host in HOSTS for one in of_node(host)]
    server.every += [*of_node("another.example.org"), *of_daemon(HOSTS[0], lower=False)]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()


def at(fake: Fake, **keys: str) -> Prometheus:
    return Prometheus(f"http://127.0.0.1:{fake.server_port}", **keys)


def trial(
    server: Prometheus | None, folder: Path, hosts: Sequence[str] = HOSTS
) -> ExportedSeries | None:
    return exported_trial(server, folder, hosts, BEGIN_S, END_S)


def series(folder: Path, device: str, host: str) -> dict[tuple[str, str], set[float]]:
    """Of each source and name, the values by second, of a file as ingest reads it."""
    text = (folder / "monitor" / f"{host}.prometheus-{device}.csv").read_text()
    parsed = parse_device(text, "f")
    assert not parsed.quarantined
    kept = [
        {"trial": "t", "host": host, "device": device, "line": one.line, "epoch_s": one.epoch_s,
         "source": one.source, "names": list(one.names), "values": list(one.values)}
        for one in parsed.rows
    ]  # fmt: skip
    facts = TrialFacts(window=(BEGIN_S, END_S), period_s=EVERY_S)
    samples = pa.Table.from_pylist(kept, arrow_schema(tables.DEVICE_SAMPLES))
    found: dict[tuple[str, str], set[float]] = {}
    for table, rows in device_tables(samples, [Subject("t", device, host, len(kept), facts)]):
        for row in rows.to_pylist() if table == tables.DEVICE_SERIES else ():
            found.setdefault((row["source"], row["name"]), set()).add(round(row["value"], 6))
    return found


def test_what_exporters_counted_becomes_the_series_of_the_rules(fake: Fake, tmp_path: Path) -> None:
    told = trial(at(fake), tmp_path)
    assert told is not None and told.faults == ()
    assert {(one.host, one.device, one.period_s) for one in told.files} == {
        *((host, device, EVERY_S) for host in HOSTS
          for device in ("exported", "disks", "sockets", "kernel")),
        (HOSTS[0], "jmx", EVERY_S),
    }  # fmt: skip
    cpu = series(tmp_path, "exported", HOSTS[1])
    assert cpu == {
        ("host", "cpu_used"): {30.0},
        ("host", "iowait"): {35.0},
        ("host", "steal"): {5.0},
    }
    disks = series(tmp_path, "disks", HOSTS[1])
    assert disks["sda", "read_await"] == {40.0} and disks["sda", "write_await"] == {10.0}
    assert disks["sda", "disk_busy"] == {90.0} and disks["sda", "disk_queue"] == {2.1}
    sockets = series(tmp_path, "sockets", HOSTS[1])
    assert sockets["host", "retransmitted"] == {4.0}
    assert sockets["eth0", "card_receive_use"] == {50.0}
    assert {source for source, _ in sockets} == {"host", "eth0"}
    assert series(tmp_path, "kernel", HOSTS[1])["host", "dirty"] == {1.0}


def test_a_host_that_two_jobs_scrape_counts_once(fake: Fake, tmp_path: Path) -> None:
    fake.every = [
        ({**labels, "job": job}, *grows)
        for job in ("node", "again")
        for labels, *grows in of_node(HOSTS[0])
    ]
    assert trial(at(fake), tmp_path, HOSTS[:1]) is not None
    assert series(tmp_path, "kernel", HOSTS[0])["host", "dirty"] == {1.0}
    assert series(tmp_path, "sockets", HOSTS[0])["host", "retransmitted"] == {4.0}


def test_daemons_are_told_by_jmx_exporter_in_either_case(fake: Fake, tmp_path: Path) -> None:
    for lower in (False, True):
        fake.every = [*of_node(HOSTS[0]), *of_daemon(HOSTS[0], lower)]
        assert trial(at(fake), tmp_path, HOSTS[:1]) is not None
        jmx = series(tmp_path, "jmx", HOSTS[0])
        server = "regionserver"
        assert jmx[server, "updates_blocked"] == {50.0} and jmx[server, "locality"] == {80.0}
        # without the misses of a second cache, the lookups are not known
        assert (server, "cache_hits") not in jmx and (server, "cache_lookups") not in jmx
    (tmp_path / "monitor" / "c1.jmx.csv").write_text("the study polls daemons itself")
    again = trial(at(fake), tmp_path, HOSTS[:1])
    assert again is not None and "jmx" not in {one.device for one in again.files}


def test_ingest_reads_the_files_in_this_machines_time(fake: Fake, tmp_path: Path) -> None:
    told = trial(at(fake), tmp_path)
    construct: Any = Manifest.model_construct
    manifest = construct(
        trial="t", state="complete", imported=None, monitors=(), clients=(), clock=(), exported=told,
        window=Window(start_epoch_s=BEGIN_S, end_epoch_s=END_S), test_case=SimpleNamespace(),
        topology=SimpleNamespace(nodes=()),
    )  # fmt: skip
    found = list(raw_files(manifest, tmp_path))
    assert told is not None and len(found) == len(told.files) == 9
    assert {one.facts.clock_offset_s for one in found} == {0.0}
    assert {one.facts.period_s for one in found} == {EVERY_S} and {one.fault for one in found} == {
        ""
    }
    assert {one.kind for one in found} <= {
        *SAMPLES
    }  # a bad line is a lost sample, and no lost result


def test_each_series_is_one_of_a_device_and_some_rule_reads_most_of_them() -> None:
    for one in exported():
        assert one.column in devices()[one.device].columns, one
    read = {sign.series for rule in rules().values() for sign in rule.signs}
    assert {metric.name for metric in devices()["exported"].metrics} <= read


def test_times_are_this_machines_whatever_the_servers_clock_says(
    fake: Fake, tmp_path: Path
) -> None:
    fake.ahead_s = 500.0
    assert lead_s(at(fake))[0] == pytest.approx(500.0, abs=2)
    told = trial(at(fake), tmp_path)
    assert told is not None and told.clock_lead_s == pytest.approx(500.0, abs=2)
    text = (tmp_path / "monitor" / f"{HOSTS[0]}.prometheus-disks.csv").read_text()
    times = [one.epoch_s for one in parse_device(text, "f").rows]
    assert BEGIN_S - 125 < times[0] < BEGIN_S < times[-1] < END_S + 5


def test_a_host_that_is_not_scraped_twice_is_unknown_and_said_so(
    fake: Fake, tmp_path: Path
) -> None:
    fake.skipped = frozenset({f"{HOSTS[1]}:9100"})
    told = trial(at(fake), tmp_path)
    assert told is not None and {one.host for one in told.files} == {HOSTS[0]}
    assert told.faults == (f"{HOSTS[1]}: nothing was scraped twice",)


def test_without_an_answer_a_trial_has_a_fault_and_no_file(fake: Fake, tmp_path: Path) -> None:
    fake.answer = (503, "<html>Service Unavailable</html>")
    told = trial(at(fake), tmp_path)
    assert told is not None and told.files == ()
    assert told.faults == ("Prometheus answers with no JSON (HTTP 503).",)
    assert trial(None, tmp_path) is None


@pytest.mark.parametrize(
    ("status", "text", "says"),
    [
        (200, "<html>Welcome</html>", "no JSON"),
        (200, "[" * 200_000, "no JSON"),
        (200, "[]", "an error"),
        (302, "", "no JSON (HTTP 302)"),
        (403, "", "does not let us in (HTTP 403)"),
        (400, '{"status": "error", "errorType": "bad_data", "error": "parse error"}', "parse error"),
        (200, '{"status": "success", "data": {"resultType": "vector", "result": []}}', "no matrix"),
        (200, '{"status": "success", "data": {"resultType": "matrix", "result": {}}}', "no list"),
        (200, '{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}}]}}',
         "not a matrix of samples"),
        (200, '{"status": "success", "data": {"resultType": "matrix", "result": '
              '[{"metric": {}, "values": [[1, "fast"]]}]}}', "not a matrix of samples"),
    ],
)  # fmt: skip
def test_wrong_answers_are_refused_clearly(fake: Fake, status: int, text: str, says: str) -> None:
    fake.answer = (status, text)
    with pytest.raises(StudyError) as caught:
        scraped(at(fake), '{__name__=~"up"}', BEGIN_S, END_S)
    assert says in caught.value.what and caught.value.where == at(fake).url
    assert len(fake.asked) == 1  # nowhere else


def test_an_answer_is_bounded(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "MOST_SERIES", 3)
    with pytest.raises(StudyError, match="at most 3 series"):
        scraped(at(fake), '{__name__=~"node.*"}', BEGIN_S, END_S)
    monkeypatch.undo()
    monkeypatch.setattr(prometheus, "MOST_SAMPLES", 3)
    with pytest.raises(StudyError, match="more than 3 samples"):
        scraped(at(fake), '{__name__=~"node.*"}', BEGIN_S, END_S)


def test_a_token_is_sent_and_told_nobody(fake: Fake, tmp_path: Path) -> None:
    fake.token = "eyJ.secret"
    (tmp_path / "token").write_text("eyJ.secret\n")
    told = trial(at(fake, token_file=str(tmp_path / "token")), tmp_path)
    assert told is not None and told.faults == () and "secret" not in told.model_dump_json()
    kept = "".join(file.read_text() for file in (tmp_path / "monitor").iterdir())
    assert "secret" not in kept
    (tmp_path / "token").write_text("another.secret")
    with pytest.raises(StudyError, match="does not let us in") as caught:
        lead_s(at(fake, token_file=str(tmp_path / "token")))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", [None, "", "two words", "a\nb", "ä"])
def test_a_file_without_a_token_is_refused(fake: Fake, tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "token").write_text(text)
    with pytest.raises(InputError) as caught:
        lead_s(at(fake, token_file=str(tmp_path / "token")))
    assert caught.value.where == str(tmp_path / "token") and fake.asked == []


def test_nobody_answers() -> None:
    with pytest.raises(StudyError, match="Prometheus does not answer"):
        lead_s(Prometheus("http://127.0.0.1:1"))


def test_instances_are_the_hosts_by_name_short_name_or_address(fake: Fake) -> None:
    fake.every = [
        ({"instance": name, "job": "node"}, 0.0, 0.0)
        for name in ("RS1.example.org:9100", "rs2:9100", "10.0.0.7:9100", "other.example.org:9100")
    ]
    hosts = ("rs1.example.org", "rs2.example.org", "10.0.0.7", "rs9.example.org")
    assert instances_of(at(fake), hosts) == {
        "RS1.example.org:9100": "rs1.example.org",
        "rs2:9100": "rs2.example.org",
        "10.0.0.7:9100": "10.0.0.7",
    }
    with pytest.raises(InputError, match=r"no host of the cluster, but 10\.0\.0\.7:9100, RS1"):
        instances_of(at(fake), ["elsewhere.example.org"])
