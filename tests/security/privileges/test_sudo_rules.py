"""The programs that root runs for a user do what they say, whatever the user passes to a real sudo."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.machine.privileged.start_unit import BECOME
from density_study.cluster.providers.ssh.sudo_rules import CUTS, NETWORKS, QUIET, UNITS, script
from tests.security.privileges.machine import SECRET, SETTINGS, UID, USER, Outcome, missing, tried

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

OLD_RULE = (
    r"study ALL=(root) NOPASSWD: /usr/bin/systemd-run ^--quiet --collect --uid=study "
    r"--unit=density-study-[A-Za-z0-9.-]+\.service --description=[A-Za-z0-9_./-]+ "
    r"--property=CPUAccounting=yes --property=MemoryAccounting=yes --property=IOAccounting=yes "
    r"-- .*$" + "\n" + r"study ALL=(root) NOPASSWD: /usr/sbin/nft -f -" + "\n"
)
"""Of earlier versions. It shows that the attempts below find a way if there is one."""
PATH = "/usr/local/lib/density-study/"
INSTALLER = script(USER, (UNITS, CUTS, NETWORKS, QUIET))
UNIT, TAG, SPEC = "density-study-s-r-b-w1-datanode.service", "s/r/b", "/var/tmp/x/o.unit.json"
PARTS = 4
TABLE = "density_study_0123456789ab"
NETEM = ("root", "handle", "d5:", "netem", "limit", "100000", "delay", "1ms")
CPU = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
ALLOWED: list[tuple[str, ...]] = [
    ("start-unit", UNIT, TAG, SPEC),
    ("cut-network", "check"),
    ("cut-network", "cut", TABLE, "22", "192.0.2.1", "192.0.2.2"),
    ("cut-network", "is-cut", TABLE),
    ("cut-network", "mend", TABLE),
    ("set-network", "tc", "qdisc", "replace", "dev", "eth0", *NETEM, "loss", "0.1%"),
    ("set-network", "tc", "qdisc", "delete", "dev", "eth0", "root"),
    ("set-network", "ip", "link", "set", "dev", "eth0.100", "mtu", "9000"),
    ("set-network", "try", "qdisc", "replace", "dev", "lo", *NETEM),
    ("set-network", "coalesce", "tap0", "0", "16", *["0"] * 20),
    ("set-network", "write", "/sys/class/net/lo/queues/rx-0/rps_cpus", "1"),
    ("set-network", "write", "/proc/irq/9/smp_affinity_list", "0"),
    (
        "set-network",
        "write",
        *("/sys/class/net/lo/queues/rx-0/rps_cpus", "1", "/proc/irq/10/smp_affinity_list", "0"),
    ),
    ("quiet-host", "write", "/proc/sys/kernel/timer_migration", "0"),
    ("quiet-host", "write", CPU.format(12), "performance"),
    (
        "quiet-host",
        "write",
        *("/proc/sys/kernel/timer_migration", "0", CPU.format(13), "performance"),
    ),
]
NASTY = (
    *(
        "",
        " ",
        "-",
        "--",
        "--uid=root",
        "--uid=0",
        "-p",
        "--pipe",
        "--wait",
        "-batch",
        "-force",
        "root",
    ),
    *(
        "--property=ExecStartPre=+/usr/bin/id",
        "..",
        "../../../etc/shadow",
        "/etc/shadow",
        "/dev/stdin",
    ),
    *(".*", "*", "?", "[a-z]", "$(id)", "`id`", "${IFS}", ";id", "|id", "&", "{}", "'", '"', "\\"),
    *("\n", "\nid", "id\n", "\t", "\r", "\x1b]0;x\x07", "%n", "%s", "A" * 5000, "/proc/self/fd/0"),
    *("\u202e", "\uff0e\uff0e", "\u0660", "\udcff", "0x16", "-1", "1e9", "99999999999999999999"),
    *(
        '{ include "/etc/shadow" }',
        "192.0.2.1; include",
        "192.0.2.1/0",
        "192.0.2.01",
        "::",
        "netns",
    ),
)
ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {"PYTHONPATH": "HOME", "PYTHONHOME": "HOME", "PYTHONSTARTUP": "HOME/os.py", "PYTHONINSPECT": "1"},
    {"LD_PRELOAD": "HOME/evil.so", "LD_LIBRARY_PATH": "HOME", "GCONV_PATH": "HOME"},
    {"SUDO_UID": "0", "SUDO_USER": "root", "SUDO_GID": "0", "SUDO_COMMAND": "x"},
    {"PATH": "HOME:/usr/bin", "IFS": "/", "ENV": "HOME/os.py", "BASH_ENV": "HOME/os.py"},
    {"SYSTEMD_LOG_TARGET": "console", "DBUS_SYSTEM_BUS_ADDRESS": "unixexec:path=HOME/os.py"},
    {"NETNS_RUN_DIR": "HOME", "TC_LIB_DIR": "HOME", "XTABLES_LIBDIR": "HOME"},
)  # fmt: skip


def attempt(*words: str, **more: Any) -> dict[str, Any]:
    return {"argv": ["sudo", "-n", PATH + words[0], *words[1:]], **more}


def hostile() -> list[dict[str, Any]]:
    """Every word of every allowed command replaced, followed or joined by every nasty one."""
    found = []
    for words in ALLOWED:
        for place in range(1, len(words) + 1):
            for nasty in NASTY:
                word = words[place] if place < len(words) else ""
                for changed in (nasty, f"{word} {nasty}", f"{nasty}{word}"):
                    found.append(attempt(*words[:place], changed, *words[place + 1 :]))
        for place in range(1, len(words)):
            found += [attempt(*words[:place]), attempt(*words[:place], " ".join(words[place:]))]
    allowed = [attempt(*words) for words in ALLOWED]  # some are others without their last words
    return [
        one for one in found if one not in allowed and not any("\0" in word for word in one["argv"])
    ]


OF_OLD_RULES = [
    {
        "argv": [
            *("sudo", "-n", "/usr/bin/systemd-run", "--quiet", "--collect", "--uid=study"),
            "--unit=density-study-x.service",
            "--description=a --property=CPUAccounting=yes --property=MemoryAccounting=yes "
            "--property=IOAccounting=yes -- b",
            *("--uid=root", "--pipe", "--wait", "/usr/bin/id"),
        ]
    },
    {"argv": ["sudo", "-n", "/usr/sbin/nft", "-f", "-"], "stdin": 'include "/etc/shadow"\n'},
]
OTHER_PROGRAMS = [
    {"argv": ["sudo", "-n", *argv]}
    for argv in (
        ("/usr/bin/id",), ("-u", "#-1", PATH + UNITS), ("-u", "root", "-s"), ("-e", "/etc/sudoers"),
        ("-E", PATH + UNITS, UNIT, TAG, SPEC), ("PYTHONPATH=/tmp", PATH + UNITS, UNIT, TAG, SPEC),
        ("/usr/bin/python3", PATH + UNITS), (PATH + "../density-study/x",), ("/bin/sh", PATH + UNITS),
        ("/usr/bin/tee", "/etc/sudoers.d/density-study"), ("/usr/sbin/nft", "-f", "-"),
        ("/usr/bin/systemd-run", "--uid=study", "id"), ("-R", ".", PATH + UNITS, UNIT, TAG, SPEC),
        ("-D", "/root", PATH + UNITS, UNIT, TAG, SPEC), ("-C", "20", PATH + UNITS, UNIT, TAG, SPEC),
    )
]  # fmt: skip


def is_right(argv: list[str]) -> bool:
    """Whether root may have run this, by the documentation: written without the programs' own patterns."""
    program, *words = argv
    plain = all(re.fullmatch(r"[\x21-\x7e]+", word) for word in words)
    if program.endswith("systemd-run"):
        head, dashes, tail = words[:8], words[8:9], words[9:]
        fixed = [f"--property={one}Accounting=yes" for one in ("CPU", "Memory", "IO")]
        return (
            head[:3] == ["--quiet", "--collect", f"--uid={UID}"]
            and head[3].startswith("--unit=density-study-") and head[3].endswith(".service")
            and head[4].startswith("--description=") and head[5:] == fixed
            and dashes == ["--"] and all(set(word) <= set(WORD) for word in (head[3], head[4], tail[-1]))
            and tail[:-1] == ["/usr/bin/python3", "-IS", "-c", BECOME] and tail[-1].startswith("/")
        )  # fmt: skip
    if program.endswith("nft"):
        return (
            plain
            and words[0] in ("--check", "--file", "list", "delete")
            and "/" not in "".join(words)
        )
    if program.endswith("unshare"):
        return plain and words[:5] == ["--net", "/usr/sbin/tc", "qdisc", "replace", "dev"]
    return plain and (words[:1] in (["qdisc"], ["class"]) or words[:3] == ["link", "set", "dev"])


