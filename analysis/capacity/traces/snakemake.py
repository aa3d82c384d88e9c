"""Snakemake's benchmark files: of 9 or 10 columns, or the extended one, tab-separated or as a spreadsheet
saves them; or JSON lines.

A file is one job, and its rows are repetitions of it, unless a column parts them into jobs. Sizes are of
1024 * 1024 bytes; `mean_load` is in percent of one core. (Snakemake's documentation, "Benchmark rules".)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from density_study.analysis.capacity.inputs.point import grouped
from density_study.analysis.capacity.traces.amounts import cpus, known, mib, number
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import NO_GPUS, Record, Task
from density_study.cluster.state.plain_file import why_unread

MEASURES = {
    "s", "h:m:s", "max_rss", "max_vms", "max_uss", "max_pss", "io_in", "io_out", "mean_load",
    "cpu_time", "cpu_usage", "resources", "input_size_mb", "threads", "params",
    # columns of tricorder, which writes the same table
    "major_page_faults", "minor_page_faults", "voluntary_ctx_switches", "involuntary_ctx_switches",
    "peak_n_threads", "peak_n_procs", "loadavg_1m_start", "loadavg_1m_end", "max_swap",
    "page_cache_start", "page_cache_end",
}  # fmt: skip
ENDINGS = re.compile(r"\.(gz|tsv|csv|txt|jsonl|benchmarks?|bench|log)\b", re.IGNORECASE)
ANY_RULE = re.compile(r"(benchmarks?|bench|logs?|results?|output|\.)", re.IGNORECASE)
NO_FAILURES = "Snakemake records no jobs that failed: their work is in no number"
NO_TIMES = "benchmark files hold no times: the stages are a chain, in the order of the files"
GPUS = ("gpu", "gpus", "nvidia_gpu")  # resources, by the names that executors take
_GRES = re.compile(r"""\bgres['"]?\s*[:=]\s*['"]?(?:[\w:]+,)*gpu\b(?!:0\b)""")  # of Slurm: gpu:1
_CLOCK = re.compile(r"(?:([0-9]+) days?, )?([0-9]+):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)")
_PAIR = re.compile(r"""['"]([^'"]*)['"]\s*:\s*(?:['"]([^'"]*)['"]|([^,}\s]+))""")


def read(source: Source) -> Record:
    """InputError, with the line, if a row cannot be read."""
    jobs = grouped(
        _rows(source), lambda row: tuple(v for k, v in row[1].items() if k not in MEASURES)
    )
    tasks = []
    for rows in jobs.values():
        try:
            tasks.append(_task(source, [row for _, row in rows]))
        except (ValueError, OverflowError) as error:
            line = rows[0][0]
            source.refuse(
                f"the row cannot be parsed: {why_unread(error)}.",
                "give the file as Snakemake wrote it.",
                line,
            )
    unknown = [NO_FAILURES, NO_TIMES]
    if not all("resources" in row for rows in jobs.values() for _, row in rows):
        unknown.append(NO_GPUS)
    if any(known(row.get("cpu_time")) is None for rows in jobs.values() for _, row in rows):
        unknown.append("CPU time is not recorded: the mean load for the run time stands for it")
    repeated = sum(len(rows) - 1 for rows in jobs.values())
    notes = ("repetitions of a benchmark count as one job, by their mean",) if repeated else ()
    return Record(tuple(tasks), tuple(unknown), notes)


def _rows(source: Source) -> Iterator[tuple[int, Mapping[str, str]]]:
    if not source.start.startswith(b"{"):
        yield from source.table("\t" if b"\t" in source.start.partition(b"\n")[0] else None)
        return
    for line, text in source.lines():
        row = source.value(text, line)
        if not isinstance(row, dict):
            source.refuse("the line is not a JSON object.", "give Snakemake's own file.", line)
        yield line, {name: str(value) for name, value in row.items()}


def _task(source: Source, rows: Sequence[Mapping[str, str]]) -> Task:
    first = rows[0]
    process, tag = _named(source, first)
    realtime_s = _mean([_took_s(row) for row in rows])
    wanted = _pairs(first.get("resources", ""))
    requested = wanted.get("mem_mib") or wanted.get("mem_mb")
    sizes = [number(size) for size in _pairs(first.get("input_size_mb", "")).values()]
    return Task(
        process=process,
        tag=tag,
        outcome="done",
        status="done",
        realtime_s=realtime_s,
        cpu_s=_mean([_cpu_s(row) for row in rows]),
        cpus=cpus(first.get("threads")),
        rss_mib=_most([mib(row.get("max_rss"), "M") for row in rows]) or None,
        requested_mib=None if known(requested) is None else mib(requested, "M"),
        read_mib=_mean([mib(row.get("io_in"), "M") for row in rows]),
        write_mib=_mean([mib(row.get("io_out"), "M") for row in rows]),
        input_mib=sum(size or 0.0 for size in sizes) or None,
        uses_gpus=any(known(wanted.get(name)) not in (None, "0") for name in GPUS)
        or _GRES.search(first.get("resources", "")[: 2**16]) is not None,
    )


def _took_s(row: Mapping[str, str]) -> float | None:
    """ValueError if both forms of the time differ: a point that parts thousands, for example."""
    took_s, printed = number(row.get("s")), _CLOCK.fullmatch(row.get("h:m:s", ""))
    if took_s is not None and printed:
        days, hours, minutes, seconds = (float(part or 0) for part in printed.groups())
        if abs(days * 86400 + hours * 3600 + minutes * 60 + seconds - took_s) > 1.5:
            raise ValueError(f"{row['s']} s are not {printed[0]}")
    return took_s


def _cpu_s(row: Mapping[str, str]) -> float | None:
    """Without `cpu_time` (until release 5) the mean load, of 100 % a core, for the whole run time."""
    spent = number(row.get("cpu_time"))
    if spent is not None:
        return spent
    load, wall_s = number(row.get("mean_load")), number(row.get("s"))
    return None if load is None or wall_s is None else load / 100 * wall_s


def _named(source: Source, row: Mapping[str, str]) -> tuple[str, str]:
    """(rule, wildcards). The old format has neither: a folder of its own is a rule's, else the file's
    name."""
    if rule := known(row.get("rule_name", row.get("rule"))):
        wildcards = _pairs(row.get("wildcards", ""))
        return rule, wildcards.get("sample") or ",".join(wildcards.values())
    others = [v for k, v in row.items() if k not in MEASURES and k not in ("jobid", "wildcards")]
    tag = ",".join(others)
    stem = ENDINGS.sub("", source.path.name)
    folder = source.path.parent.name
    if folder and not ANY_RULE.fullmatch(folder) and source.in_folder:
        return folder, ",".join(filter(None, (stem, tag)))
    return stem, tag


def _pairs(text: str) -> dict[str, str]:
    """The pairs of a flat mapping in Python's or JSON's notation."""
    return {key: quoted or bare for key, quoted, bare in _PAIR.findall(text[: 2**16])}


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def _most(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
