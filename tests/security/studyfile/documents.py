"""Valid studies of every provider, as mappings that a test changes in one place; and lists in files."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import yaml
from pydantic import ValidationError

from density_study.workloads.base.checked import dotted, location_of, sentence
from density_study.workloads.study.study import Study

LOCAL = yaml.safe_load("""
study: documented
question: which density is faster?
hosts: [{name: here, address: 127.0.0.1, memory: 12 GiB, roles: [master, worker, client],
  disks: [{path: /data, disk_type: flash}]}]
factors:
  vms_per_host: [1, 2]
  stack: [{hadoop: 3.4.1, hbase: 2.6.4-hadoop3}, {hadoop: 3.4.2}]
  configuration:
    ours: {}
    more: {hbase-site: {hbase.regionserver.handler.count: 60},
      jvm: {regionserver: {heap: 1 GiB, flags: [-XX:+AlwaysPreTouch]}}}
workloads:
  - ycsb: {records: [100000], mixes: [load, {name: hot, read: 1.0, request_distribution: zipfian}],
      threads: [8], latency_at: [70%], warm_up_client: 20 s}
slo: {read_p99: 20 ms}
expect: [{name: h, metric: throughput, workload: load, compare: vms_per_host, 2_over_1: '> 1.5'}]
compare: {baseline: rolling 5, tolerance: 5%}
schedule: {cron: 0 2 * * 6}
when_busy: queue
queue: rack-1
notify:
  - {webhook: hook}
  - {mail: [a@b.c], connection: smtp_lab, events: [late]}
  - {notifier: a.b.C, arguments: {text: '{{ message.text }}', slack_conn_id: slack}}
""")
LIBVIRT = yaml.safe_load("""
study: guests
provider: libvirt
hosts: [{name: h1, address: 192.0.2.1, cores: 4, memory: 16 GiB, roles: [master, worker, client],
  libvirt: 'qemu+ssh://root@192.0.2.1:2222/system', disks: [{path: /data, disk_type: flash}]}]
ssh: {user: root, known_hosts: /k}
vms: {network: 198.51.100.0/24, addresses: 198.51.100.100-198.51.100.140, bridge: br0,
  gateway: 198.51.100.2, images: /var/lib/images/study}
factors: {vms_per_host: [1]}
workloads: [{ycsb: {records: [1000], mixes: [load], threads: [1]}}]
""")
EXISTING = yaml.safe_load("""
study: given
provider: existing
existing: {configuration: /etc/hadoop, folder: /user/me/study, namespace: density, queue: default,
  ca_file: /ca.pem, kerberos: {principal: me@EXAMPLE.ORG, keytab: /k, krb5_conf: /krb5}}
ssh: {user: me}
hosts: [{name: dn1, address: 192.0.2.11, roles: [worker]}]
workloads: [{ycsb: {records: [1000], mixes: [load], threads: [1]}}]
""")
ENDPOINT = yaml.safe_load("""
study: redis
provider: existing
store: redis
existing: {namespace: density, endpoint: {addresses: ['192.0.2.5:6379'], user: bench, password_file: /p,
  ca_file: /ca, datacenter: dc1}}
workloads: [{ycsb: {records: [1000], mixes: [load], threads: [1]}}]
""")
ALL = {"local": LOCAL, "libvirt": LIBVIRT, "existing": EXISTING, "endpoint": ENDPOINT}
Path = tuple[str | int, ...]


def listed(name: str) -> list[str]:
    """The lines of a file of this folder."""
    return File(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


def texts(value: Any, *path: str | int) -> Iterator[Path]:
    """The path of every text."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from texts(one, *path, key)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from texts(one, *path, index)
    elif isinstance(value, str):
        yield path


def changed(document: Any, path: Path, value: object) -> Any:
    """The study with another value at the path."""
    study = holder = copy.deepcopy(document)
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return study


def fault(document: Any) -> str:
    """Where and why the study is refused; empty if it is not. Without YAML, which takes most of the time."""
    try:
        Study.model_validate(document)
    except ValidationError as error:
        found = error.errors()[0]
        return f"{dotted(location_of(found))}: {sentence(found, '')}"
    return ""
