"""The properties of one YCSB client, rendered from its setting. Pure."""

from __future__ import annotations

from workloads.ycsb.mixes import DISTRIBUTIONS, MIXES
from workloads.ycsb.setting import YcsbSetting

FAMILY = "f"
DB = "org.densitystudy.ycsb.HBaseClient"
OPERATIONS_PER_THREAD_S = 5000
"""More than a synchronous client thread can do: an operation takes 0.2 ms at the very least.

A run that ends by time needs a number of operations too, which must be neither reached nor far too
large: YCSB draws keys from the loaded ones plus all it might insert, throws away those that are not
there yet, and keeps a drawn key in an int. With two thousand million operations, half of the keys were
negative, and drawing took longer than reading.
"""
INT_MAX = 2**31 - 1
PERCENTILES = "50,90,95,99,99.9"


def table_of(setting: YcsbSetting) -> str:
    """One table for each number of records, whatever runs on it."""
    return f"usertable_{setting.records}"


def operations_at_most(setting: YcsbSetting) -> int:
    """What the client is asked to do at most: a load's records; more than a timed run can do."""
    if setting.duration_s is None:
        return setting.records
    wanted = setting.duration_s * setting.threads * OPERATIONS_PER_THREAD_S
    insert_share = MIXES[setting.mix]["insert"]
    drawable = (INT_MAX - setting.records) / max(2 * insert_share, 1)
    return int(min(wanted, drawable))


def client_arguments(setting: YcsbSetting, hdr_prefix: str) -> tuple[str, ...]:
    """Arguments of site.ycsb.Client; HBase's address comes from hbase-site.xml on its class path.

    `hdr_prefix` begins the path of each interval log.
    """
    arguments = ["-db", DB, "-s", "-threads", str(setting.threads)]
    arguments.append("-load" if setting.mix == "load" else "-t")
    if setting.target_ops_s is not None:
        arguments += ["-target", str(round(setting.target_ops_s))]
    for key, value in sorted(_properties(setting, hdr_prefix).items()):
        arguments += ["-p", f"{key}={value}"]
    return tuple(arguments)


def _properties(setting: YcsbSetting, hdr_prefix: str) -> dict[str, str]:
    shares = {f"{kind}proportion": str(share) for kind, share in MIXES[setting.mix].items()}
    properties = {
        **shares,
        "workload": "site.ycsb.workloads.CoreWorkload",
        "recordcount": str(setting.records),
        "operationcount": str(operations_at_most(setting)),
        "requestdistribution": DISTRIBUTIONS.get(setting.mix, setting.request_distribution),
        "maxscanlength": str(setting.max_scan_length),
        "table": table_of(setting),
        "columnfamily": FAMILY,
        "measurementtype": "hdrhistogram",
        "measurement.interval": "op" if setting.target_ops_s is None else "both",
        "hdrhistogram.percentiles": PERCENTILES,
        "hdrhistogram.fileoutput": "true",
        "hdrhistogram.output.path": hdr_prefix,
        "status.interval": "1",
    }
    if setting.duration_s is not None:
        properties["maxexecutiontime"] = str(round(setting.duration_s))
    return properties
