"""A KDC of Debian's krb5-kdc on loopback: own realm, own database, unprivileged port."""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.live.support.java_client import MORTAL

REALM = "EXAMPLE.ORG"
HOST = "localhost"
SBIN, KTUTIL = "/usr/sbin", "/usr/bin/ktutil"


class Kdc:
    """`krb5_conf`: what its clients read. `password`: of every principal made with one."""

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, _free_port()
        self.password = secrets.token_hex(16)
        self.krb5_conf, self.kdc_conf = root / "krb5.conf", root / "kdc.conf"
        root.mkdir(parents=True)
        self.krb5_conf.write_text(krb5_conf(self.port))
        self.kdc_conf.write_text(_kdc_conf(root, self.port))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": f"{SBIN}:/usr/bin:/bin", "KRB5_CONFIG": str(self.krb5_conf),
                "KRB5_KDC_PROFILE": str(self.kdc_conf), "LC_ALL": "C"}  # fmt: skip

    def start(self, clock: str = "") -> None:
        """`clock`: how far its clock is off, as faketime takes it: `+20m`."""
        if not (self.root / "principal").exists():
            self._run(f"{SBIN}/kdb5_util", "create", "-s", "-r", REALM, "-P", secrets.token_hex(16))
        # not by the program faketime, whose child would outlive it
        (library,) = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
        fake = {"LD_PRELOAD": str(library), "FAKETIME": clock} if clock else {}
        with (self.root / "kdc.out").open("ab") as out:
            argv = [*MORTAL, f"{SBIN}/krb5kdc", "-n"]
            env = {**self.env, **fake}
            self._process = subprocess.Popen(argv, env=env, stdout=out, stderr=out)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection((HOST, self.port), 1):
                return
            time.sleep(0.05)
        raise TimeoutError((self.root / "kdc.out").read_text())

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for path in Path("/dev/shm").glob(f"*faketime_*_{self._process.pid}"):
                path.unlink()  # which faketime leaves

    def add(self, principal: str, *options: str) -> None:
        """A principal with the password."""
        self._admin(f"addprinc -pw {self.password} {' '.join(options)} {principal}")

    def remove(self, principal: str) -> None:
        self._admin(f"delprinc -force {principal}")

    def keytab(self, name: str, principals: Sequence[str], realm: str = REALM) -> Path:
        """A keytab with new keys of principals, made if need be; those of another realm exist there alone."""
        path = self.root / f"{name}.keytab"
        for principal in principals:
            if realm == REALM:
                self._admin(f"addprinc -randkey {principal}")
                self._admin(f"ktadd -k {path} {principal}")
            else:
                asked = f"add_entry -password -p {principal} -k 1 -e aes256-cts\n"
                asked += f"{self.password}\nwkt {path}\n"
                subprocess.run([KTUTIL], input=asked, text=True, env=self.env, check=True,
                               capture_output=True)  # fmt: skip
        return path

    def kinit(self, principal: str, cache: Path, *options: str) -> None:
        """A ticket by the password."""
        argv = ["/usr/bin/kinit", *options, "-c", str(cache), principal]
        subprocess.run(argv, input=self.password, text=True, env=self.env, check=True,
                       capture_output=True)  # fmt: skip

    def kinit_by(self, keytab: Path, principal: str, cache: Path, *options: str) -> None:
        self._run("/usr/bin/kinit", "-k", "-t", str(keytab), *options, "-c", str(cache), principal)

    def _admin(self, query: str) -> None:
        self._run(f"{SBIN}/kadmin.local", "-r", REALM, "-q", query)

    def _run(self, *argv: str) -> None:
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def kdc(root: Path) -> Iterator[Kdc]:
    """One that runs; killed on exit."""
    server = Kdc(root)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def krb5_conf(port: int, realm: str = REALM) -> str:
    return f"""\
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
[realms]
    {realm} = {{
        kdc = {HOST}:{port}
    }}
[domain_realm]
    {HOST} = {realm}
"""


def _kdc_conf(root: Path, port: int) -> str:
    return f"""\
[kdcdefaults]
    kdc_listen = {HOST}:{port}
    kdc_tcp_listen = {HOST}:{port}
[realms]
    {REALM} = {{
        database_name = {root}/principal
        key_stash_file = {root}/stash
        acl_file = {root}/kadm5.acl
        max_life = 10h
        max_renewable_life = 7d
        default_principal_flags = +preauth
    }}
[logging]
    kdc = FILE:{root}/kdc.log
"""


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])
