"""Warming the daemons up before what is measured; nothing of it is. (A client warms itself up: `WarmClient`.)

The first trial on fresh RegionServers would pay for their compilers and empty block caches, at
another density another trial, as the order is random. Two rules, fixed by the study:

- For a time: so long of inserts before a build's first load, into a table that is dropped again, and
  as long of the WARM_UP mix on each table when its snapshot has been made.
- Until steady: each mix, before a build's first trial of it, as fast as it goes until the compilers of
  all RegionServers rest. Each of n servers gets the n-th part of the operations and of the cores that
  compile: four and six on two cores took three minutes, one took one. Inserts before a measured load end with
  its records at the latest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cluster.clients.compilers import compiled_s
from cluster.model.command import Command
from workloads.base.client_run import GRACE_S, require_success, run_client
from workloads.base.workload import TrialContext
from workloads.ycsb.mixes import MIXES, WARM_UP, WARM_UP_VARIANTS
from workloads.ycsb.properties import table_of
from workloads.ycsb.setting import YcsbSetting

THREADS = 8
"""Whatever the first trial's: all builds are warmed alike."""
REST_SHARE = 0.05
"""Of one core, in compiling, below which a RegionServer's compilers rest."""
LOOKS_AT_REST = 3
"""So many looks one after another (of 5 s) must find all at rest: compiling comes in waves."""

Clients = Callable[[YcsbSetting, str, Mapping[str, float] | None], Command]
"""Makes the client's command of a setting, a name, and shares of operations if not the mix's own."""


@dataclass
class CompilerIdle:
    """Whether the compilers of all RegionServers rest; asked again and again."""

    read: Callable[[], Mapping[str, float] | None]
    clock: Callable[[], float] = time.monotonic
    looks_at_rest: int = 0
    share: float | None = None
    """Of one core: the busiest server's, at the last look."""
    _before: tuple[float, Mapping[str, float]] | None = field(default=None, repr=False)

    def __call__(self) -> bool:
        found, now_s = self.read(), self.clock()
        if found is None:
            self._before, self.looks_at_rest = None, 0
            return False
        if self._before is not None:
            then_s, before = self._before
            self.share = max(found[name] - before[name] for name in found) / (now_s - then_s)
            self.looks_at_rest = self.looks_at_rest + 1 if self.share < REST_SHARE else 0
        self._before = now_s, found
        return self.looks_at_rest >= LOOKS_AT_REST


def warmed_by(setting: YcsbSetting) -> str:
    """What a table's daemons are warmed up by for this setting, by name: its own mix, or the one for all."""
    return setting.mix if setting.until_steady else "mix"


def warm_up_inserts(context: TrialContext, setting: YcsbSetting, clients: Clients) -> None:
    """Inserts into the table as it stands."""
    _warm_up(context, setting.model_copy(update={"mix": setting.load_mix}), None, clients)


def warm_up_mix(context: TrialContext, setting: YcsbSetting, clients: Clients) -> float | None:
    """The setting's own mix until steady, or for a time the one that has every operation. Returns what
    the busiest RegionServer's compilers still took of a core, if that was looked at."""
    shares = WARM_UP if setting.variants is None else WARM_UP_VARIANTS
    return _warm_up(context, setting, _own(setting) if setting.until_steady else shares, clients)


def _warm_up(
    context: TrialContext,
    setting: YcsbSetting,
    shares: Mapping[str, float] | None,
    clients: Clients,
) -> float | None:
    limit_s = setting.warm_up_daemons_s
    work = setting.model_copy(
        update={"duration_s": limit_s, "warm_up_client_s": 0.0, "threads": THREADS, "clients": 1,
                "target_percent": None, "target_ops_s": None}
    )  # fmt: skip
    name = "warm-up-inserts" if shares is None else f"warm-up-{warmed_by(setting)}"
    rest = (
        CompilerIdle(lambda: compiled_s(context.cluster.endpoints))
        if setting.until_steady
        else None
    )
    begun_s = time.monotonic()
    run = run_client(context, clients(work, name, shares), limit_s + GRACE_S, "logs", rest)
    steady = rest is not None and rest.looks_at_rest >= LOOKS_AT_REST
    if not steady:
        require_success(context, run, "warming the daemons up")
    context.journal.write(
        "daemons-warmed-up",
        name=name,
        table=table_of(setting),
        seconds=round(time.monotonic() - begun_s, 1) if rest else limit_s,
        **({"steady": steady, "compiling_share": rest.share} if rest else {}),
    )
    return rest.share if rest else None


def _own(setting: YcsbSetting) -> Mapping[str, float]:
    """The mix, its inserts as updates: to a RegionServer both are a put. YCSB draws keys from all that
    it might insert too, in minutes far more than the table has, and would work at drawing."""
    shares = dict(MIXES[setting.mix])
    return {**shares, "insert": 0.0, "update": shares["update"] + shares["insert"]}
