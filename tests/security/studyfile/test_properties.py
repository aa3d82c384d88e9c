"""Properties that name programs, classes, libraries, environments, places, addresses or rights are refused."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.render.plain_values import _implementations as listed
from density_study.cluster.render.settable import property_fault
from density_study.workloads.spec.study_file import parse_study

EVIL = """
yarn.app.mapreduce.am.admin-command-opts $(touch /tmp/x)
yarn.app.mapreduce.am.admin-command-opts 1
mapreduce.admin.map.child.java.opts -agentpath:/x.so
mapred.child.java.opts -XX:OnError=/x
mapreduce.map.env LD_PRELOAD=/x.so
mapreduce.map.env.LD_PRELOAD x
mapreduce.admin.user.env LD_PRELOAD=/x.so
yarn.app.mapreduce.am.env X=1
yarn.app.mapreduce.am.admin.user.env X=1
yarn.nodemanager.admin-env X=1
yarn.nodemanager.health-checker.script.path /x
yarn.nodemanager.health-checker.script.opts x
yarn.nodemanager.health-checker.scripts script
yarn.nodemanager.health-checker.evil.path /x
yarn.nodemanager.container-executor.class org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor
yarn.nodemanager.linux-container-executor.path /x
yarn.nodemanager.container-localizer.java.opts -javaagent:/x.jar
yarn.nodemanager.aux-services.evil.class Evil
yarn.nodemanager.aux-services.evil.classpath /x
yarn.nodemanager.runtime.linux.docker.privileged-containers.allowed true
yarn.nodemanager.resource-plugins.gpu.path-to-discovery-executables /x
yarn.nodemanager.node-labels.provider.script.path /x
yarn.nodemanager.numa-awareness.numactl.cmd /x
yarn.nodemanager.windows-secure-container-executor.impersonate.allowed x
net.topology.script.file.name /x
net.topology.script.number.args 1
mapreduce.pipes.executable /x
mapreduce.pipes.executable.interpretor /x
mapreduce.map.debug.script /x
mapreduce.task.profile true
mapreduce.task.profile.params -agentlib:x
hadoop.kerberos.kinit.command /x
dfs.ha.fencing.methods shell(/x)
hbase.coprocessor.region.classes Evil
hbase.coprocessor.region.classes org.apache.hadoop.hbase.coprocessor.Export
hbase.coprocessor.master.classes org.evil.Evil
hbase.coprocessor.regionserver.classes org.evil.Evil
hbase.coprocessor.user.region.classes org.evil.Evil
hbase.coprocessor.wal.classes org.evil.Evil
hbase.dynamic.jars.dir hdfs://h/x
hbase.dynamic.jars.dir x
hbase.use.dynamic.jars /x
hbase.http.filter.initializers org.evil.Evil
hadoop.http.filter.initializers NONE
hbase.master.logcleaner.plugins org.evil.Evil
hbase.procedure.master.classes org.evil.Evil
hbase.procedure.regionserver.classes org.evil.Evil
hbase.client.registry.impl org.evil.Evil
hbase.hstore.engine.class org.evil.Evil
hbase.hstore.engine.class org.apache.hadoop.hbase.regionserver.DefaultStoreEngine,org.evil.Evil
hbase.regionserver.impl org.evil.Evil
hbase.wal.provider org.evil.Evil
hbase.wal.provider ../x
hbase.hstore.checksum.algorithm org.evil.Evil
io.compression.codecs org.apache.hadoop.io.compress.GzipCodec,org.evil.Evil
io.compression.codecs evil
io.serializations org.evil.Evil
hadoop.rpc.socket.factory.class.default org.evil.Evil
hadoop.rpc.socket.factory.class.ClientProtocol SNAPPY
hadoop.security.group.mapping org.apache.hadoop.security.ShellBasedUnixGroupsMapping
hadoop.security.credential.provider.path jceks://file/x
hadoop.security.authorization false
hadoop.security.authentication kerberos
hadoop.proxyuser.root.hosts *
hadoop.proxyuser.root.groups *
hadoop.proxyuser.evil.hosts 1
hadoop.ssl.enabled true
hadoop.http.staticuser.user root
hadoop.http.authentication.type simple
hadoop.http.authentication.simple.anonymous.allowed true
hadoop.http.cross-origin.enabled true
hadoop.http.cross-origin.allowed-origins *
hadoop.jetty.logs.serve.aliases true
hadoop.tmp.dir /x
hadoop.socks.server h:1
hadoop.registry.rm.enabled true
yarn.admin.acl *
yarn.admin.acl root
yarn.acl.enable false
yarn.webapp.enable-rest-app-submissions true
yarn.resourcemanager.webapp.ui-actions.enabled true
yarn.nodemanager.webapp.address 0.0.0.0:1
yarn.nodemanager.bind-host 0.0.0.0
yarn.resourcemanager.bind-host 0
yarn.nodemanager.amrmproxy.enabled true
yarn.nodemanager.amrmproxy.address 0.0.0.0:1
yarn.nodemanager.recovery.dir /x
yarn.nodemanager.remote-app-log-dir /x
yarn.nodemanager.keytab /x
yarn.timeline-service.enabled true
yarn.sharedcache.enabled true
yarn.log.server.url http://x/
yarn.resourcemanager.nodes.include-path /x
yarn.resourcemanager.configuration.provider-class org.evil.Evil
yarn.resourcemanager.proxy-user-privileges.enabled true
dfs.namenode.rpc-bind-host 0.0.0.0
dfs.namenode.http-bind-host 0
dfs.datanode.dns.interface eth0
dfs.hosts /x
dfs.hosts.exclude x
dfs.cluster.administrators *
dfs.permissions.superusergroup x
dfs.block.local-path-access.user root
dfs.block.local-path-access.user root,${user.name}
dfs.domain.socket.path /x
dfs.namenode.edits.dir /x
dfs.namenode.shared.edits.dir /x
dfs.namenode.inode.attributes.provider.class org.evil.Evil
dfs.namenode.edits.journal-plugin.x org.evil.Evil
dfs.datanode.data.dir.perm 777
dfs.web.ugi root
dfs.client.https.keystore.resource /x
dfs.encrypt.data.transfer.algorithm x
fs.file.impl org.evil.Evil
fs.hdfs.impl org.evil.Evil
fs.s3a.secret.key SECRET
fs.s3a.aws.credentials.provider org.evil.Evil
fs.azure.account.key.x SECRET
fs.permissions.umask-mode 000
fs.trash.classname org.evil.Evil
fs.viewfs.mounttable.x.link./ hdfs://x/
mapreduce.job.end-notification.url http://x/
mapreduce.job.classloader true
mapreduce.job.cache.files /etc/passwd
mapreduce.job.cache.archives /x
mapreduce.job.jar /x
mapreduce.job.user.name root
mapreduce.job.acl-view-job *
mapreduce.cluster.local.dir /x
mapreduce.jobhistory.store.class org.evil.Evil
mapreduce.output.fileoutputformat.outputdir /x
hbase.rootdir.perms 777
hbase.superuser x
hbase.regionserver.info.port.auto true
hbase.status.published true
hbase.status.multicast.address.ip 226.1.1.3
hbase.zookeeper.property.dataDir /x
hbase.zookeeper.property.clientPortAddress 0.0.0.0
hbase.thrift.support.proxyuser true
hbase.local.dir /x
hbase.fs.tmp.dir /x
hbase.security.exec.permission.checks false
hbase.table.sanity.checks $(x)
io.file.buffer.size `x`
io.file.buffer.size $(x)
io.file.buffer.size 65536;x
io.file.buffer.size ${env.HOME}
io.file.buffer.size ${java.io.tmpdir}
io.file.buffer.size 1 2
hbase.regionserver.handler.count http://x/
hbase.regionserver.handler.count -agentlib:x
hbase.regionserver.handler.count <x>
ipc.server.listen.queue.size ../x
redis.module.load /x
cassandra.superuser x
""".strip().splitlines()
GOOD = """
hfile.block.cache.size 0.3
hbase.regionserver.handler.count 60
hbase.wal.provider asyncfs
hbase.wal.provider multiwal
hbase.wal.provider filesystem
hbase.regionserver.hlog.blocksize 128m
hbase.hregion.memstore.flush.size 134217728
hbase.hregion.compacting.memstore.type BASIC
hbase.hregion.memstore.mslab.enabled false
hbase.hstore.blockingStoreFiles 16
hbase.hstore.compactionThreshold 3
hbase.hstore.compaction.ratio 1.2F
hbase.hstore.checksum.algorithm CRC32C
hbase.hstore.engine.class org.apache.hadoop.hbase.regionserver.StripeStoreEngine
hbase.hstore.defaultengine.compactionpolicy.class org.apache.hadoop.hbase.regionserver.compactions.FIFOCompactionPolicy
hbase.regionserver.throughput.controller org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController
hbase.ipc.server.callqueue.type codel
hbase.ipc.server.callqueue.handler.factor 0.1
hbase.ipc.server.callqueue.read.ratio .5
hbase.rpc.server.impl org.apache.hadoop.hbase.ipc.SimpleRpcServer
hbase.master.loadbalancer.class org.apache.hadoop.hbase.master.balancer.SimpleLoadBalancer
hbase.bucketcache.bucket.sizes 5120,9216,17408
hbase.block.data.cachecompressed true
hbase.rs.cacheblocksonwrite true
hbase.client.scanner.caching 1000
hbase.client.ipc.pool.type RoundRobin
io.file.buffer.size 65536
io.compression.codecs org.apache.hadoop.io.compress.GzipCodec, org.apache.hadoop.io.compress.Lz4Codec
io.compression.codec.zstd.level 3
io.seqfile.compress.blocksize 1000000
ipc.server.handler.queue.size 100
ipc.client.tcpnodelay true
dfs.blocksize 64m
dfs.bytes-per-checksum 512
dfs.checksum.type CRC32
dfs.datanode.handler.count 20
dfs.datanode.max.transfer.threads 8192
dfs.datanode.readahead.bytes 4 MB
dfs.datanode.drop.cache.behind.reads true
dfs.datanode.fsdataset.volume.choosing.policy org.apache.hadoop.hdfs.server.datanode.fsdataset.AvailableSpaceVolumeChoosingPolicy
dfs.client.read.shortcircuit.streams.cache.size 256
dfs.client.socket.send.buffer.size 0
dfs.client-write-packet-size 131072
dfs.client.hedged.read.threadpool.size 10
dfs.block.local-path-access.user ${user.name}
dfs.namenode.handler.count 40
dfs.namenode.replication.max-streams 4
dfs.namenode.ec.system.default.policy RS-6-3-1024k
mapreduce.task.io.sort.mb 64
mapreduce.task.io.sort.factor 20
mapreduce.map.sort.spill.percent 0.8
mapreduce.map.output.compress true
mapreduce.map.output.compress.codec org.apache.hadoop.io.compress.SnappyCodec
mapreduce.output.fileoutputformat.compress.type BLOCK
mapreduce.reduce.shuffle.parallelcopies 5
mapreduce.shuffle.max.threads 0
mapreduce.shuffle.transferTo.allowed true
map.sort.class org.apache.hadoop.util.HeapSort
yarn.nodemanager.container-manager.thread-count 20
yarn.nodemanager.localizer.cache.target-size-mb 10240
yarn.resourcemanager.scheduler.client.thread-count 50
yarn.scheduler.capacity.schedule-asynchronously true
yarn.nodemanager.opportunistic-containers-queue-policy BY_QUEUE_LEN
""".strip().splitlines()


def fault(line: str) -> str:
    name, _, value = line.partition(" ")
    return property_fault(name, "core-site", {"core-site": {name: value}})


@pytest.mark.parametrize("line", EVIL)
def test_a_property_that_is_more_than_a_number_is_refused_with_a_reason(line: str) -> None:
    assert len(fault(line)) > len(line.split()[0]) + 20


@pytest.mark.parametrize("line", GOOD)
def test_a_property_that_tunes_is_taken(line: str) -> None:
    assert fault(line) == ""


def test_no_value_of_a_shell_a_path_a_class_or_an_address_passes_for_any_name() -> None:
    values = ("$(x)", "`x`", "${env.X}", "/x", "x/y", "../x", "~x", "a.b.C", "Evil", "x=y", "-Dx=y", "@/x", "*", "",
              "h:1", "http://h/", "0.0.0.0", "::", "a b", "1;x", "1|x", "1&x", "x", "root", "NONE;x")  # fmt: skip
    for name in ("a.b", "dfs.x.count", "hbase.wal.provider", "yarn.some.thing", "mapreduce.x"):
        for value in values:
            assert fault(f"{name} {value}"), (name, value)


@pytest.mark.parametrize("value", ["1\\n2", "1\\r", "\\u2028", "1\\0", "é"])
def test_a_value_is_one_line_of_printable_characters(value: str) -> None:
    text = (
        "study: s\nhosts: [{name: h, memory: 12 GiB, roles: [master, worker, client]}]\n"
        "factors: {vms_per_host: [1], configuration: {a: {core-site: {io.file.buffer.size: "
        f'"{value}"}}}}}}}}\nworkloads: [{{ycsb: {{records: [1000], mixes: [load], threads: [1]}}}}]\n'
    )
    with pytest.raises(InputError, match="printable"):
        parse_study(text, "s.yaml")


def test_listed_implementations_are_of_hadoop_hbase_or_java_alone() -> None:
    classes = {value for values in listed().values() for value in values if "." in value}
    ours = {"${user.name}", "java.util.concurrent.LinkedBlockingQueue"}
    assert len(classes) > 40
    assert all(one.startswith("org.apache.hadoop.") for one in classes - ours)
