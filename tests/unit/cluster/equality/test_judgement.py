"""Facts of hosts: judged where the table expects something, compared by values that count as equal."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.cluster.machine.equality.judgement import (
    differing_facts,
    in_words,
    remarks,
    unequal_facts,
    unknown_facts,
)
from density_study.cluster.machine.equality.table import BY_NAME, FACTS, is_expected


def facts(**governors: str) -> dict[str, Any]:
    return {"machine": {host: {"governor": value} for host, value in governors.items()}}


def test_names_are_unique_and_every_expectation_has_its_remedy() -> None:
    assert len(BY_NAME) == len(FACTS)
    for fact in FACTS:
        assert bool(fact.expected) == bool(fact.why) == bool(fact.remedy), fact.name
        assert not fact.quiet or fact.read.startswith(("/sys/", "/proc/sys/")), fact.name


def test_what_changes_results_is_disclosed_and_what_can_be_mended_is_judged() -> None:
    """The list of the review of the field, in its order."""
    disclosed = (
        "mount_options", "open_files", "processes", "locked_memory", "driver", "rings", "coalescing",
        "queues", "offloads", "numa_nodes", "numa_balancing", "smt", "turbo_off", "boost", "governor",
        "mitigations", "microcode", "thp_defrag", "firmware", "nic_firmware", "disk_firmware", "scheduler",
        "raid_level", "raid_disks",
    )  # fmt: skip
    assert set(disclosed) <= BY_NAME.keys()
    judged = ("governor", "thp", "thp_defrag", "irqbalance", "swap", "dirty_percent",
              "dirty_background_percent", "deepest_idle_us", "clock_source")  # fmt: skip
    assert [name for name in judged if not BY_NAME[name].expected] == []
    quiet = {fact.name for fact in FACTS if fact.quiet}
    assert quiet >= {
        "governor",
        "numa_balancing",
        "thp_background",
        "timer_migration",
        "nmi_watchdog",
    }


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("governor", "performance", "performance; powersave"),
        ("open_files", "unlimited", "20000"),
        ("open_files", "65536", "1024"),
        ("dirty_percent", "20", "40"),
        ("mount_options", "rw,noatime", "rw,strictatime"),
        ("clock_source", "tsc", "hpet"),
        ("thp", "madvise", "always"),
        ("thp_defrag", "defer+madvise", "always"),
        ("raid_state", "idle", "resync"),
    ],
)
def test_a_value_is_as_expected_or_not(name: str, good: str, bad: str) -> None:
    fact = BY_NAME[name]
    assert is_expected(fact, good) and is_expected(fact, "unknown")
    assert not is_expected(fact, bad)


def test_hosts_with_the_same_remark_share_a_line() -> None:
    found = remarks(facts(h1="powersave", h2="performance", h3="powersave", h4="unknown"))
    assert [(one.fact.name, one.value, one.hosts) for one in found] == [
        ("governor", "powersave", ("h1", "h3"))
    ]


def test_what_no_host_tells_is_unknown_and_no_remark() -> None:
    assert unknown_facts(facts(h1="unknown", h2="unknown")) == ("governor",)
    assert unknown_facts(facts(h1="unknown", h2="performance")) == ()
    assert remarks(facts(h1="unknown")) == differing_facts(facts(h1="unknown", h2="x")) == ()


def test_hosts_of_a_build_that_differ_are_named() -> None:
    (one,) = differing_facts(facts(h1="powersave", h2="performance", h3="performance"))
    assert one == "governor: powersave (h1), performance (h2, h3)"


def test_variants_on_the_same_hosts_are_equal_and_on_others_by_their_facts() -> None:
    mixed = facts(h1="powersave", h2="performance")
    assert unequal_facts(mixed, mixed, True) == ()
    assert unequal_facts(facts(h1="x"), facts(h1="x", h2="x"), True) == ()
    (one,) = unequal_facts(facts(h1="x"), facts(h1="x", h2="y"), True)
    assert one == "governor: x (h1), y (h2)"
    assert unequal_facts(facts(h1="x"), facts(h2="unknown"), True) == ()
    assert unequal_facts(facts(h1="x"), {}, True) == ()


def test_disks_count_only_between_variants_that_are_to_have_the_same() -> None:
    first, later = (
        {"disks": {h: {"/d": {"scheduler": s}}}} for h, s in (("a", "none"), ("b", "bfq"))
    )
    assert unequal_facts(first, later, same_disks=True) == ("scheduler: none (a), bfq (b)",)
    assert unequal_facts(first, later, same_disks=False) == ()
    noop = {"disks": {"b": {"/d": {"scheduler": "noop"}}}}
    assert unequal_facts(first, noop, same_disks=True) == ()  # one scheduler, two names


def test_many_hosts_and_facts_are_shortened() -> None:
    assert in_words([f"h{n}" for n in range(10)]) == "h0, h1, h2 and 7 more"
    many = {"machine": {h: {f.name: h for f in FACTS if f.scope == "machine"} for h in "ab"}}
    assert len(found := differing_facts(many)) == 6 and found[-1].endswith(" more facts")
