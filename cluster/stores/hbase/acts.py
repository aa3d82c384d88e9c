"""What an operator does to HBase, and to HDFS below it."""

from __future__ import annotations

from density_study.cluster.stores.act import FIRST_SERVER, TABLE, Act

_TABLE = ("--table", TABLE)
_SNAPSHOT = ("of-an-act", *_TABLE)
ACTS = (
    Act("major-compaction", tool=(("flush-compact-settle", *_TABLE),)),
    # an earlier act of the build may have taken it
    Act("snapshot", tool=(("snapshot", *_SNAPSHOT),), before=(("forget", *_SNAPSHOT),)),
    # tables of a study split only on command
    Act("split", tool=(("split", *_TABLE),), before=(("splittable", *_TABLE),)),
    # a balanced table would not be moved: it begins on one server
    Act("balance", tool=(("balance",),), before=(("confine", *_TABLE, "--info", FIRST_SERVER),),
        lasting=True, least_servers=2),
    Act("rolling-restart", restarts="regionserver", lasting=True),
    Act("decommission", empties=True, lasting=True),
)  # fmt: skip
