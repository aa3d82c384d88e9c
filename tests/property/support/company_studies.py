"""Studies of hosts as companies have them: 4 to 256 cores, 8 GiB to 2 TiB, 1 to 24 drives, by seed."""

from __future__ import annotations

import random
from typing import Any

import yaml

_MIXES = ("a", "b", "c", "d", "e", "f", "read45-insert55", "scan95-insert5")
_RECORDS = (1, 1000, 10**6, 3 * 10**7, 2 * 10**9, "1x memory", "2x memory")
_JVMS = ("50% of node", "10% of node", "31 GiB", "2 GiB", "90% of node")


def company_study(seed: int) -> str:
    """A study without a fault of form; what it wants may be more than its hosts have."""
    choose = random.Random(seed)
    guests = choose.random() < 0.6
    densities = sorted({0, 1, *choose.sample([2, 3, 4, 6, 8, 12, 16], choose.randint(1, 3))})
    drives = _drives(choose)
    study: dict[str, Any] = {
        "study": "company",
        "provider": "libvirt" if guests else "physical",
        "ssh": {"user": "study"},
        "hosts": _hosts(choose, drives),
        "factors": {"vms_per_host": densities if guests else [0]},
        "workloads": _workloads(choose),
        "stack": {"replication": choose.randint(1, 3)},
    }
    if guests:
        study["vms"] = {
            "network": "10.0.0.0/16",
            "addresses": "10.0.0.10-10.0.3.250",
            "bridge": "br0",
            "host_reserve": choose.choice(["1 GiB", "4 GiB", "16 GiB"]),
            "vcpus": choose.choice(["all", "all", "pinned"]),
            "data_disk": choose.choice(["32 GiB", "4 TiB"]),
        }
    types = sorted({str(drive["disk_type"]) for drive in drives})
    if choose.random() < 0.5:
        study["factors"]["disk_type"] = types
    if choose.random() < 0.3:
        heap = {"jvm": {"regionserver": {"heap": choose.choice(_JVMS)}}}
        study["factors"]["configuration"] = {"base": {}, "own": heap}
    if choose.random() < 0.1:
        study["budget"] = choose.choice(["1 h", "400 h"])
    else:
        study["repetitions"] = choose.choice([1, 2, 5, 9])
    return yaml.safe_dump(study, sort_keys=False)


def _drives(choose: random.Random) -> list[dict[str, str]]:
    kinds = choose.choice([["flash"], ["hdd"], ["flash", "hdd", "hdd"]])
    number = choose.randint(1, 24)
    return [
        {"path": f"/data/{index}", "disk_type": kinds[index % len(kinds)]}
        for index in range(number)
    ]


def _hosts(choose: random.Random, drives: list[dict[str, str]]) -> list[dict[str, Any]]:
    size = {"cores": choose.randint(4, 256), "memory": f"{int(2 ** choose.uniform(3, 11))} GiB"}
    names = choose.choice(["192.0.2.{}", "node{}.dc1.corp.example"])
    hosts = [
        {**size, "name": f"h{n}", "address": names.format(n + 1), "disks": drives}
        for n in range(choose.randint(2, 13))
    ]
    return [{**hosts[0], "roles": ["master", "client"]}, *hosts[1:]]


def _workloads(choose: random.Random) -> list[dict[str, Any]]:
    ycsb: dict[str, Any] = {
        "records": [choose.choice(_RECORDS)],
        "mixes": ["load", *choose.sample(_MIXES, choose.randint(1, 3))],
        "threads": choose.sample([1, 8, 64, 512, 4096, 10000], choose.randint(1, 3)),
        "duration": choose.choice(["3 min", "10 min", "2 h"]),
        "regions_per_server": choose.choice([1, 10, 100, 1000]),
        "row": {
            "fields": choose.choice([1, 10, 20]),
            "field_length": choose.choice(["1 B", "100 B", "500 B", "100 KiB"]),
        },
    }
    if choose.random() < 0.3:
        ycsb["latency_at"] = choose.choice([["50%"], ["50%", "70%"], ["2000/s"], ["10000000/s"]])
    files = {
        "modes": choose.choice([["write"], ["write", "read"], ["write", "read", "random"]]),
        "files": choose.choice([1, 9, 576, 10000]),
        "file_size": choose.choice(["1 MiB", "1 GiB", "64 GiB"]),
    }
    return choose.choice(
        [[{"ycsb": ycsb}], [{"testdfsio": files}], [{"ycsb": ycsb}, {"testdfsio": files}]]
    )
