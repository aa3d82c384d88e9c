"""Studies damaged in the ways of people and machines, by seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

_SHIPPED = Path(__file__).parents[3] / "workloads" / "studies"
STUDIES = (
    *sorted(_SHIPPED.glob("*.yaml")),
    Path(__file__).parents[2] / "live" / "support" / "guests.yaml",
)
_WEIGHTS = [0.03 if path.stem == "talk-2013" else 1.0 for path in STUDIES]  # each takes a second
EXTRAS = """\
slo: {read_p99: 20 ms}
expect: [{name: h, workload: load, compare: vms_per_host, 2_over_1: '> 1.5'}]
compare: {baseline: rolling 5, tolerance: 5%}
schedule: '0 2 * * 6'
notify: [{webhook: hook}, {mail: [a@b.c], events: [late]}, {notifier: a.B, arguments: {text: x}}]
when_busy: queue
queue: rack-1
leave_out: ['v2-*/*']
questions: [vms_per_host-rate]
store: {name: redis, durability: memory}
"""
RARE = "budget: 2 h\n"  # fitting a study takes seconds
WORDS = (
    *("", "~", "[]", "{}", "[[]]", "[{}]", "{a: b}", "[1, 2]", "[1, 1]", "true", "off", "auto"),
    *("0", "1", "-1", "2", "64", "65", "2.5", ".inf", "-.inf", ".nan", "1e20"),
    *("100000000000000000000", "9" * 5000, "0x_", "0b1", "0xffffffffffffffffffffffffffffffff"),
    *("1:30", "2013-99-99", "2013-02-26", "=", "<<", "6 GiB", "32 EiB", "1 MiB", "1e400 MiB"),
    *("1 s", "10 min", "1 h", "1e9 years", "5%", "-5%", "0%", "2000/s", "1e300/s", "nan s"),
    *("1 parsec", "GiB", "**", "9**9**9 s", "1 / 0 s", "(" * 300, "10 % 3 s", "local", "physical"),
    *("libvirt", "flash", "hdd", "disk_type", "load", "read", "append", "skip", "a", "f", "[load]"),
    *("[append, truncate]", "[skip, random]", "[flash, hdd]", "[master]", "RS-6-3-1024k", "gzip"),
    *("&x [*x]", "*nobody", "!!python/name:os.system x", "!foo", "!!int x", "? [a]", "'", '"'),
    *('"\\ud800"', '"\\U00110000"', "\x00", "\x85", "\u2028", "\ufeff", "é", "\t", "|", "> ", "%"),
    *("@", "`", "#", "---", "...", "/nonexistent/x", "/", "/tmp", "/proc", "/dev/null", "relative"),
    *("/a b", "~", "rolling 5", "similar", "> 1", "[" * 2000, "- " * 2000, "{" * 500, "x" * 3000),
    *("127.0.0.1", "192.0.2.0/24", "::1", "a" * 70, "Q_", "../x", "0 2 * * 6", "* * * * * *"),
    *("s3://x/y", "qemu:///system", "[0]", "[0, 1, 64]", f"{list(range(1, 60))}"),
    *(f"{list(range(1, 2000))}", f"{list(range(1, 65))}"),
)
EVIL = (
    *("qemu+ssh://u@h/system?command=touch&no_verify=1", "qemu:///system?socket=/tmp/evil"),
    *("'-oProxyCommand=touch evil'", "'-x'", "'--help'", "'$(touch evil)'", "'`touch evil`'", "'x;evil'"),
    *("evil_module.Notifier", "os.system", "subprocess.Popen", "airflow.providers.evil.notifications.x.Y"),
    *("'{{ conn.prod.password }}'", "'{{ var.value.x }}'", "'{% for i in range(9**9) %}{% endfor %}'"),
    *("'{{ message.text }}'", "'${env.HOME}'", "'${java.class.path}'", "{{ }}", "'@/etc/passwd'"),
    *("'-XX:OnError=touch evil'", "['-XX:OnOutOfMemoryError=/evil']", "['-XX:Flags=evil']"),
    *("['-Xlog:gc:evil']", "['-Xss1m']"),
    *("['-javaagent:/evil.jar']", "['-Dcom.sun.management.jmxremote.port=9999']", "['-XX:+A', '@evil']"),
    *("{hbase-site: {hbase.coprocessor.region.classes: Evil}}", "{mapred-site: {mapreduce.map.env: X=1}}"),
    "{yarn-site: {yarn.admin.acl: '*'}}",
    *("['" + "*a" * 200 + "b/*']", "['[!/]*/../*']", "{rate: off, others_p99: 1e999 s, hdfs_free: -1%}"),
    *("{native: ../../../etc}", "{native: '0123456789ab'}", "{DIR: '${DIR}${DIR}'}"),
    "{yarn-site: {yarn.nodemanager.health-checker.script.path: /evil}}",
    *("{jvm: {regionserver: {flags: ['-XX:OnError=evil']}}}", "{jvm: {datanode: {flags: ['-Xrunevil']}}}"),
    *("s3://u:evil@bucket/x", "https://u:evil@h/", "/proc/self/mem", "/dev/stdin", "/evil/../../etc/shadow"),
    *("'0-99999999 * * * *'", "'*/99999999 * * * *'", "'0 0 30 2 *'", "'" + "://:" * 4000 + "'"),
    *("'" + "{{" * 8000 + "'", "'" + "1" * 16000 + " s'", "'" + " " * 16000 + "'", "'" + "a-" * 8000 + "'"),
    *("!!python/object/apply:os.system ['touch evil']", "!!python/module:evil_module", "!evil x"),
    *("{url: 'http://127.0.0.1:9/'}", "[{notifier: evil_module.X, arguments: {files: [/etc/shadow]}}]"),
    *("[{notifier: evil_module.X, arguments: {text: '{{ conn.a.password }}'}}]", "{asset: 'file:///evil'}"),
)  # fmt: skip
"""What runs, reads or writes something where it is not taken as data."""
CHARACTERS = ":,-[]{}&*!|>'\"%@`#?~\n\t \x00\x07é0aZ/."


def mutated(seed: int) -> str:
    """A shipped study with one to four faults."""
    choose = random.Random(seed)
    text = choose.choices(STUDIES, _WEIGHTS)[0].read_text(encoding="utf-8")
    if choose.random() < 0.3:
        text += "".join(line for line in EXTRAS.splitlines(True) if choose.random() < 0.5)
    if choose.random() < 0.01:
        text += RARE
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        text = choose.choice(_WAYS)(text, choose)
    return text


def _value_for_value(text: str, choose: random.Random) -> str:
    """Replaces one scalar of one line."""
    lines = text.splitlines(True)
    number = choose.randrange(len(lines)) if lines else 0
    if not lines or ":" not in lines[number]:
        return text
    key, _, _ = lines[number].partition(":")
    lines[number] = f"{key}: {_word(choose)}\n"
    return "".join(lines)


def _word(choose: random.Random) -> str:
    return choose.choice(EVIL if choose.random() < 0.3 else WORDS)


def _at_a_path(text: str, choose: random.Random) -> str:
    """Replaces, removes, doubles or wraps the value at a random path of the tree, or adds a
    neighbour."""
    try:
        tree = yaml.load(text, Loader=yaml.CSafeLoader)
        word = yaml.load(_word(choose), Loader=yaml.CSafeLoader)
        holder, key = choose.choice(list(_places(tree)))
        way = choose.randrange(5)
        if way == 0:
            holder[key] = word
        elif way == 1:
            del holder[key]
        elif way == 2:
            holder[key] = [holder[key], holder[key]]
        elif way == 3:
            holder[key] = {choose.choice(("a", "path", "disk_type", "ycsb", 1)): holder[key]}
        elif isinstance(holder, dict):
            holder[choose.choice(_KEYS)] = word
        return str(
            yaml.dump(
                tree,
                Dumper=yaml.CSafeDumper,
                sort_keys=False,
                default_flow_style=choose.choice((None, False)),
            )
        )
    except Exception:  # damaged before, or not valid YAML: another mutation will do
        return _value_for_value(text, choose)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    inner = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree))
    places = [(tree, key) for key, _ in inner]
    for _, value in inner:
        if isinstance(value, dict | list):
            places += _places(value)
    return places


def _characters(text: str, choose: random.Random) -> str:
    at = choose.randrange(len(text) + 1)
    cut = choose.choice((0, 0, 1, 1, 3, 20))
    return (
        text[:at] + choose.choice(CHARACTERS) * choose.choice((1, 1, 1, 2, 50)) + text[at + cut :]
    )


def _lines(text: str, choose: random.Random) -> str:
    lines = text.splitlines(True) or [""]
    first, second = choose.randrange(len(lines)), choose.randrange(len(lines))
    way = choose.randrange(5)
    if way == 0:
        del lines[first]
    elif way == 1:
        lines.insert(first, lines[second])
    elif way == 2:
        lines[first], lines[second] = lines[second], lines[first]
    elif way == 3:
        lines[first] = " " * choose.randrange(1, 9) + lines[first]
    else:
        lines = lines[:first]
    return "".join(lines)


def _number(text: str, choose: random.Random) -> str:
    """One digit becomes another number."""
    places = [at for at, character in enumerate(text) if character.isdigit()]
    if not places:
        return text
    at = choose.choice(places)
    return (
        text[:at]
        + choose.choice(("0", "9", "-1", "99999999", "1e9", "00", ".5", ""))
        + text[at + 1 :]
    )


_KEYS = (
    *("hosts", "disks", "limits", "read_iops", "read_mib_s", "path", "disk_type", "memory", "cores"),
    *("roles", "vms", "latency_at", "clients", "isolation", "skip_size", "readers", "compression"),
    *("erasure_coding", "usd_per_hour", "storage_policy", "overhead_trials", "regionservers_per_node"),
    *("ssh", "address", "repetitions", "seed", "expect", "x", "libvirt", "notify", "schedule"),
    *("queue", "flags", "configuration", "known_hosts", "existing", "jvm", "hbase-site"),
    *("notifier", "arguments", "budget", "questions", "leave_out", "limits", "variables", "native"),
)  # fmt: skip
_WAYS: tuple[Callable[[str, random.Random], str], ...] = (
    _value_for_value, _value_for_value, _at_a_path, _at_a_path, _at_a_path, _characters, _lines, _number,
)  # fmt: skip
