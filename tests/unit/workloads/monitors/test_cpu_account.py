"""CPU time of short-lived processes, counted once."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from density_study.workloads.monitors.cpu_account import CpuAccount, Reading, Ticks


def reading(pid: int, own: int, children: int = 0, parent: int = 1, node: str = "w1") -> Reading:
    return Reading(
        (pid, pid * 10), node, parent, Ticks(own, 2 * own), Ticks(children, 2 * children)
    )


def user(account: CpuAccount) -> int:
    total = account.total["w1"]
    assert total.system == 2 * total.user
    return total.user


def test_live_processes_count_their_used_time() -> None:
    account = CpuAccount()
    account.add([reading(5, 100, 30), reading(6, 7, node="w2")])
    assert (user(account), account.total["w2"]) == (130, Ticks(7, 14))
    account.add([reading(5, 150, 30), reading(6, 7, node="w2")])
    assert user(account) == 180
    assert account.processes == {"w1": 1, "w2": 1}


def test_a_process_without_a_waiting_parent_keeps_its_time() -> None:
    account = CpuAccount()
    account.add([reading(5, 100)])
    account.add([])
    account.add([])
    assert (user(account), account.processes) == (100, {"w1": 0})


def test_a_reused_pid_is_another_process() -> None:
    account = CpuAccount()
    account.add([reading(5, 100)])
    account.add([Reading((5, 999), "w1", 1, Ticks(10, 20), Ticks())])
    assert user(account) == 110


def test_a_reaped_child_is_counted_once() -> None:
    """Sampled at 40, it used 50 in all; its parent's children time then includes all 50."""
    account = CpuAccount()
    account.add([reading(5, 100), reading(6, 40, parent=5)])
    account.add([reading(5, 100, children=50)])
    account.add([reading(5, 100, children=50)])
    assert user(account) == 150


def test_a_life_between_two_rounds_is_counted_through_its_parent() -> None:
    account = CpuAccount()
    account.add([reading(5, 100)])
    account.add([reading(5, 100, children=30)])
    account.add([reading(5, 100, children=30)])
    assert user(account) == 130


def test_grandchildren_are_counted_once() -> None:
    account = CpuAccount()
    account.add([reading(5, 100), reading(6, 10, parent=5), reading(7, 20, parent=6)])
    account.add([reading(5, 100), reading(6, 12, children=25, parent=5)])  # 7 ended at 25
    account.add([reading(5, 100, children=40)])  # 6 ended at 15 + 25
    account.add([reading(5, 100, children=40)])
    assert user(account) == 140


def test_a_parent_read_after_its_child_ended_is_not_counted_twice() -> None:
    account = CpuAccount()
    account.add([reading(5, 100), reading(6, 40, parent=5)])
    account.add([reading(5, 100, children=40), reading(6, 40, parent=5)])  # read before it ended
    account.add([reading(5, 100, children=40)])
    account.add([reading(5, 100, children=40)])
    assert user(account) == 140


def test_a_child_that_vanishes_before_its_parents_time_includes_it() -> None:
    account = CpuAccount()
    account.add([reading(5, 100), reading(6, 40, parent=5)])
    account.add([reading(5, 100)])
    account.add([reading(5, 100, children=45)])
    account.add([reading(5, 100, children=45)])
    assert user(account) == 145


def test_a_child_that_is_never_reaped_does_not_hide_later_ones() -> None:
    account = CpuAccount()
    account.add([reading(5, 100), reading(6, 40, parent=5)])
    for children in (0, 0, 30, 30):
        account.add([reading(5, 100, children=children)])
    assert user(account) == 170


@dataclass
class _Process:
    """A simulated process tree: the ground truth for the account."""

    pid: int
    parent: _Process | None
    own: int = 0
    children: int = 0
    alive: bool = True
    offspring: list[_Process] = field(default_factory=list)


def test_random_process_lives_are_counted_exactly_once() -> None:
    """Any order of births, work and reaped ends; totals never fall and end at the truth."""
    for seed in range(50):
        rng = random.Random(seed)
        root = _Process(2, None)
        living, used, pid, account, last = [root], 0, 3, CpuAccount(), 0
        for _ in range(60):
            for _ in range(rng.randrange(12)):
                actor = rng.choice(living)
                deed = rng.random()
                if deed < 0.5:
                    ticks = rng.randrange(20)
                    actor.own, used = actor.own + ticks, used + ticks
                elif deed < 0.75:
                    living.append(_Process(pid, actor))
                    pid += 1
                elif actor.parent and not any(p.parent is actor for p in living):
                    actor.parent.children += actor.own + actor.children
                    living.remove(actor)
            account.add(_readings(living))
            assert last <= user(account) <= used
            last = user(account)
        for _ in range(2):
            account.add(_readings(living))
        assert user(account) == used


def _readings(living: list[_Process]) -> list[Reading]:
    return [
        reading(p.pid, p.own, p.children, parent=p.parent.pid if p.parent else 1) for p in living
    ]
