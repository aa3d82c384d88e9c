"""The YCSB binding and TableTool against a real HBase: a standalone HMaster on loopback, files only."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from cluster.stack import classpath, ensure, find_java

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

REGIONS = 6
RECORDS = 6_000
OPENS = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.lang", "java.nio", "sun.nio.ch", "java.util", "java.net")
)
# The kernel ends each JVM with the test, even if the test is killed.
MORTAL = ("setpriv", "--pdeathsig", "KILL", "--")


class StandaloneHBase:
    """HMaster, RegionServer and ZooKeeper in one JVM, and the client's JVMs that speak to it."""

    def __init__(self, root: Path) -> None:
        self.root, self.java = root, str(find_java().command)
        self.conf = root / "conf"
        self.conf.mkdir()
        (self.conf / "hbase-site.xml").write_text(_site_xml(root))
        (self.conf / "log4j.properties").write_text(_LOG4J)

    def start(self) -> subprocess.Popen[bytes]:
        argv = [*MORTAL, self.java, "-Xmx512m", "-XX:+UseSerialGC", *self._common("hbase")]
        log = (self.root / "hmaster.log").open("wb")
        return subprocess.Popen(
            [*argv, "org.apache.hadoop.hbase.master.HMaster", "start"], stdout=log, stderr=log
        )

    def client(self, main: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.client_argv(main, *words),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def client_argv(self, main: str, *words: str) -> list[str]:
        quick = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        return [*MORTAL, self.java, *quick, *self._common("ycsb"), main, *words]

    def tool(self, line: str) -> dict[str, Any]:
        """Run verbs that must succeed; verb -> result."""
        done = self.client("org.densitystudy.table.TableTool", *line.split())
        assert done.returncode == 0, done.stdout + done.stderr
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        return {answer["verb"]: answer["result"] for answer in answers}

    def refused(self, line: str) -> tuple[int, str]:
        """Run verbs that must fail; exit code and what was said."""
        done = self.client("org.densitystudy.table.TableTool", *line.split())
        assert "table-tool: " in done.stderr
        assert "error" in json.loads(done.stdout.splitlines()[-1])
        return done.returncode, done.stderr

    def ycsb(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.client("site.ycsb.Client", *_ycsb_words(*words))

    def _common(self, stack: str) -> list[str]:
        path = ":".join([*classpath(ensure(stack)), str(self.conf)])
        log4j = f"-Dlog4j.configuration=file:{self.conf}/log4j.properties"
        return [*OPENS, "-Djava.net.preferIPv4Stack=true", log4j, "-cp", path]


@pytest.fixture(scope="module")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneHBase]:
    root = tmp_path_factory.mktemp("hbase")
    standalone = StandaloneHBase(root)
    process = standalone.start()
    try:
        answer = standalone.tool("ready --regionservers 1 --deadline-s 90 + balancer off")
        assert len(answer["ready"]["regionservers"]) == 1
        assert not any(answer["balancer"].values())
        yield standalone
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def loaded(hbase: StandaloneHBase) -> StandaloneHBase:
    """usertable, pre-split and loaded with RECORDS rows, flushed, compacted, kept as `full`."""
    hbase.tool(f"create --table usertable --family f --regions {REGIONS}")
    done = hbase.ycsb("-load", "-threads", "4", "-p", f"recordcount={RECORDS}")
    assert f"[INSERT], Return=OK, {RECORDS}" in done.stdout, done.stdout + done.stderr
    return hbase


def test_presplit_load_is_even_settles_and_comes_back(loaded: StandaloneHBase) -> None:
    before = loaded.tool("state --table usertable + count --table usertable")
    assert before["count"]["rows"] == RECORDS
    regions = before["state"]["regions"]
    assert len(regions) == REGIONS
    writes = [region["write_requests"] for region in regions]
    assert sum(writes) >= RECORDS
    assert max(writes) < 1.3 * min(writes), writes

    settled = loaded.tool(
        "flush-compact-settle --table usertable + state --table usertable"
        " + snapshot full --table usertable"
    )
    assert settled["flush-compact-settle"]["store_files"] == REGIONS
    assert {region["memstore_mib"] for region in settled["state"]["regions"]} == {0}
    assert settled["state"]["compacting_regions"] == 0
    assert sum(server["regions"] for server in settled["state"]["servers"]) == REGIONS

    emptied = loaded.tool(
        "truncate --table usertable + count --table usertable + state --table usertable"
    )
    assert emptied["count"]["rows"] == 0
    starts = [region["start_key"] for region in emptied["state"]["regions"]]
    assert starts == [region["start_key"] for region in regions]

    restored = loaded.tool("restore full --table usertable + count --table usertable")
    assert restored["count"]["rows"] == RECORDS


def test_a_run_does_what_it_is_asked_and_leaves_readable_histograms(
    loaded: StandaloneHBase, tmp_path: Path
) -> None:
    mix = {"readproportion": 0.5, "scanproportion": 0.4, "insertproportion": 0.1}
    mix["updateproportion"] = 0.0  # YCSB's preset is 0.05
    words = [word for name, share in mix.items() for word in ("-p", f"{name}={share}")]
    prefix = f"{tmp_path}/ycsb-1-"
    done = loaded.ycsb(
        *("-t", "-s", "-threads", "4", *words, "-p", f"recordcount={RECORDS}"),
        *("-p", "operationcount=3000", "-p", "maxscanlength=20", "-p", "status.interval=1"),
        *("-p", "measurementtype=hdrhistogram", "-p", "hdrhistogram.fileoutput=true"),
        *("-p", f"hdrhistogram.output.path={prefix}"),
    )
    counts = {
        operation: int(line.rsplit(" ", 1)[1])
        for operation in ("READ", "SCAN", "INSERT")
        for line in done.stdout.splitlines()
        if line.startswith(f"[{operation}], Return=OK, ")
    }
    assert sum(counts.values()) == 3000, done.stdout + done.stderr
    assert "hbase-client:" not in done.stderr
    recorded = {operation: _recorded(Path(f"{prefix}{operation}.hdr")) for operation in counts}
    assert recorded == counts


def test_every_operation_tells_its_exact_status(loaded: StandaloneHBase) -> None:
    said = _shell(
        loaded,
        "read nosuch",
        "insert aaa1 field0=a field1=b",
        "insert aaa2 field0=c",
        "read aaa1",
        "update aaa1 field0=z",
        "read aaa1 field0",
        "scan aaa1 2",
        "delete aaa1",
        "delete aaa2",
        "read aaa1",
    )
    assert said[0] == ["Return code: NOT_FOUND"]
    assert said[1:3] == [["Result: OK"], ["Result: OK"]]
    assert said[3] == ["Return code: OK", "field0=a", "field1=b"]
    assert said[4:6] == [["Result: OK"], ["Return code: OK", "field0=z"]]
    values = [line for line in said[6] if "=" in line]
    assert said[6][0] == "Result: OK"
    assert values == ["field0=c", "field0=z", "field1=b"]
    assert said[7:9] == [["Return result: OK"], ["Return result: OK"]]
    assert said[9] == ["Return code: NOT_FOUND"]


def test_a_table_that_vanishes_is_an_error_told_once(hbase: StandaloneHBase) -> None:
    hbase.tool("create --table gone --family f --regions 1")
    argv = hbase.client_argv("site.ycsb.CommandLine", *_ycsb_words("-table", "gone"))
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdout is not None
        while "Connected." not in shell.stdout.readline():
            assert shell.poll() is None
        hbase.tool("drop --table gone")
        out, err = shell.communicate("read k\nread k\nscan k 5\ninsert k field0=a\nquit\n", 60)
    assert out.count("Return code: ERROR") == 2, out
    assert out.count("Result: ERROR") == 2, out
    assert err.count("hbase-client: first READ org.apache.hadoop.hbase.TableNotFound") == 1, err


def test_a_missing_family_stops_the_client_before_it_measures(loaded: StandaloneHBase) -> None:
    done = loaded.ycsb("-t", "-p", "columnfamily=nosuch", "-p", "operationcount=10")
    assert "has no family nosuch" in done.stderr
    assert "Return=" not in done.stdout


def test_failures_are_told_with_their_reason(hbase: StandaloneHBase) -> None:
    code, said = hbase.refused("ready --regionservers 2 --deadline-s 2")
    assert code == 1
    assert "1 of 2 RegionServers live" in said
    code, said = hbase.refused("state --table nosuch")
    assert code == 1
    assert "no server has a region of nosuch" in said


def _shell(hbase: StandaloneHBase, *commands: str) -> list[list[str]]:
    """What YCSB's own shell answered to each command: sorted fields after the status line."""
    done = hbase.client(
        "site.ycsb.CommandLine", *_ycsb_words(), stdin="\n".join([*commands, "quit", ""])
    )
    answers = done.stdout.partition("Connected.\n")[2].split("> ")[1:]
    assert len(answers) > len(commands), done.stdout + done.stderr
    return [_answer(text) for text in answers[: len(commands)]]


def _answer(text: str) -> list[str]:
    status, *fields = [line for line in text.splitlines() if line and not line.endswith(" ms")]
    return [status, *sorted(fields)]


def _ycsb_words(*words: str) -> list[str]:
    mine = ["-db", "org.densitystudy.ycsb.HBaseClient", "-p", "columnfamily=f"]
    workload = ["-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", "hbase.retries=2"]
    return [*mine, *workload, *words]


def _recorded(log: Path) -> int:
    """Values in all intervals of an .hdr log."""
    total = HdrHistogram(1, 3_600_000_000, 3)
    reader = HistogramLogReader(str(log), total)
    while reader.add_next_interval_histogram(dest_histogram=total):
        pass
    return int(total.get_total_count())


def _site_xml(root: Path) -> str:
    zookeeper, master, master_web, server, server_web = _free_ports(5)
    properties = {
        "hbase.cluster.distributed": "false",
        "hbase.rootdir": f"file://{root}/data",
        "hbase.tmp.dir": f"{root}/tmp",
        "hbase.wal.provider": "filesystem",
        "hbase.unsafe.stream.capability.enforce": "false",
        "hbase.localcluster.assign.random.ports": "false",
        "hbase.zookeeper.quorum": "127.0.0.1",
        "hbase.zookeeper.property.clientPort": zookeeper,
        "hbase.zookeeper.property.clientPortAddress": "127.0.0.1",
        "hbase.zookeeper.property.dataDir": f"{root}/zookeeper",
        "hbase.master.hostname": "127.0.0.1",
        "hbase.master.ipc.address": "127.0.0.1",
        "hbase.master.port": master,
        "hbase.master.info.bindAddress": "127.0.0.1",
        "hbase.master.info.port": master_web,
        "hbase.unsafe.regionserver.hostname": "127.0.0.1",
        "hbase.regionserver.ipc.address": "127.0.0.1",
        "hbase.regionserver.port": server,
        "hbase.regionserver.info.bindAddress": "127.0.0.1",
        "hbase.regionserver.info.port": server_web,
        "hbase.regionserver.msginterval": 500,
    }
    body = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n"
        for name, value in properties.items()
    )
    return f"<configuration>\n{body}</configuration>\n"


def _free_ports(count: int) -> list[int]:
    """Held together, then let go: five different ports, free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(held.getsockname()[1]) for held in sockets]
    for held in sockets:
        held.close()
    return ports


_LOG4J = """\
log4j.rootLogger=WARN,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p %c{2}: %m%n
"""
