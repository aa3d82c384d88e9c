"""The YCSB trial: the table in the state the mix is measured from, then one client to its exit.

Every run that writes starts from the same table: loaded once a build, flushed, major-compacted, kept
as a snapshot, and restored from it (method 6). A restored table holds the same store files at the
same places as a reloaded one after its compaction, and takes seconds.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from cluster.atomic import write_text
from cluster.client import java_command
from cluster.errors import StudyError
from cluster.stack import classpath, ensure
from workloads.client_run import require_success, run_client
from workloads.manifest import ClientRun
from workloads.workload import Bench, Collected, Prepared
from workloads.ycsb.faults import faults_of
from workloads.ycsb.properties import FAMILY, client_arguments, table_of
from workloads.ycsb.setting import YcsbSetting
from workloads.ycsb.table_tool import table_tool

NAME = "ycsb-1"
MAIN = "site.ycsb.Client"
CLIENT_HEAP_MIB = 512
LOAD_TIMEOUT_S = 7200.0
GRACE_S = 120.0
TABLES = "tables.json"
TableKnown = Literal["there", "loaded", "snapshot"]
"""What is known of a table of this build: it exists; it holds its rows; a snapshot of them exists."""


class Ycsb:
    """Saturation runs (no target): latency of these is closed-loop, and only so named (method 10)."""

    def prepare(self, bench: Bench, setting: YcsbSetting) -> Prepared:
        begin = _create if setting.mix == "load" else self._restore
        facts = begin(bench, setting)
        return Prepared(data_set_mib=setting.data_mib, state=_state(facts))

    def run(self, bench: Bench, setting: YcsbSetting) -> tuple[ClientRun, ...]:
        timeout_s = setting.duration_s + GRACE_S if setting.duration_s else LOAD_TIMEOUT_S
        return (self._client(bench, setting, NAME, "raw", timeout_s),)

    def collect(self, bench: Bench, setting: YcsbSetting, prepared: Prepared) -> Collected:
        facts = table_tool(bench, "table-after", ("state", *_table(setting)))
        faults = faults_of(bench.record.raw, NAME, setting)
        if setting.mix == "load" and not faults and _known(bench, setting) == "there":
            _remember(bench, setting, "loaded")
        return Collected(faults=faults, state=_state(facts))

    def _restore(self, bench: Bench, setting: YcsbSetting) -> list[dict[str, Any]]:
        """The loaded, compacted table: from its snapshot, or loaded and made into one first."""
        name = f"{table_of(setting)}-loaded"
        if _known(bench, setting) in (None, "there"):
            _create(bench, setting)
            self._load_unmeasured(bench, setting)
            _remember(bench, setting, "loaded")
        if _known(bench, setting) == "loaded":
            acts = [
                ("flush-compact-settle", *_table(setting)),
                ("snapshot", name, *_table(setting)),
            ]
        else:
            acts = [("restore", name, *_table(setting))]
        facts = table_tool(bench, "table-before", *acts, ("state", *_table(setting)))
        _remember(bench, setting, "snapshot")
        return facts

    def _load_unmeasured(self, bench: Bench, setting: YcsbSetting) -> None:
        load = setting.model_copy(update={"mix": "load", "duration_s": None, "warm_up_s": 0.0})
        run = self._client(bench, load, "ycsb-prepare", "logs", LOAD_TIMEOUT_S)
        require_success(bench, run, "loading the table")
        faults = faults_of(bench.record.root / "logs", "ycsb-prepare", load)
        if faults:
            raise StudyError(
                f"loading the table: {'; '.join(faults)}.",
                f"table {table_of(setting)}",
                f"read {bench.record.root.name}/{run.stderr} and the RegionServers' logs.",
            )

    def _client(
        self, bench: Bench, setting: YcsbSetting, name: str, folder: str, timeout_s: float
    ) -> ClientRun:
        hdr_prefix = str(bench.at(bench.record.root / folder / f"{name}-"))
        command = java_command(
            bench.cluster,
            name,
            classpath(ensure("ycsb")),
            MAIN,
            client_arguments(setting, hdr_prefix),
            heap_mib=CLIENT_HEAP_MIB,
        )
        return run_client(bench, command, timeout_s, folder)


def _create(bench: Bench, setting: YcsbSetting) -> list[dict[str, Any]]:
    """An empty table, pre-split on the real distribution of YCSB's hashed keys."""
    servers = len(bench.cluster.endpoints.regionserver_http)
    regions = str(setting.regions_per_server * servers)
    known = _known(bench, setting)
    acts: list[tuple[str, ...]] = [("balancer", "off")]
    if known is not None:
        acts.append(("drop", *_table(setting)))
    acts.append(("create", *_table(setting), "--family", FAMILY, "--regions", regions))
    facts = table_tool(bench, "table-before", *acts, ("state", *_table(setting)))
    if known != "snapshot":  # a snapshot outlives its table: it holds the same loaded rows
        _remember(bench, setting, "there")
    return facts


def _table(setting: YcsbSetting) -> tuple[str, str]:
    return ("--table", table_of(setting))


def _state(facts: list[dict[str, Any]]) -> dict[str, Any]:
    """The last verb asked for the table's state."""
    return {"hbase": facts[-1]}


def _known(bench: Bench, setting: YcsbSetting) -> TableKnown | None:
    return _all_known(bench).get(table_of(setting))


def _remember(bench: Bench, setting: YcsbSetting, known: TableKnown) -> None:
    known_now = {**_all_known(bench), table_of(setting): known}
    write_text(bench.cluster.site.root / TABLES, json.dumps(known_now))


def _all_known(bench: Bench) -> dict[str, TableKnown]:
    path = bench.cluster.site.root / TABLES
    value: dict[str, TableKnown] = json.loads(path.read_text()) if path.exists() else {}
    return value
