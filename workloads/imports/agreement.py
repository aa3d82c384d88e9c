"""Whether records that lie together can be of one run: a job's history and reduce output with its result, a
client's logs and standard error with its summary. A folder proves nothing: it may hold those of the day
before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from density_study.workloads.base.local_time import UTC_NAMES, zone_of
from density_study.workloads.imports.found_windows import local_end
from density_study.workloads.imports.piece import DfsioFacts, Piece, SpanFacts, YcsbFacts

# A client waits for its job, asks once a second whether it ended, and prints the date after reading sums.
END_S = 60.0
DURATION_S, DURATION_SHARE = 5.0, 0.1
MIB, MIB_SHARE = 1.0, 0.01
RATE_SHARE = 0.02
LOG_S, LOG_SHARE = 15.0, 0.05  # status lines and intervals are printed every 10 s
ZONES_S = 900.0  # offsets of time zones are multiples of a quarter of an hour
MOST_OFFSET_S = 15 * 3600.0
# The job has no name of its own: Hadoop takes the jar's.
_OWN_NAME = re.compile(r"(?i).*(\.jar|dfsio).*")


def disagreement(main: Piece, other: Piece, time_zone: str | None) -> str:
    """In words, why `other` cannot be of the run of `main`; "" if nothing shows that. time_zone: of local
    times, if it is known."""
    found: Iterator[str] = iter(())
    if other.kind == "dfsio-history":
        found = _history(main.dfsio, other.span, time_zone)
    elif other.kind == "dfsio-io":
        found = _sums(main.dfsio, other.span)
    elif other.kind == "ycsb-hdr":
        found = _log(main.ycsb, other.span)
    elif other.kind == "ycsb-status":
        found = _status(main.ycsb, other.ycsb)
    why = "; ".join(found)
    return f"{main.file} and {other.file} disagree: {why}" if why else ""


def printed(piece: Piece) -> tuple[object, ...] | None:
    """What a run printed: no two print the same times and rates to the last digit. None for other pieces."""
    if piece.kind == "ycsb-run":
        return ("ycsb", piece.ycsb.printed)
    if piece.kind == "dfsio-results":
        facts = piece.dfsio
        sizes = (facts.mode, facts.files, facts.total_mib)
        return (*sizes, facts.exec_s, facts.date_text, facts.per_stream_mib_s)
    return None


def of_one_run(piece: Piece, sha256: str) -> object:
    """What a copy of the piece also has, and a piece of another run has not. None where others may have it:
    of clients that did nothing or clean up at the same time, and of reduce outputs, which have no times.
    sha256: of the piece's file."""
    if piece.kind in ("ycsb-hdr", "dfsio-history"):
        is_alone = piece.span.rows > 0 and "CLEANUP" not in piece.span.subject
        return (piece.kind, sha256) if is_alone else None
    is_failed = piece.kind == "ycsb-run" and bool(piece.ycsb.problem)
    return None if is_failed else printed(piece)


def _history(result: DfsioFacts, history: SpanFacts, time_zone: str | None) -> Iterator[str]:
    if not _OWN_NAME.fullmatch(history.subject):
        yield f"the history is of the job {history.subject}"
    if history.tasks is not None and history.tasks != result.files:
        yield f"{history.tasks} maps against {result.files} files"
    if history.since_s is None or history.until_s is None:
        return
    job_s = history.until_s - history.since_s
    if abs(job_s - result.exec_s) > max(DURATION_S, DURATION_SHARE * result.exec_s):
        yield f"{job_s:.1f} s against {result.exec_s:g} s"
    local = local_end(result)
    if local is None:
        return
    moment, printed = local
    given = printed if printed in UTC_NAMES else time_zone
    if given is None:
        apart_s = moment.replace(tzinfo=UTC).timestamp() - history.until_s
        nearest_s = abs((apart_s + ZONES_S / 2) % ZONES_S - ZONES_S / 2)
        agrees = nearest_s <= END_S and abs(apart_s) <= MOST_OFFSET_S
    else:
        agrees = any(abs(at_s - history.until_s) <= END_S for at_s in _moments(moment, given))
    if not agrees:
        ended = datetime.fromtimestamp(history.until_s, UTC)
        yield f"the job ended {ended:%Y-%m-%d %H:%M:%S} UTC, the result is of {result.date_text}"


def _moments(local: datetime, zone: str) -> Iterator[float]:
    info = UTC if zone in UTC_NAMES else zone_of(zone)
    for fold in (0, 1):
        yield local.replace(tzinfo=info, fold=fold).timestamp()


def _sums(result: DfsioFacts, sums: SpanFacts) -> Iterator[str]:
    if sums.tasks is not None and sums.tasks != result.files:
        yield f"{sums.tasks} streams against {result.files} files"
    if sums.mib is not None and abs(sums.mib - result.total_mib) > max(MIB, MIB_SHARE * sums.mib):
        yield f"{sums.mib:,.0f} MiB against {result.total_mib:,.0f} MiB"
    rate, printed = sums.per_stream_mib_s, result.per_stream_mib_s
    if rate is not None and abs(rate - printed) > max(0.02, RATE_SHARE * rate):
        yield f"{rate:.2f} MiB/s per stream against {printed:g} MiB/s"


def _log(run: YcsbFacts, log: SpanFacts) -> Iterator[str]:
    if run.run_s is None or log.since_s is None or log.until_s is None:
        return
    logged_s = log.until_s - log.since_s
    if logged_s > run.run_s + max(LOG_S, LOG_SHARE * run.run_s):
        yield f"the log is of {logged_s:.0f} s, and the run took {run.run_s:.0f} s"


def _status(run: YcsbFacts, status: YcsbFacts) -> Iterator[str]:
    """A client's last status line is of its end."""
    if run.run_s is None or status.at is None:
        return
    slack_s = max(LOG_S, LOG_SHARE * run.run_s)
    if abs(status.at_elapsed_s - run.run_s) > slack_s:
        yield f"status lines of {status.at_elapsed_s} s, and the run took {run.run_s:.0f} s"
    done, whole = status.at_operations, run.implied
    if done is not None and whole is not None and abs(done - whole) * run.run_s > whole * slack_s:
        yield f"status lines of {done:,} operations, and the run did {whole:,}"
