"""Which properties a study may set, and to which values: what tunes Hadoop and HBase. Pure.

Properties can name programs, classes, libraries, environments, files, addresses and people with rights. A
study that could set those would run code on every host. Two rules keep them out: names of these kinds are
refused, and a value is a number, a switch or a known word. Classes that come with Hadoop and HBase and
that are worth a comparison are listed in implementations.txt, each with its property.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from density_study.cluster.render.value_kinds import kind_fault

_NUMBER = (
    r"[+-]?[0-9]{0,19}\.?[0-9]{1,19}(?:[eE]-?[0-9]{1,2})?\ ?(?:%|[A-Za-z]{1,2}|min|sec|day|days)?"
)
_VALUES = re.compile(
    rf"true|false|TRUE|FALSE|{_NUMBER}(?:,\ ?{_NUMBER}){{0,63}}|RS-[0-9-]{{1,9}}k|XOR-[0-9-]{{1,9}}k"
)
_WORDS = frozenset(
    """
    NONE none SNAPPY LZ4 LZ4_HC GZ GZIP ZSTD ZSTANDARD BZIP2 LZO snappy lz4 gzip zstd bzip2 BLOCK
    RECORD NULL CRC32 CRC32C crc32 crc32c MD5MD5CRC COMPOSITE_CRC ROW ROWCOL PREFIX DIFF FAST_DIFF
    ROW_INDEX_V1 asyncfs filesystem multiwal disabled identity bounded namespace group BASIC EAGER
    ADAPTIVE LRU TinyLFU fifo deadline codel pluggable readWriteQueue RoundRobin ThreadLocal
    SYNC_WAL ASYNC_WAL SKIP_WAL FSYNC_WAL USE_DEFAULT murmur murmur3 jenkins table cluster STEADY
    PREFER always ALWAYS NEVER DEFAULT default HOT WARM COLD ALL_SSD ONE_SSD LAZY_PERSIST DISK SSD
    ARCHIVE RAM_DISK internal external SERIAL OFF ERROR WARN INFO DEBUG BY_QUEUE_LEN BY_RESOURCES
    QUEUE_LENGTH QUEUE_WAIT_TIME
""".split()  # noqa: SIM905  # a list would take a page
)
"""What Hadoop and HBase have for choices: codecs, checksums, encodings, policies, queues."""
_PROGRAM = "it names a program, or what a shell or a JVM is started with"
_CLASS = "it names classes or libraries, which are code"
_PLACE = "it names a file or a folder of the host"
_ADDRESS = "it says where a daemon listens, or to whom it talks"
_RIGHTS = "it says who may do what, or holds a secret"
_SERVICE = "it starts a service that listens for others"
_PATTERNS = (
    (_PROGRAM,
     r".*(script|command|executable|interpret[eo]r|shell|container-executor|(?<!disk-)health-checker|docker|runc"
     r"|runtime\.linux|resource-plugins|pluggable-device|cgroups|debug-dump|numa\.awareness).*"
     r"|(.*[.-])?(opts|options|args|params|env|environment|cmd|program|launcher|profile)([.-].*)?"
     r"|.*\.tracker\.indexcache.*\.env|.*-opts|.*-env"),
    (_CLASS,
     r".*(coprocessor|classpath|classloader|class\.path|aux-services|serializations|filter\.initializers|pipes\."
     r"|\.class\.|factory\.|journal-plugin|oom-handler|disk-validator).*"
     r"|(.*[._-])?(class|classes|classname|classnames|impls?|jars?|libjars?|libs?|library|libraries|codecs?"
     r"|plugins?|factory|factories|interceptors?|initializers|listeners?|observers?|delegates?|resolver|handlers"
     r"|[a-z]*class|compressor|controller|calculator|pipeline|store)"
     r"|(?!hbase\.wal\.)(.*[._-])?(providers?|policies)|.*(\.plugin\.|\.jars?[.-]).*"),
    (_PLACE,
     r"(.*[._-])?([a-z]*dirs?|directory|directories|path|paths|file|files|[a-z]*filename|keyfile|conf|include"
     r"|exclude|folders?|rootdir|root|uri|uris|urls?|locations?|archives?|workdir|mounts?|tmp|temp|prefix|suffix|parent|dbpath|log4j)"
     r"|(.*[._-])?(dirs?|path|archives|tmp)\.(?!based)[a-z].*(?<!interval)(?<!size)"),
    (_ADDRESS,
     r"(.*[._-])?(address|addresses|addr|bind|bindaddress|bind-host|hosts?|hostnames?|ports?|interfaces?"
     r"|nameservers?|nameservices?|nameservice|quorum|endpoints?|servers?|proxy|proxyservers|peers|ensemble|clientport"
     r"|defaultfs|rm-ids|webapp)"
     r"|(.*[._-])?(address|addr|bind|bind-host|port|hosts?|dns|webapp|ha|proxy)[._-].*|.*bindaddress"),
    (_RIGHTS,
     r".*(\bacls?|[.-]acl|administrators|proxyuser|superuser|supergroup|kerberos|keytab|keystore|truststore"
     r"|principal|security|secur[ei]|auth|ssl|tls|token|passw|secret|credential|encrypt|crypto|permission|umask"
     r"|impersonat|whitelist|blacklist|sasl|csrf|cors|xframe|xfs|jaas|ldap|group\.mapping|http\.policy"
     r"|rest-app-submissions|ui-actions|authoriz|sensitive|private\.key|account\.key|access\.key|protection"
     r"|cross-origin|serve\.aliases|[.-]ugi|allow\.format).*"
     r"|(.*[._-])?(users?|groups?|username|owner|perms?|permissions|admins?|acls?|admin)([._-].*)?"),
    (_SERVICE,
     r".*(amrmproxy|timeline-service|sharedcache|registry|\.router\.|federation|multicast|status\.publish"
     r"|collector-service|prometheus|end-notification|webhdfs|httpfs|\.jmx|\.rest\.|thrift|nfs\.).*"),
)  # fmt: skip
_KINDS = tuple((why, re.compile(form, re.IGNORECASE)) for why, form in _PATTERNS)


def value_fault(name: str, value: str) -> str:
    """Why a study cannot give the property this value; empty if it can."""
    listed = _implementations().get(name)
    if listed:
        if all(one.strip() in listed for one in value.split(",")):
            return ""
        choices = ", ".join(sorted(listed))
        return f"{name} is not for a study to set to {value[:80]!r}, but to one of {choices}"
    if reason := next((why for why, form in _KINDS if form.fullmatch(name)), ""):
        return f"{name} is not for a study to set: {reason}"
    if value in _WORDS or _VALUES.fullmatch(value):
        return kind_fault(name, value)
    return (
        f"{value[:80]!r} is not a value that a study may give {name}: write a number with or without a unit, "
        "true or false, or one of the words that Hadoop and HBase have for choices, like SNAPPY"
    )


@cache
def _implementations() -> Mapping[str, frozenset[str]]:
    """Property -> the values that it may have."""
    lines = Path(__file__).with_name("implementations.txt").read_text().splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: frozenset(values) for name, *values in pairs}
