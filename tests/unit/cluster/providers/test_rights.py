"""Refusals of HDFS, YARN, HBase and Ranger, as they word them: each names whom to ask for what."""

from __future__ import annotations

import pytest

from density_study.cluster.providers.existing.rights import remedy_for

REFUSALS = {
    'org.apache.hadoop.security.AccessControlException: Permission denied: user=bench, access=WRITE, '
    'inode="/user":hdfs:supergroup:drwxr-xr-x': "let bench WRITE /user in HDFS",
    "AccessDeniedException: Insufficient permissions (user=bench/h1@EXAMPLE.ORG, scope=bench, "
    "params=[namespace=bench], action=ADMIN)": "grant bench/h1@EXAMPLE.ORG the right ADMIN on bench in HBase",
    "org.apache.hadoop.hbase.security.AccessDeniedException: Insufficient permissions for user "
    "'bench',action: createTable, tableName:ns:t, family:f.": "let bench do createTable on ns:t in HBase",
    "AccessDeniedException: Insufficient permissions for user 'bench' (action=create)": "",
    "org.apache.hadoop.security.AccessControlException: User bench does not have permission to submit "
    "application_1700000000000_0001 to queue default": "let bench submit to YARN's queue default",
    "User bench cannot submit applications to queue root.prod": "let bench submit to YARN's queue root.prod",
    "Failed to submit application_1_1 to YARN : Application application_1_1 submitted by user bench to "
    "unknown queue: nightly": "name a leaf queue of YARN in existing.queue; nightly is none",
    "InvalidResourceRequestException: Invalid resource request! Cannot allocate containers as requested "
    "resource is greater than maximum allowed allocation. Requested resource type=[memory-mb], Requested "
    "resource=<memory:1536, vCores:1>, maximum allowed allocation=<memory:1024, vCores:4>, please note":
    "YARN allows <memory:1024, vCores:4>, and a job asks for <memory:1536, vCores:1>",
    "User [bench] is not authorized to perform [DECRYPT_EEK] on key with ACL name [prod-key]!!":
    "let bench do DECRYPT_EEK with the key prod-key of the KMS",
    "AuthorizationException: User: oozie is not allowed to impersonate bench": "log in as bench itself",
    "The DiskSpace quota of /user/bench is exceeded: quota = 1048576 B = 1 MB but diskspace consumed":
    "raise the DiskSpace quota of /user/bench in HDFS",
    "The NameSpace quota (directories and files) of directory /user/bench is exceeded: quota=1":
    "raise the NameSpace quota of /user/bench in HDFS",
    "org.apache.hadoop.hbase.quotas.RpcThrottlingException: number of requests exceeded - wait 10sec":
    "raise the quota of HBase",
    "KeeperException$NoAuthException: KeeperErrorCode = NoAuth for /hbase/hbaseid":
    "let this client read /hbase/hbaseid in ZooKeeper",
    "java.net.ConnectException: Connection refused": "",
}  # fmt: skip


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_names_the_missing_right(refusal: str) -> None:
    remedy = remedy_for(f"first line\n{refusal}\n\tat org.apache")
    assert REFUSALS[refusal] in remedy
    assert bool(remedy) == bool(REFUSALS[refusal])
