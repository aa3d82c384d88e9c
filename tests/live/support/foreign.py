"""A cluster that others built: HDFS, YARN and HBase on loopback, from XML as a stock installation has it.

Its daemons belong to the user `hdfs`, so that the user of the tests may write to /user/<name> alone. It
holds canaries: a file and a table that no study may touch.
"""

from __future__ import annotations

import getpass
import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import requests

from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.render.jvm import ADD_OPENS
from density_study.cluster.stack import classpath, ensure, find_java
from tests.live.support.java_client import MORTAL

OWNER, USER = "hdfs", getpass.getuser()
FOLDER, NAMESPACE = f"/user/{USER}/density-study", "density_study"
SECOND = "second_one"
CANARY_ROWS = 1000
LOOPBACK = "127.0.0.1"
ADMIN = Path(__file__).with_name("ForeignAdmin.java")
HDFS, YARN = "org.apache.hadoop.hdfs.server", "org.apache.hadoop.yarn.server"
_LOG4J = """\
log4j.rootLogger=WARN,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p %c{2}: %m%n
"""


class ForeignCluster:
    """`conf`: the configuration that its administrators hand to clients. Its daemons are at the address
    `host`, in the network that the words `enter` enter; the caller must be able to reach it."""

    web, hbase_user = "http://", OWNER
    session = requests.Session()

    def __init__(self, root: Path, host: str = LOOPBACK, enter: Sequence[str] = ()) -> None:
        self.root, self.conf, self.java = root, root / "conf", find_java()
        self.host, self.enter = host, tuple(enter)
        self.conf.mkdir(parents=True)
        self.namenode, self.manager = self._address(), self._address()
        (self.conf / "log4j.properties").write_text(_LOG4J)
        for site, properties in self._sites().items():
            (self.conf / f"{site}.xml").write_text(configuration_xml(properties))
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._run("hadoop", f"{HDFS}.namenode.NameNode", "-format", "-force", "-nonInteractive")
        for stack, main in (
            ("hadoop", f"{HDFS}.namenode.NameNode"),
            ("hadoop", f"{HDFS}.datanode.DataNode"),
            ("hadoop", f"{YARN}.resourcemanager.ResourceManager"),
            ("hadoop", f"{YARN}.nodemanager.NodeManager"),
            ("hbase", "org.apache.hadoop.hbase.zookeeper.HQuorumPeer"),
        ):
            self._daemon(stack, main)
        _until(lambda: self._nodes() == 1, "a DataNode registers")
        for path in ("/hbase", f"/user/{USER}", "/canary"):
            self.webhdfs("PUT", path, op="MKDIRS", permission="755")
        self.webhdfs("PUT", f"/user/{USER}", op="SETOWNER", owner=USER)
        self.webhdfs("PUT", "/hbase", op="SETOWNER", owner=self.hbase_user)
        self._daemon("hbase", "org.apache.hadoop.hbase.master.HMaster", "start")
        self._daemon("hbase", "org.apache.hadoop.hbase.regionserver.HRegionServer", "start")
        self.tool("ready", "--regionservers", "1", "--deadline-s", "120")
        _until(lambda: self._node_managers() == 1, "a NodeManager registers")
        self._plant()

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
        for process in self.processes:
            process.wait(timeout=20)

    def canaries(self) -> dict[str, Any]:
        """What must be the same after a study: a file, a table with every cell, the queue's configuration,
        and every path outside of HBase's own."""
        checksum = self.webhdfs("GET", "/canary/file", op="GETFILECHECKSUM").json()
        (state,) = self.tool("state", "--table", "canary")
        return {
            "file": checksum,
            "cells": self.admin("digest", "canary"),
            "queue": self._queue(),
            # a region that was moved or reopened counts its writes from nothing
            "regions": [(r["name"], r["server"], r["write_requests"]) for r in state["regions"]],
            "paths": sorted(self._paths("/")),
            "namespaces": sorted(p for p in self._children("/hbase/data")),
            "snapshots": self.tool("namespace", "state", "default", "--tag", "x")[0]["snapshots"],
        }

    def read_canary(self, seconds: int, ops_s: int) -> subprocess.Popen[bytes]:
        """Somebody else's load on the table."""
        words = ["-t", "-target", str(ops_s), "-p", f"recordcount={CANARY_ROWS}", "-p", "table=canary",
                 "-p", "operationcount=100000000", "-p", f"maxexecutiontime={seconds}",
                 "-p", "readproportion=1", "-p", "updateproportion=0"]  # fmt: skip
        return self._client(*words)

    def tool(self, *words: str) -> list[dict[str, Any]]:
        main = "org.densitystudy.table.TableTool"
        done = subprocess.run(
            self._argv("ycsb", main, *words),
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
            env=self.admin_env(),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return [json.loads(line)["result"] for line in lines]

    def webhdfs(self, method: str, path: str, **parameters: str) -> requests.Response:
        url = f"{self.web}{self.namenode}/webhdfs/v1{path}"
        given = {**self.administrator(), **parameters}
        answer = self.session.request(method, url, params=given, timeout=20)
        assert answer.ok, answer.text
        return answer

    def administrator(self) -> dict[str, str]:
        """Parameters that make a WebHDFS request that of the administrators."""
        return {"user.name": OWNER}

    def admin_env(self) -> dict[str, str]:
        """Environment of HBase's clients of the administrators."""
        return dict(os.environ)

    def left_of_studies(self) -> list[str]:
        """The studies' folder and namespaces, if they are there."""
        folder = f"/user/{USER}"
        left = [f"{folder}/{name}" for name in self._children(folder)]
        for namespace in (NAMESPACE, SECOND):
            (held,) = self.tool("namespace", "state", namespace, "--tag", "x")
            left += [] if held["tag"] is None else [namespace]
            left += held["snapshots"]
        return left

    def admin(self, *words: str) -> str:
        """What HBase's administrator does, by ForeignAdmin.java."""
        done = subprocess.run(
            self._argv("hbase", str(ADMIN), *words),
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
            env=self.admin_env(),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _queue(self) -> dict[str, Any]:
        """What its administrators set; other values change with each job."""
        url = f"{self.web}{self.manager}/ws/v1/cluster/scheduler"
        info = self.session.get(url, timeout=5).json()["scheduler"]["schedulerInfo"]
        (queue,) = info["queues"]["queue"]
        names = ("queueName", "state", "capacity", "maxCapacity", "maxApplications", "queueAcls",
                 "defaultPriority", "userLimit", "orderingPolicyInfo")  # fmt: skip
        return {name: queue[name] for name in names if name in queue}

    def _plant(self) -> None:
        told = self.webhdfs("PUT", "/canary/file", op="CREATE", noredirect="true").json()
        assert self.session.put(told["Location"], data=secrets.token_hex(2**14), timeout=20).ok
        self.tool("create", "--table", "canary", "--family", "f", "--regions", "2")
        load = self._client("-load", "-p", f"recordcount={CANARY_ROWS}", "-p", "table=canary")
        assert load.wait(timeout=120) == 0

    def _client(self, *words: str) -> subprocess.Popen[bytes]:
        common = ["-db", "org.densitystudy.ycsb.HBaseClient", "-p", "columnfamily=f",
                  "-p", "workload=site.ycsb.workloads.CoreWorkload"]  # fmt: skip
        argv = self._argv("ycsb", "site.ycsb.Client", *common, *words)
        with (self.root / "client.log").open("ab") as log:
            return subprocess.Popen(argv, stdout=log, stderr=log, env=self.admin_env())

    def _daemon(self, stack: str, main: str, *words: str) -> None:
        with (self.root / f"{main.rpartition('.')[2]}.log").open("ab") as log:
            argv = [*MORTAL, *self.enter, *self._argv(stack, main, *words)]
            self.processes.append(subprocess.Popen(argv, stdout=log, stderr=log, env=self._env()))

    def _run(self, stack: str, main: str, *words: str) -> None:
        argv = self._argv(stack, main, *words)
        done = subprocess.run(argv, capture_output=True, text=True, env=self._env(), check=False)
        assert done.returncode == 0, done.stderr[-2000:]

    def _argv(self, stack: str, main: str, *words: str) -> list[str]:
        path = ":".join((*classpath(ensure(stack)), str(self.conf)))
        log4j = f"-Dlog4j.configuration=file:{self.conf}/log4j.properties"
        flags = (
            "-Xmx320m",
            "-XX:+UseSerialGC",
            "-Djava.net.preferIPv4Stack=true",
            log4j,
            *ADD_OPENS,
            *self._flags(main),
        )
        return [str(self.java.command), *flags, "-cp", path, main, *words]

    def _flags(self, main: str) -> tuple[str, ...]:
        """More flags of the JVM of a main class."""
        return ()

    def _env(self) -> dict[str, str]:
        home = {"HOME": str(self.root), "JAVA_HOME": str(self.java.home)}
        return {"PATH": "/usr/bin:/bin", "HADOOP_USER_NAME": OWNER, **home}

    def _address(self) -> str:
        return f"{self.host}:{free_port()}"

    def _nodes(self) -> int:
        query = {"qry": "Hadoop:service=NameNode,name=FSNamesystemState"}
        answer = self.session.get(f"{self.web}{self.namenode}/jmx", params=query, timeout=5)
        (bean,) = answer.json()["beans"]
        return int(bean["NumLiveDataNodes"])

    def _node_managers(self) -> int:
        url = f"{self.web}{self.manager}/ws/v1/cluster/metrics"
        return int(self.session.get(url, timeout=5).json()["clusterMetrics"]["activeNodes"])

    def _children(self, path: str) -> list[str]:
        listed = self.webhdfs("GET", path, op="LISTSTATUS").json()
        return [entry["pathSuffix"] for entry in listed["FileStatuses"]["FileStatus"]]

    def _paths(self, folder: str) -> Iterator[str]:
        """Below HBase's folder, those of its default namespace alone: it writes logs at any time."""
        listed = self.webhdfs("GET", folder, op="LISTSTATUS").json()["FileStatuses"]["FileStatus"]
        for entry in listed:
            path = f"{folder.rstrip('/')}/{entry['pathSuffix']}"
            yield path
            if entry["type"] == "DIRECTORY" and path not in ("/hbase", "/tmp"):
                yield from self._paths(path)

    def _sites(self) -> dict[str, dict[str, str]]:
        root, opens = str(self.root), " ".join(ADD_OPENS)
        jars = {name: f"{ensure(name).home}/lib/*" for name in ("hadoop", "hbase")}
        zookeeper, filesystem = str(free_port()), f"hdfs://{self._address()}"
        return {
            "core-site": {"fs.defaultFS": filesystem, "hadoop.tmp.dir": f"{root}/tmp"},
            "hdfs-site": {
                "dfs.replication": "1",
                "dfs.namenode.http-address": self.namenode,
                "dfs.datanode.hostname": self.host,
                "dfs.datanode.address": self._address(),
                "dfs.datanode.http.address": self._address(),
                "dfs.datanode.ipc.address": self._address(),
                "dfs.namenode.safemode.extension": "0",
                "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            },
            "yarn-site": {
                "yarn.resourcemanager.hostname": self.host,
                "yarn.resourcemanager.address": self._address(),
                "yarn.resourcemanager.scheduler.address": self._address(),
                "yarn.resourcemanager.resource-tracker.address": self._address(),
                "yarn.resourcemanager.admin.address": self._address(),
                "yarn.resourcemanager.webapp.address": self.manager,
                "yarn.nodemanager.address": self._address(),
                "yarn.nodemanager.localizer.address": self._address(),
                "yarn.nodemanager.webapp.address": self._address(),
                "yarn.nodemanager.aux-services": "mapreduce_shuffle",
                "yarn.nodemanager.resource.memory-mb": "2048",
                "yarn.nodemanager.log-dirs": f"{root}/userlogs",
                "yarn.nodemanager.vmem-check-enabled": "false",
                "yarn.nodemanager.disk-health-checker.enable": "false",
                "yarn.scheduler.minimum-allocation-mb": "256",
                "yarn.application.classpath": f"{self.conf},{jars['hadoop']}",
                "mapreduce.shuffle.port": str(free_port()),
            },
            "capacity-scheduler": {
                "yarn.scheduler.capacity.root.queues": "default",
                "yarn.scheduler.capacity.root.default.capacity": "100",
                "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
            },
            "mapred-site": {
                "mapreduce.framework.name": "yarn",
                "mapreduce.application.classpath": f"{self.conf}:{jars['hadoop']}",
                "yarn.app.mapreduce.am.resource.mb": "384",
                "yarn.app.mapreduce.am.command-opts": f"-Xmx256m {opens}",
                "mapreduce.map.memory.mb": "256",
                "mapreduce.map.java.opts": f"-Xmx176m {opens}",
                "mapreduce.reduce.memory.mb": "256",
                "mapreduce.reduce.java.opts": f"-Xmx176m {opens}",
            },
            "hbase-site": {
                "hbase.cluster.distributed": "true",
                "hbase.rootdir": f"{filesystem}/hbase",
                "hbase.tmp.dir": f"{root}/tmp/hbase",
                "hbase.zookeeper.quorum": self.host,
                "hbase.zookeeper.property.clientPort": zookeeper,
                "hbase.zookeeper.property.dataDir": f"{root}/zookeeper",
                "hbase.wal.provider": "filesystem",
                "hbase.quota.enabled": "true",
                "hbase.unsafe.stream.capability.enforce": "false",
                "hbase.master.hostname": self.host,
                "hbase.master.port": str(free_port()),
                "hbase.master.info.port": str(free_port()),
                "hbase.regionserver.hostname": self.host,
                "hbase.regionserver.port": str(free_port()),
                "hbase.regionserver.info.port": str(free_port()),
            },
        }


def _until(holds: Callable[[], bool], what: str, within_s: float = 90.0) -> None:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with suppress(requests.RequestException, ValueError, KeyError):
            if holds():
                return
        time.sleep(0.3)
    raise TimeoutError(what)


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])


Cluster = TypeVar("Cluster", bound=ForeignCluster)


@contextmanager
def foreign_cluster(
    root: Path, host: str = LOOPBACK, enter: Sequence[str] = ()
) -> Iterator[ForeignCluster]:
    """One that runs, with its canaries; killed and removed on exit."""
    with running(ForeignCluster(root, host, enter)) as cluster:
        yield cluster


@contextmanager
def running(cluster: Cluster) -> Iterator[Cluster]:
    """Start it; killed and removed on exit."""
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(cluster.root / "tmp", ignore_errors=True)
