"""Which right an existing cluster denies, by the words in which Hadoop, HBase and Ranger refuse. Pure."""

from __future__ import annotations

import re

_WORDS: tuple[tuple[str, str], ...] = (
    # HDFS's own permissions, and Ranger's for HDFS
    (r'Permission denied: user=(?P<user>[^,\s]+), access=(?P<right>\w+), inode="(?P<on>[^"]+)"',
     "let {user} {right} {on} in HDFS (permissions, ACL, or a policy in Ranger)"),
    # HBase's AccessController
    (r"Insufficient permissions \(user=(?P<user>[^,\s)]+), scope=(?P<on>[^,\s)]+).*?action=(?P<right>\w+)",
     "grant {user} the right {right} on {on} in HBase"),
    (r"Insufficient permissions for user [\"'](?P<user>[^\"'\s]+)[^:]*?action: ?(?P<right>\w+)"
     r"(?:.*?(?:tableName|namespace): ?(?P<on>[\w:.-]+))?",
     "let {user} do {right} on {on} in HBase (a policy in Ranger)"),
    (r"[Uu]ser (?P<user>\S+) (?:cannot|does not have permission to) submit \S+ to queue (?P<on>\S+)",
     "let {user} submit to YARN's queue {on}, or name another one in existing.queue"),
    (r"submitted by user (?P<user>\S+) to (?:unknown|non-leaf) queue:? (?P<on>\S+)",
     "name a leaf queue of YARN in existing.queue; {on} is none"),
    (r"Requested resource=<(?P<on>[^>]+)>, maximum allowed allocation=<(?P<right>[^>]+)>",
     "lower mapreduce.map.memory.mb and yarn.app.mapreduce.am.resource.mb of the client configuration: YARN "
     "allows <{right}>, and a job asks for <{on}>"),
    (r"[Uu]ser:? ?\[?(?P<user>[^\s\]]+)\]? is not authorized to perform \[?(?P<right>\w+)\]? on key.*?"
     r"\[(?P<on>[^\]]+)\]",
     "let {user} do {right} with the key {on} of the KMS: the folder is in an encryption zone"),
    (r"User: (?P<user>\S+) is not allowed to impersonate (?P<on>\S+)",
     "log in as {on} itself, or allow {user} to impersonate (hadoop.proxyuser)"),
    (r"The (?P<right>DiskSpace|NameSpace) quota.*? of (?:directory )?(?P<on>/\S*) is exceeded",
     "raise the {right} quota of {on} in HDFS"),
    (r"(?:RpcThrottlingException|SpaceLimitingException|QuotaExceededException)(?P<on>[^\n]{0,120})",
     "raise the quota of HBase{on}"),
    (r"KeeperErrorCode = NoAuth for (?P<on>\S+)",
     "let this client read {on} in ZooKeeper: it wants a login by SASL, which is not supported"),
)  # fmt: skip
_PATTERNS = tuple((re.compile(words, re.DOTALL), remedy) for words, remedy in _WORDS)


def remedy_for(refusal: str) -> str:
    """What to ask the cluster's administrators for; empty if the text names no missing right."""
    for pattern, remedy in _PATTERNS:
        if found := pattern.search(refusal):
            existing = {
                name: (text or "it").rstrip(".,;") for name, text in found.groupdict().items()
            }
            return f"{remedy.format(**existing)}."
    return ""