WORD = "=-_./@+" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def check(attempts: list[dict[str, Any]], outcomes: list[Outcome]) -> None:
    for one, outcome in zip(attempts, outcomes, strict=True):
        assert all(map(is_right, outcome.as_root)), (one, outcome.as_root)
        for _, argv, text, _ in outcome.recorded:
            assert "include" not in text and "\n\n" not in text, (one, argv)
        assert "root:" not in outcome.output and SECRET not in outcome.output, one
        assert "uid=0" not in outcome.output, one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the machine."""
    return tmp_path_factory.mktemp("machine")


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> list[Outcome]:
    """Of what is allowed, then of what is not."""
    attempts = [*(attempt(*words) for words in ALLOWED), *SHORT]
    return tried(folder, "", INSTALLER, attempts)


HOSTILE = hostile()
SHORT = [
    *OF_OLD_RULES,
    *OTHER_PROGRAMS,
    *HOSTILE[:: len(HOSTILE) // 50],
    attempt("start-unit", UNIT, f"{TAG} -- b --uid=root", SPEC),
    attempt("start-unit", UNIT, TAG, SPEC, "--uid=root"),
    attempt("cut-network", "cut", TABLE, "22", '192.0.2.1 } drop }\ninclude "/etc/shadow"'),
    attempt("cut-network", "cut", f'{TABLE} {{ }} include "/etc/shadow"', "22", "192.0.2.1"),
    attempt("cut-network", "cut", TABLE, '22 accept\ninclude "/etc/shadow"', "192.0.2.1"),
    attempt("cut-network", "mend", f"{TABLE}; flush ruleset"),
    attempt("set-network", "write", "/sys/class/net/../../../etc/shadow", "1"),
    attempt("set-network", "tc", "-batch", "/etc/shadow"),
    attempt("set-network", "coalesce", "tap0", *["0"] * 21),
    attempt("set-network", "coalesce", "tap0", "0", "16 0", *["0"] * 20),
    attempt("set-network", "coalesce", "tap0", str(2**32), *["0"] * 21),
]


def test_what_a_study_needs_works(folder: Path, outcomes: list[Outcome]) -> None:
    for words, outcome in zip(ALLOWED, outcomes, strict=False):
        assert outcome.code == 0, (words, outcome)
        starts = not {"write", "coalesce"}.intersection(words)
        assert len(outcome.as_root) == starts, (words, outcome)
    assert outcomes[0].as_root[0][-1] == SPEC
    assert "192.0.2.1, 192.0.2.2 } drop" in outcomes[2].recorded[0][2]
    assert {name: (folder / name).read_text() for name in SETTINGS} == {
        "irq/9/smp_affinity_list": "0",
        "irq/10/smp_affinity_list": "0",
        "cpu/cpu12/cpufreq/scaling_governor": "performance",
        "cpu/cpu13/cpufreq/scaling_governor": "performance",
        "timer_migration": "0",
    }


def test_nothing_else_works(outcomes: list[Outcome]) -> None:
    check(SHORT, outcomes[len(ALLOWED) :])
    for one, outcome in zip(SHORT, outcomes[len(ALLOWED) :], strict=True):
        assert outcome.code != 0 and outcome.recorded == [], one


def test_the_attempts_break_the_rules_of_earlier_versions(tmp_path: Path) -> None:
    unit, nft = tried(tmp_path, OLD_RULE, "", OF_OLD_RULES)
    assert unit.as_root[0][6] == "--uid=root"
    assert "include" in nft.recorded[0][2]
    with pytest.raises(AssertionError):
        check(OF_OLD_RULES[:1], [unit])
    with pytest.raises(AssertionError):
        check(OF_OLD_RULES[1:], [nft])


def test_the_installer_names_rules_that_must_go(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="remove the rules of an earlier version"):
        tried(tmp_path, OLD_RULE, INSTALLER, [])


def test_an_environment_changes_nothing(tmp_path: Path) -> None:
    """Modules and libraries of the user's own are beside him, too: nothing of them is loaded."""
    home = str(tmp_path / "home")
    plant = attempt("x")
    plant["argv"] = ["sh", "-c", "for n in os re sys subprocess sitecustomize usercustomize; do "
                     'echo "import sys; sys.stderr.write(chr(33) * 9)" > $n.py; done']  # fmt: skip
    environments = [{k: v.replace("HOME", home) for k, v in one.items()} for one in ENVIRONMENTS]
    calls = [attempt(*ALLOWED[0], env=one) for one in environments]
    _, *found = tried(tmp_path, "", INSTALLER, [plant, *calls])
    check(calls, found)
    for outcome in found:
        assert "!!!" not in outcome.output
        for _, _, _, names in outcome.recorded:
            assert set(names) <= {"LC_ALL", "PATH", "LC_CTYPE"}


@pytest.mark.slow
@pytest.mark.timeout(0)  # each attempt has a limit of its own
@pytest.mark.parametrize("part", range(PARTS))
def test_every_attempt(part: int, tmp_path: Path) -> None:
    assert len(HOSTILE) > 10_000
    check(HOSTILE[part::PARTS], tried(tmp_path, "", INSTALLER, HOSTILE[part::PARTS]))
