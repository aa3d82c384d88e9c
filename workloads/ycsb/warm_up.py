"""Server warm-up before measured trials; it is not measured itself. (`WarmClient` warms up the client.)

Without it, the first trial on fresh RegionServers would pay for JIT compilation and empty block caches, and
the random order makes that a different trial at each density. A study chooses one of two rules:

- For a fixed time: inserts before a build's first load, into a table that is then dropped, and for the same
  time the WARM_UP mix on each table after its snapshot.
- Until steady: each mix, before a build's first trial of it, at full speed until the JIT compilers of all
  RegionServers are idle. Each of n servers gets 1/n of the operations and of the cores for compilation:
  measured on two cores, four and six servers took three minutes, and one server took one. Inserts before a
  measured load end with its last record at the latest.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from density_study.cluster.lifecycle.readiness import fetch_json
from density_study.cluster.machine.compilers import compilers_cpu_s
from density_study.cluster.model.access import OPEN
from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.existing.web import beans
from density_study.workloads.base.client_run import GRACE_S, require_success, run_client
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.mixes import WARM_UP, WARM_UP_VARIANTS
from density_study.workloads.ycsb.properties import table_of
from density_study.workloads.ycsb.setting import YcsbSetting

THREADS = 8  # independent of the first trial, so that all builds have the same warm-up
REST_SHARE = 0.05  # a RegionServer's compilers are idle below this share of one core
# Number of successive checks (every 5 s) that must find all compilers idle: compilation comes in waves.
LOOKS_AT_REST = 3

_BEAN = "java.lang:type=Compilation"

# Builds the client's command from a setting, a name, and shares of operations (None: those of the mix).
Clients = Callable[[YcsbSetting, str, Mapping[str, float] | None], Command]


@dataclass
class CompilerIdle:
    """Whether the compilers of all servers are idle; called periodically."""

    read: Callable[[], Mapping[str, float] | None]
    clock: Callable[[], float] = time.monotonic
    looks_at_rest: int = 0
    share: float | None = None  # of one core: the busiest server's compilers at the last check
    _before: tuple[float, Mapping[str, float]] | None = field(default=None, repr=False)

    def __call__(self) -> bool:
        compiled, now_s = self.read(), self.clock()
        if compiled is None:  # no answer is no evidence of rest
            self._before, self.looks_at_rest = None, 0
            return False
        if self._before is not None:
            then_s, before = self._before
            # the busiest server, not the mean: one that still compiles slows down a whole trial
            self.share = max(compiled[name] - before[name] for name in compiled) / (now_s - then_s)
            self.looks_at_rest = self.looks_at_rest + 1 if self.share < REST_SHARE else 0
        self._before = now_s, compiled
        return self.looks_at_rest >= LOOKS_AT_REST


def compiled_s(endpoints: Endpoints) -> Mapping[str, float] | None:
    """JIT compilation time of each RegionServer since its start, in seconds, by the server's name, from
    HBase's /jmx. None if a server does not answer in time, as on an overloaded machine."""
    try:
        return {
            name: _compiler(address, endpoints)["TotalCompilationTime"] / 1000
            for name, address in endpoints.regionserver_http.items()
        }
    except (StudyError, OSError, http.client.HTTPException, LookupError, ValueError):
        return None


def _compilers_s(cluster: Cluster) -> Mapping[str, float] | None:
    """Seconds that the compilers of each server have worked; None if one does not tell. Servers of other
    stores run on this machine (provider local), whose kernel counts their CPU time, or are of others."""
    if cluster.topology.store.is_hbase:
        return compiled_s(cluster.endpoints)
    try:
        names = {one.pid: f"{one.node}/{one.name}" for one in cluster.processes}
        servers = cluster.endpoints.store
        found = {name: compilers_cpu_s(pid) for pid, name in names.items() if name in servers}
        return found or None
    except OSError:
        return None


def _compiler(address: str, endpoints: Endpoints) -> Mapping[str, float]:
    if endpoints.access == OPEN:
        url = f"http://{address}/jmx?qry={_BEAN}"
        bean: Mapping[str, float] = fetch_json(url, network=endpoints.network)["beans"][0]
        return bean
    return beans(address, _BEAN, endpoints.access)[0]


def warmed_by(setting: YcsbSetting) -> str:
    """Name of the mix that warms up the servers for this setting: its own, or the common one."""
    return setting.mix if setting.until_steady else "mix"


def warm_up_inserts(context: TrialContext, setting: YcsbSetting, clients: Clients) -> None:
    """Insert into the existing table."""
    _warm_up(context, setting.model_copy(update={"mix": setting.load_mix}), None, clients)


def warm_up_mix(context: TrialContext, setting: YcsbSetting, clients: Clients) -> float | None:
    """Run the setting's own mix until steady, or the common mix for a fixed time. Returns the share of a core
    that the busiest server's compilers still used; None if a server did not answer."""
    shares = WARM_UP if setting.variants is None else WARM_UP_VARIANTS
    if not context.cluster.topology.store.facts.ordered:  # it has no scans
        shares = {**shares, "scan": 0.0, "read": shares["read"] + shares["scan"]}
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
                "target_percent": None, "target_ops_s": None, "phase": None}
    )  # fmt: skip
    name = "warm-up-inserts" if shares is None else f"warm-up-{warmed_by(setting)}"
    idle = CompilerIdle(lambda: _compilers_s(context.cluster))
    if not setting.until_steady:
        idle()  # a fixed time may be too short for two checks

    def is_enough() -> bool:
        return idle() and setting.until_steady

    begun_s = time.monotonic()
    run = run_client(context, clients(work, name, shares), limit_s + GRACE_S, "logs", is_enough)
    if idle.share is None:
        idle()
    steady = idle.looks_at_rest >= LOOKS_AT_REST
    if not (steady and setting.until_steady):
        require_success(context, run, "server warm-up")
    context.journal.write(
        "daemons-warmed-up",
        name=name,
        table=table_of(setting),
        seconds=round(time.monotonic() - begun_s, 1) if setting.until_steady else limit_s,
        steady=steady,
        compiling_share=idle.share,
    )
    return idle.share


def _own(setting: YcsbSetting) -> Mapping[str, float]:
    """The mix with updates in place of inserts: to a RegionServer both are puts."""
    # With inserts, YCSB would draw keys from all that it might insert, far more than the table has, and
    # spend its time on this.
    shares = dict(setting.mix_facts.shares)
    return {**shares, "insert": 0.0, "update": shares["update"] + shares["insert"]}
