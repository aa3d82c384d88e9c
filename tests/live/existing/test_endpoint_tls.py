"""Stores of others that take connections by TLS alone: measured with the authority's certificate, and refused
without it or with another one."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
import yaml

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.store import store_named
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.existing.endpoint_tool import ask_store
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.stores.store import cluster_store
from tests.live.existing.endpoints import OURS, check_measured
from tests.live.support.builds import open_build, topology
from tests.live.support.measured import measured

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
PORT = 23901
SECRET = "of-the-key-store"


def certify(folder: Path) -> None:
    """ca.pem and other.pem: two authorities; server.pem, .key and .p12: by the first, for loopback."""
    for name in ("ca", "other"):
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem")  # fmt: skip
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", "-keyout", "server.key",
            "-out", "server.csr")  # fmt: skip
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem")  # fmt: skip
    openssl(folder, "pkcs12", "-export", "-in", "server.pem", "-inkey", "server.key", "-passout",
            f"pass:{SECRET}", "-out", "server.p12")  # fmt: skip


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@contextmanager
def redis_by_tls(folder: Path, port: int = PORT, more: str = "") -> Iterator[str]:
    """A server without another port; yields its address."""
    own = folder / str(port)
    own.mkdir()
    (own / "redis.conf").write_text(
        f'bind 127.0.0.1\nport 0\ntls-port {port}\ndir {own}\nsave ""\nappendonly yes\n'
        f"appendfsync always\ntls-cert-file {folder}/server.pem\ntls-key-file {folder}/server.key\n"
        f"tls-ca-cert-file {folder}/ca.pem\ntls-auth-clients no\nset-proc-title no\n{more}"
    )
    argv = ["/usr/bin/redis-server", str(own / "redis.conf")]
    server = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@contextmanager
def redis_cluster_by_tls(folder: Path) -> Iterator[str]:
    """Three shards, whose own connections are encrypted, too; yields the address of one."""
    with ExitStack() as stack:
        shards = [
            stack.enter_context(
                redis_by_tls(folder, PORT + number, "cluster-enabled yes\ntls-cluster yes\n")
            )
            for number in range(3)
        ]
        ask = ["/usr/bin/redis-cli", "--tls", "--cacert", str(folder / "ca.pem")]
        join = [*ask, "--cluster", "create", *shards, "--cluster-yes"]
        deadline = time.monotonic() + 30
        while subprocess.run(join, check=False, stdout=subprocess.DEVNULL).returncode:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        yield shards[0]


@contextmanager
def cassandra_by_tls(folder: Path) -> Iterator[str]:
    """A node of this program's own, started again with encryption of its clients; yields its address."""
    placed = topology(folder, workers=1, store=store_named("cassandra", "synced"))
    site, journal = open_build(folder, os.getpid())
    try:
        stacks = ensure_stacks(placed.variant.versions, placed.store)
        cluster = bring_up(site, placed, stacks, journal)
        (process,) = cluster.processes
        os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(process.pid)], 10)
        (config,) = site.root.rglob("cassandra.yaml")
        encrypted = {"enabled": True, "optional": False, "keystore": f"{folder}/server.p12",
                     "keystore_password": SECRET, "store_type": "PKCS12"}  # fmt: skip
        known = yaml.safe_load(config.read_text())
        config.write_text(yaml.safe_dump({**known, "client_encryption_options": encrypted}))
        (worker,) = placed.workers
        again = Command(
            process.name, tuple(cluster.disclosure["daemons"][f"w1/{process.name}"]), {}, None
        )
        provider_named("local").transport(site, journal).start(
            worker, again, folder / "again.out", folder / "again.err"
        )
        (address,) = cluster.endpoints.all("store").values()
        yield address
    finally:
        tear_down(site, journal)


STANDING = {
    "redis": redis_by_tls,
    "redis-cluster": redis_cluster_by_tls,
    "cassandra": cassandra_by_tls,
}


@pytest.mark.usefixtures("shared_network")
@pytest.mark.parametrize("name", STANDING)
def test_a_store_with_tls(tmp_path: Path, name: str) -> None:
    certify(tmp_path)
    with STANDING[name](tmp_path) as address:
        spec = tmp_path / "study.yaml"
        plain = OURS.replace("NAME", name).replace("[ADDRESS]", f'["{address}"]')

        def study(authority: str) -> Path:
            ca = f", ca_file: {tmp_path}/{authority}.pem}}"
            spec.write_text(plain.replace("]}", f"]{ca}") if authority else plain)
            return spec

        await_answer(name, address, tmp_path / "ca.pem")
        with measured(study("ca"), tmp_path / "runs") as done:
            check_measured(done, 1000)
            assert all(m.disclosure["existing"]["tls"] is True for m in done[1].values())
        refused = pytest.raises((InputError, StudyError), match="certifi")
        with refused, measured(study("other"), tmp_path / "other"):
            pass
        with pytest.raises((InputError, StudyError)), measured(study(""), tmp_path / "plain"):
            pass


def await_answer(name: str, address: str, ca: Path) -> None:
    properties = {
        "endpoint": address, "admin": cluster_store(store_named(name)).endpoint_admin,
        "store.ca.file": str(ca), "redis.address": address,
        "redis.prefix": "none:", "cassandra.nodes": address, "cassandra.keyspace": "none",
        "cassandra.replication": "1",
    }  # fmt: skip
    deadline = time.monotonic() + 120
    while True:
        try:
            ask_store(properties, "facts")
            return
        except StudyError:
            assert time.monotonic() < deadline
            time.sleep(1)
