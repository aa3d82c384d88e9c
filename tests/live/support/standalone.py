"""A standalone HBase on loopback, files only, and its client JVMs.

HMaster, RegionServer and ZooKeeper are one JVM. The fixtures are per module: import them.
"""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.stack import classpath, ensure, find_java
from tests.live.support.java_client import MORTAL, YCSB

REGIONS = 6
CREATE = f"create --table usertable --family f --regions {REGIONS}"
RECORDS = 6_000
OPENS = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.lang", "java.nio", "sun.nio.ch", "java.util", "java.net")
)
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class StandaloneHBase:
    """HMaster, RegionServer and ZooKeeper in one JVM, and its client JVMs."""

    def __init__(self, root: Path, versions: Versions = VERSIONS) -> None:
        self.root, self.java, self.versions = root, str(find_java().command), versions
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

    def client_argv(
        self, main: str, *words: str, jvm: tuple[str, ...] = QUICK, front: str = ""
    ) -> list[str]:
        """`front`: a folder of classes before YCSB's own."""
        return [*MORTAL, self.java, *jvm, *self._common("ycsb", front), main, *words]

    def tool(self, line: str) -> dict[str, Any]:
        """Runs verbs that must succeed; verb -> result."""
        done = self.client("org.densitystudy.table.TableTool", *line.split())
        assert done.returncode == 0, done.stdout + done.stderr
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        return {answer["verb"]: answer["result"] for answer in answers}

    def refused(self, line: str) -> tuple[int, str]:
        """Runs verbs that must fail; exit code and output."""
        done = self.client("org.densitystudy.table.TableTool", *line.split())
        assert "table-tool: " in done.stderr
        assert "error" in json.loads(done.stdout.splitlines()[-1])
        return done.returncode, done.stderr

    def ycsb(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.client(YCSB, *ycsb_words(*words))

    def _common(self, stack: str, front: str = "") -> list[str]:
        jars = classpath(ensure(stack, self.versions))
        path = ":".join([*([front] if front else []), *jars, str(self.conf)])
        log4j = f"-Dlog4j.configuration=file:{self.conf}/log4j.properties"
        return [*OPENS, "-Djava.net.preferIPv4Stack=true", log4j, "-cp", path]


@contextmanager
def standing(root: Path, versions: Versions = VERSIONS) -> Iterator[StandaloneHBase]:
    """A server that answers, its balancer off; killed and removed on exit."""
    standalone = StandaloneHBase(root, versions)
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
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneHBase]:
    with standing(tmp_path_factory.mktemp("hbase")) as standalone:
        yield standalone


@pytest.fixture(scope="module")
def loaded(hbase: StandaloneHBase) -> StandaloneHBase:
    """usertable, pre-split and loaded with RECORDS rows, flushed, compacted, saved as snapshot
    `full`."""
    hbase.tool(CREATE)
    done = hbase.ycsb("-load", "-threads", "4", "-p", f"recordcount={RECORDS}")
    assert f"[INSERT], Return=OK, {RECORDS}" in done.stdout, done.stdout + done.stderr
    return hbase


def ycsb_words(*words: str) -> list[str]:
    mine = ["-db", "org.densitystudy.ycsb.HBaseClient", "-p", "columnfamily=f"]
    workload = ["-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", "hbase.retries=2"]
    return [*mine, *workload, *words]


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
    """Held together, then released: five different ports that were just free."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(socket_.getsockname()[1]) for socket_ in sockets]
    for socket_ in sockets:
        socket_.close()
    return ports


_LOG4J = """\
log4j.rootLogger=WARN,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p %c{2}: %m%n
"""
