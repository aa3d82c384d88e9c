"""A YCSB trial of others: its clients, its test case and its window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from density_study.workloads.imports import contradictions
from density_study.workloads.imports.built_trial import RecordFile, Workload, settled_window
from density_study.workloads.imports.choose import Chosen, Knowledge
from density_study.workloads.imports.found_windows import window_of_spans, window_of_status
from density_study.workloads.imports.map_model import TrialEntry, YcsbEntry
from density_study.workloads.imports.piece import Piece, YcsbFacts
from density_study.workloads.imports.span_files import log_prefix
from density_study.workloads.record.recorded import ImportedClient
from density_study.workloads.ycsb.imported import ImportedYcsb
from density_study.workloads.ycsb.output.interval_log import name_of

NO_SUMMARY = "YCSB printed no summary"


@dataclass
class _Client:
    """The pieces of one client."""

    name: str
    host: str | None = None
    run: Piece | None = None
    status: Piece | None = None
    logs: list[Piece] = field(default_factory=list)

    @property
    def facts(self) -> YcsbFacts:
        """Both outputs: the command line and the times are on standard error."""
        if self.run is None:
            return self.status.ycsb if self.status else YcsbFacts()
        own = self.run.ycsb
        if self.status is None:
            return own
        other = self.status.ycsb
        return replace(
            own,
            argv=own.argv or other.argv,
            properties=own.properties or other.properties,
            at=own.at or other.at,
            at_elapsed_s=own.at_elapsed_s if own.at else other.at_elapsed_s,
        )


def ycsb_trial(
    knowledge: Knowledge, trial: TrialEntry, entry: YcsbEntry, pieces: Sequence[Chosen]
) -> Workload:
    """InputError if a file belongs to no client, or if map and files contradict each other."""
    clients = _clients(knowledge, pieces)
    test_case, asked = _test_case(knowledge, entry, clients)
    logs = [log for client in clients for log in client.logs]
    whole = [log for log in logs if not log.span.subject.startswith("Intended-")]
    zones = {one.entry.time_zone for one in pieces if one.entry.time_zone}
    zone = zones.pop() if len(zones) == 1 else knowledge.file.map.time_zone
    facts = {client.name: client.facts for client in clients}
    found = (window_of_spans(whole, "interval logs"), window_of_status([*facts.values()], zone))
    window, source = settled_window(knowledge, trial, found)
    given = window if trial.window else None
    run_s = max((one.run_s for one in facts.values() if one.run_s is not None), default=None)
    knowledge.note("exit code", trial.exit_code)
    if not logs:
        knowledge.note("interval logs", None)
    elif not any(log.span.subject == "THINK" for log in logs):
        knowledge.note("time between operations", None)
    if entry.warm_up is not None and not logs:
        raise knowledge.fault(
            "a warm-up can be left out only with interval logs, which the trial does not have.",
            "remove warm_up, or add the .hdr files.",
            *("ycsb", "warm_up"),
        )
    files = [file for client in clients for file in _files(client)]
    return Workload(
        test_case=test_case,
        clients=tuple(_given(client, files, trial.exit_code, asked) for client in clients),
        files=tuple(files),
        window=window,
        window_source=source,
        problems=tuple(f"{client.name}: {why}" for client in clients if (why := _problem(client))),
        doubts=(
            *contradictions.of_window(given, found, run_s),
            *contradictions.of_ycsb(entry, facts),
        ),
    )


def _problem(client: _Client) -> str:
    if client.run is not None:
        facts = client.run.ycsb
        wrong = f"{facts.unexpected:,} reads had other content than was written"
        return facts.problem or (wrong if facts.unexpected else "")
    return NO_SUMMARY if client.status is not None else ""


def _clients(knowledge: Knowledge, pieces: Sequence[Chosen]) -> list[_Client]:
    runs = [one for one in pieces if one.piece.kind == "ycsb-run"]
    clients: dict[str, _Client] = {}
    stems: dict[str, str] = {}
    for number, one in enumerate(runs, start=1):
        name = one.entry.client or f"ycsb-{number}"
        if name in clients:
            raise knowledge.fault(
                f"two runs of the client {name}.", "give them different names.", *one.key
            )
        clients[name] = _Client(name, one.entry.host, run=one.piece)
        stems[PurePosixPath(one.piece.file).stem] = name
    for one in pieces:
        if one.piece.kind == "ycsb-status":
            stem = PurePosixPath(one.piece.file).stem
            client = _owner(knowledge, one, stem, clients, stems)
            if client.status is not None:
                raise knowledge.fault(
                    f"second standard error of the client {client.name}.", "remove one.", *one.key
                )
            client.status = one.piece
            if client.run is not None:
                knowledge.require_agreement(client.run, one)
    for one in pieces:
        if one.piece.kind == "ycsb-hdr":
            client = _owner(knowledge, one, log_prefix(one.piece.file), clients, stems)
            if one.piece.span.subject in {log.span.subject for log in client.logs}:
                raise knowledge.fault(
                    f"second log of {one.piece.span.subject} of the client {client.name}.",
                    "remove one, or name its client.",
                    *one.key,
                )
            client.logs.append(one.piece)
            if client.run is not None:
                knowledge.require_agreement(client.run, one)
    if not clients:
        raise knowledge.fault(
            "the trial has no output of YCSB.", "add the client's output.", "files"
        )
    return list(clients.values())


def _owner(
    knowledge: Knowledge,
    one: Chosen,
    stem: str,
    clients: dict[str, _Client],
    stems: Mapping[str, str],
) -> _Client:
    """The client that a log or standard error belongs to: by the map, by its name, or as the only one."""
    if one.entry.client is not None:
        return clients.setdefault(one.entry.client, _Client(one.entry.client))
    if stem in stems:
        return clients[stems[stem]]
    if stem in clients:
        return clients[stem]
    if not clients:
        return clients.setdefault("ycsb-1", _Client("ycsb-1"))
    if len(clients) == 1:
        return next(iter(clients.values()))
    raise knowledge.fault(
        f"{one.piece.file} belongs to one of {len(clients)} clients, and its name does not say which.",
        f"name it: {{file: {one.piece.file}, client: {next(iter(clients))}}}.",
        *one.key,
    )


def _test_case(
    knowledge: Knowledge, entry: YcsbEntry, clients: Sequence[_Client]
) -> tuple[ImportedYcsb, int | None]:
    """The test case, and the operations requested of each client."""
    facts = [client.facts for client in clients]

    def found(fact: str, name: str) -> int | None:
        """For every client whose command line shows it."""
        values = {value for one in facts if (value := one.number(name)) is not None}
        if len(values) > 1:
            raise knowledge.fault(
                f"the clients differ in {fact}: {', '.join(map(str, sorted(values)))}.",
                "make a trial of each client.",
                "ycsb",
            )
        return values.pop() if values else None

    is_load = ImportedYcsb(mix=entry.mix).is_load
    records = knowledge.settled(
        "records", entry.records, found("records", "recordcount"), "ycsb", "records"
    )
    threads = knowledge.settled(
        "threads", entry.threads, found("threads", "threadcount"), "ycsb", "threads"
    )
    limit_s = found("duration", "maxexecutiontime")
    asked = found("operations", "insertcount" if is_load else "operationcount")
    operations, duration_s = entry.operations, entry.duration
    if is_load and asked is None and operations is None and len(clients) == 1:
        operations = records
    if limit_s is not None or duration_s is not None:
        found_s = None if limit_s is None else float(limit_s)
        duration_s = knowledge.settled("duration", duration_s, found_s, "ycsb", "duration")
    if asked is not None or operations is not None or duration_s is None:
        fact = "requested operations"
        operations = knowledge.settled(fact, operations, asked, "ycsb", "operations")
    targets = [one.number("target") for one in facts]
    total = float(sum(one for one in targets if one)) if all(targets) else None
    target_ops_s = entry.target
    if total is not None or target_ops_s is not None:
        target_ops_s = knowledge.settled("target rate", target_ops_s, total, "ycsb", "target")
    counted = Counter(name for one in facts for name in one.counts)
    test_case = ImportedYcsb(
        mix=entry.mix,
        records=records,
        threads=threads,
        clients=len(clients),
        duration_s=duration_s,
        warm_up_s=entry.warm_up or 0.0,
        target_ops_s=target_ops_s,
        operations=tuple(sorted(counted)),
    )
    return test_case, operations


def _files(client: _Client) -> list[RecordFile]:
    files = []
    if client.run is not None:
        files.append(RecordFile(f"raw/{client.name}.out", client.run.file, client.run.lines))
    if client.status is not None:
        files.append(RecordFile(f"raw/{client.name}.err", client.status.file, client.status.lines))
    elif client.run is not None and client.run.status not in (None, client.run.lines):
        assert client.run.status is not None
        files.append(RecordFile(f"raw/{client.name}.err", client.run.file, client.run.status))
    for log in client.logs:
        name = f"raw/{client.name}-{log.span.subject}.hdr"
        if name_of(name) not in (None, log.span.subject):  # the analysis would not trust the name
            name = f"raw/{client.name}-log{len(files)}.hdr"
        files.append(RecordFile(name, log.file, log.lines))
    return files


def _given(
    client: _Client, files: Sequence[RecordFile], exit_code: int | None, asked: int | None
) -> ImportedClient:
    paths = {file.path for file in files}
    out, err = f"raw/{client.name}.out", f"raw/{client.name}.err"
    both = client.run is not None and client.run.status == client.run.lines
    return ImportedClient(
        name=client.name,
        host=client.host,
        exit_code=exit_code,
        stdout=out if out in paths else "",
        stderr=err if err in paths else out if both else "",
        operations_asked=asked,
    )
