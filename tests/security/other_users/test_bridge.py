"""The bridge of containers on this machine, tried by another user: in a network of the test's own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from density_study.cluster.machine.other_users import bridge_guard, private_network
from tests.support.other_user import ROOT_ONLY

PROGRAM = """
import json, socket, subprocess, time
from density_study.cluster.machine.other_users import bridge_guard
from tests.support.other_user import reaches

THERE = ("198.18.77.2", 8000)
def sh(text): subprocess.run(text, shell=True, check=True)
def root():
    try: socket.create_connection(THERE, 3).close()
    except OSError: return False
    return True

sh("ip link add br0 type bridge; ip addr add 198.18.77.1/24 dev br0; ip link set br0 up")
container = subprocess.Popen(["unshare", "--net", "sleep", "60"])
time.sleep(0.3)
inside = f"nsenter -t {container.pid} -n "
sh(f"ip link add v0 type veth peer name eth0 netns {container.pid}; ip link set v0 master br0 up")
sh(inside + "ip addr add 198.18.77.2/24 dev eth0"); sh(inside + "ip link set eth0 up")
listen = "import socket, time; s = socket.create_server(%r); time.sleep(60)" % (THERE,)
server = subprocess.Popen([*inside.split(), "python3", "-c", listen])
try:
    while not root(): time.sleep(0.05)
    before = [root(), reaches(THERE)]
    bridge_guard.close("s/r/b1", "br0")
    closed = [root(), reaches(THERE), bridge_guard.is_closed("s/r/b1")]
    bridge_guard.remove("s/r/b1")
    print(json.dumps([before, closed, bridge_guard.is_closed("s/r/b1")]))
finally:
    for one in (server, container):
        one.kill()
        one.wait()
"""


@ROOT_ONLY
@pytest.mark.thorough
def test_another_user_does_not_reach_a_container() -> None:
    if why := bridge_guard.obstacle() or private_network.obstacle():
        pytest.skip(why)
    done = subprocess.run(
        ("unshare", "--net", sys.executable, "-c", PROGRAM),
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, closed, left = json.loads(done.stdout)
    assert before == [True, True], "the test's network works"
    assert closed == [True, False, True]
    assert left is False
