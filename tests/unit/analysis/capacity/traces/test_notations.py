"""Records of workflow systems: notations, encodings, attempts and limits."""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from density_study.analysis.capacity.inputs.profile import Profile, Stage
from density_study.analysis.capacity.traces import source
from density_study.analysis.capacity.traces.amounts import clock_s, epoch_s, mib, number, words_s
from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import READERS, read_traces
from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.foreign import _formats

WILD = Path(__file__).parents[4] / "samples" / "wild" / "traces"
SACCT = "JobID|JobName|State|Elapsed|AllocCPUS|NNodes|NTasks|TotalCPU|ReqMem|MaxRSS|Submit|End\n"


def profile_from(folder: Path, *texts: str | bytes, genomes: int = 1) -> Profile:
    for place, text in enumerate(texts):
        (folder / f"record-{place}").write_bytes(text if isinstance(text, bytes) else text.encode())
    return profile_of(read_traces(sorted(folder.glob("record-*"))), genomes, "x", "t")


def hours(stage: Stage) -> float:
    assert stage.core_hours is not None
    return round(stage.core_hours.value, 6)


def cromwell(**calls: list[dict[str, Any]]) -> str:
    return json.dumps({"workflowName": "w", "submittedFiles": {}, "calls": calls})


def call(
    start: str, end: str, status: str = "Done", shard: int = -1, **more: Any
) -> dict[str, Any]:
    return {
        "executionStatus": status, "shardIndex": shard, "attempt": 1,
        "start": f"2026-01-01T{start}:00Z", "end": f"2026-01-01T{end}:00Z",
        "runtimeAttributes": {"cpu": "2", "memory": "3.75 GB"}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (words_s, "1d 2h 3m 4.5s", 93784.5),
        (words_s, "223ms", 0.223),
        (words_s, "1800000", 1800.0),
        (clock_s, "1-02:03:04", 93784.0),
        (clock_s, "16:01.272", 961.272),
        (clock_s, "00:00:11", 11.0),
        (mib, "1.5 GB", 1536.0),
        (mib, "2GiB", 2048.0),
        (mib, "512 KB", 0.5),
        (mib, "4000M", 4000.0),
        (mib, "1048576", 1.0),
        (mib, "472 B", 472 / 2**20),
        (epoch_s, "1970-01-02T00:00:00Z", 86400.0),
        (epoch_s, "1970-01-02T00:00:00", 86400.0),
        (epoch_s, "1970-01-02T01:00:00+01:00", 86400.0),
        (epoch_s, "1704103200000", 1704103200.0),
        (epoch_s, "1704103200", 1704103200.0),
        (number, "0E-7", 0.0),
        *((read, text, None) for read in (words_s, clock_s, mib, epoch_s, number)
          for text in ("", "-", "NA", "Unknown", "None", None)),
    ],
)  # fmt: skip
def test_amounts(read: Callable[[object], float | None], text: object, value: float | None) -> None:
    assert read(text) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("text", ["1e400", "-5", "9" * 400, "soon", "1,5 GB"])
def test_impossible_amounts_are_errors(text: str) -> None:
    for read in (words_s, clock_s, mib, number):
        with pytest.raises((ValueError, OverflowError)):
            read(text)


def test_every_reader_has_a_signature_and_every_signature_a_reader() -> None:
    assert {one.trace for one in _formats() if one.trace} == set(READERS)


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text + b"\n\n",
        gzip.compress,
    ],
    ids=["bom", "crlf", "empty lines", "gzip"],
)
@pytest.mark.parametrize("name", sorted(path.name for path in WILD.iterdir()))
def test_equal_content_gives_an_equal_profile(
    tmp_path: Path, name: str, changed: Callable[[bytes], bytes]
) -> None:
    def read(data: bytes) -> object:
        path = tmp_path / name
        path.write_bytes(data)
        try:
            return profile_of(read_traces([path]), 1, "x", name)
        except InputError as error:
            return error.what

    data = (WILD / name).read_bytes()
    assert read(changed(data)) == read(data)


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_a_table_of_nextflow_may_have_another_delimiter_and_order(
    tmp_path: Path, mark: str
) -> None:
    rows = (
        "realtime|%cpu|status|name|peak_rss|cpus|memory",
        "3600000|350.0|COMPLETED|A:B (s1)|1073741824|4|8589934592",
    )
    text = "".join(f"{row}\n" for row in rows).replace("|", mark)
    (stage,) = profile_from(tmp_path, text).stages
    assert (stage.name, hours(stage), stage.cores_per_task) == ("b", 3.5, 4)
    assert stage.ram_gib is not None and stage.ram_used_gib is not None
    assert (stage.ram_gib.value, stage.ram_used_gib.value) == (8.0, 1.0)


@pytest.mark.parametrize(
    ("request_", "gib"),
    [
        ("4Gn", 8.0),
        ("2000Mc", 15.625),
        ("4000M", 3.90625),
        ("1.5T", 1536.0),
        ("0n", None),
        ("", None),
    ],
)
def test_memory_that_slurm_was_asked_for(tmp_path: Path, request_: str, gib: float | None) -> None:
    row = f"7|A|COMPLETED|1-00:00:00|8|2||4-00:00:00|{request_}|||\n"
    (stage,) = profile_from(tmp_path, SACCT + row).stages
    assert hours(stage) == 96.0
    assert (stage.ram_gib.value if stage.ram_gib else None) == gib


def test_jobs_of_slurm_with_steps_requeues_arrays_and_nextflow_names(tmp_path: Path) -> None:
    text = SACCT + (
        "7|nf-ALIGN_(s1)|PREEMPTED|01:00:00|4|1||02:00:00|8G||2026-01-01T00:00:00|2026-01-01T01:00:00\n"
        "7.batch|batch|CANCELLED|01:00:00|4|1|1|02:00:00||1048576K||\n"
        "7|nf-ALIGN_(s1)|COMPLETED|02:00:00|4|1||06:00:00|8G||2026-01-01T01:00:00|2026-01-01T03:00:00\n"
        "7.batch|batch|COMPLETED|02:00:00|4|1|1|06:00:00||2097152K||\n"
        "7.0|srun|COMPLETED|02:00:00|4|1|3|06:00:00||1048576K||\n"
        "8_1|SORT|CANCELLED by 12|00:30:00|1|1||00:00:00|8G||2026-01-01T03:00:00|2026-01-01T03:30:00\n"
        "8_2|SORT|COMPLETED|00:30:00|1|1||00:30:00|8G||2026-01-01T03:00:00|2026-01-01T03:30:00\n"
        "9|LATE|PENDING|00:00:00|0|1||00:00:00|8G||Unknown|Unknown\n"
    )
    profile = profile_from(tmp_path, text)
    align, sort = profile.stages
    assert (align.name, hours(align), align.lost) == ("align", 8.0, 0.25)
    assert (
        align.ram_used_gib is not None and align.ram_used_gib.value == 3.0
    )  # three tasks of 1 GiB
    assert (sort.name, sort.after, hours(sort), sort.lost) == ("sort", ("align",), 1.0, 0.5)
    assert any(
        "(1 PREEMPTED, 1 CANCELLED): 2.5 core-hours, 28% of the bill" in line
        for line in profile.notes
    )
    assert any("1 task had not ended (1 PENDING)" in line for line in profile.left_out())


@pytest.mark.parametrize(
    ("state", "elapsed", "cpu", "lost_hours"),
    [
        *(
            (state, "01:00:00", "00:00:00", 2.0)
            for state in ("CANCELLED by 12", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED")
        ),
        ("TIMEOUT", "01:00:00", "01:00:00", 1.0),
        ("FAILED", "01:00:00", "00:00:00", 0.0),
        ("CANCELLED by 12", "00:00:00", "00:00:00", 0.0),
    ],
)
def test_no_cpu_time_of_a_job_of_slurm_that_was_killed_is_unknown(
    tmp_path: Path, state: str, elapsed: str, cpu: str, lost_hours: float
) -> None:
    """Its step was killed before anybody counted; of a job that failed or never ran it is zero."""
    text = SACCT + (
        "7|A|COMPLETED|01:00:00|4|1||02:00:00|8G|||\n" + f"8|A|{state}|{elapsed}|4|1||{cpu}|8G|||\n"
    )
    profile = profile_from(tmp_path, text)
    (stage,) = profile.stages
    assert hours(stage) == 2.0 + lost_hours
    said = [line for line in profile.left_out() if "no CPU time of 1 of 2 tasks" in line]
    assert bool(said) == (lost_hours == 2.0)


def test_slurm_may_say_what_it_allocated_as_trackable_resources(tmp_path: Path) -> None:
    text = "JobID|JobName|State|ElapsedRaw|AllocTRES\n7|A|COMPLETED|3600|billing=8,cpu=8,mem=32G,node=1\n"
    (stage,) = profile_from(tmp_path, text).stages
    assert (hours(stage), stage.cores_per_task) == (8.0, 8)
    assert stage.ram_gib is not None and stage.ram_gib.value == 32.0


def test_a_run_time_that_nobody_recorded_is_not_zero(tmp_path: Path) -> None:
    profile = profile_from(tmp_path, "s\th:m:s\tmax_rss\n-\t-\tNA\n")
    assert any("no run time of its 1 task is recorded" in line for line in profile.left_out())


def test_attempts_of_cromwell_scatters_sub_workflows_and_cache_hits(tmp_path: Path) -> None:
    inner = {"calls": {"sub.align": [
        call("00:00", "01:00", "RetryableFailure", 0, backendStatus="Preempted"),
        call("01:00", "03:00", "Done", 0, outputs={"bam": "gs://b/0.bam"}),
        call("00:00", "02:00", "Done", 1, outputs={"bam": "gs://b/1.bam"}),
    ]}}  # fmt: skip
    text = cromwell(**{
        "w.sub": [{"shardIndex": -1, "subWorkflowMetadata": inner, "executionStatus": "Done"}],
        "w.other": [call("00:00", "00:30", callCaching={"hit": True})],
        "w.align": [call("04:00", "05:00", inputs={"bams": ["gs://b/0.bam", "gs://b/1.bam"]})],
        "w.never": [call("00:00", "00:00", "Bypassed")],
    })  # fmt: skip
    profile = profile_from(tmp_path, text)
    stages = {stage.name: stage for stage in profile.stages}
    assert set(stages) == {"sub-align", "other", "w-align"}
    assert (hours(stages["sub-align"]), stages["sub-align"].lost, stages["sub-align"].tasks) == (
        10.0,
        0.2,
        2,
    )
    assert (hours(stages["w-align"]), stages["w-align"].after) == (2.0, ("sub-align",))
    assert stages["w-align"].ram_gib is not None and stages["w-align"].ram_gib.value == 3.75
    assert stages["other"].core_hours is None
    assert any("1 Preempted" in line and "17% of the bill" in line for line in profile.notes)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name\tstatus\trealtime\t%cpu\trchar\na\tCOMPLETED\t1h\t9%\t13.2", "cut off"),  # GB
        (SACCT + "1|a|COMPLETED|01:00:00|4|1|1|03:30:00|16G||2026-01-01T00:00:00|2026-01-01T0", "cut"),
        ("s\th:m:s\tmax_rss\tcpu_time\n10.500\t2:55:00\t1.5\t3.25\n", "10.500 s are not 2:55:00"),
        ("s\th:m:s\tmax_rss\tcpu_time\n90.5\t1 day, 1:01:30\t1.5\t3.25\n", "90.5 s are not 1 day"),
        (cromwell(**{"w.a": [call("00:00", "01:00", runtimeAttributes={"memory": "2"})]}), "'2' is less"),
    ],
)  # fmt: skip
def test_a_value_that_is_cut_off_or_cannot_be_is_refused(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "record").write_text(text)
    with pytest.raises(InputError, match=why):
        read_traces([tmp_path / "record"])


@pytest.mark.parametrize(
    ("start", "end", "realtime_s"),
    [
        ("2026-10-25T00:30:00Z", "2026-10-25T01:10:00Z", 2400.0),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00", 2400.0),
        ("2026-10-25T02:30:00", "2026-10-25T02:10:00", None),
        ("2026-10-25T01:30:00", "2026-10-25T03:10:00", None),
        ("2026-10-25T02:30:00Z", "2026-10-25T02:10:00Z", None),
    ],
)
def test_run_times_across_the_end_of_summer_time(
    tmp_path: Path, start: str, end: str, realtime_s: float | None
) -> None:
    events = [{"description": "UserAction", "startTime": start, "endTime": end}]
    for more in ({}, {"executionEvents": events}):
        record = cromwell(**{"w.a": [call("00:00", "00:00") | {"start": start, "end": end} | more]})
        (tmp_path / "cromwell").write_text(record)
        (task,) = read_traces([tmp_path / "cromwell"]).tasks
        assert task.realtime_s == realtime_s
    entry = {"arn": "arn:aws:omics:r:1:task/1", "name": "a", "startTime": start, "stopTime": end}
    (tmp_path / "omics").write_text(json.dumps({**entry, "metrics": {"cpusReserved": 1}}) + "\n")
    (task,) = read_traces([tmp_path / "omics"]).tasks
    assert task.realtime_s == realtime_s


@pytest.mark.parametrize("end", ("2026-10-25T02:10:00", "2026-10-25T03:10:00"))
def test_clocks_that_were_turned_back_leave_no_order(tmp_path: Path, end: str) -> None:
    """A run of 40 minutes."""
    begin = "2026-10-25T02:30:00"
    sacct = (
        "JobID|JobName|State|Submit|Start|End|Elapsed|AllocCPUS\n"
        f"1|a|COMPLETED|{begin}|{begin}|{end}|00:40:00|1\n"
    )
    nextflow = (
        "name\tstatus\tsubmit\tstart\tcomplete\trealtime\t%cpu\n"
        f"a (1)\tCOMPLETED\t{begin}\t{begin}\t{end}\t40m\t90%\n"
    ).replace("T0", " 0")
    for text in (sacct, nextflow):
        (tmp_path / "record").write_text(text)
        trace = read_traces([tmp_path / "record"])
        assert trace.tasks[0].realtime_s == 2400.0
        assert any("turned back" in line for line in trace.unknown) == (end < begin)


def test_a_sub_workflow_that_is_not_expanded_is_an_error(tmp_path: Path) -> None:
    text = cromwell(
        **{"w.sub": [{"shardIndex": -1, "subWorkflowId": "1", "executionStatus": "Done"}]}
    )
    with pytest.raises(InputError, match="not expanded") as caught:
        profile_from(tmp_path, text)
    assert "expandSubWorkflows=true" in caught.value.remedy


def test_rows_of_a_snakemake_benchmark_are_repetitions_unless_a_column_parts_them(
    tmp_path: Path,
) -> None:
    head = "s\th:m:s\tmax_rss\tio_in\tio_out\tmean_load\tcpu_time"
    rows = ("3600\t1:00:00\t1024\t-\t10\t200.0\t7200", "7200\t2:00:00\tNA\t-\t30\t200.0\t14400")
    (stage,) = profile_from(tmp_path, "\n".join((head, *rows, ""))).stages
    assert hours(stage) == 3.0
    assert (stage.tasks, stage.demands["hdfs_write"].value) == (1, 20.0)
    (tmp_path / "record-0").unlink()
    parted = "\n".join((f"{head}\tsample", f"{rows[0]}\ta", f"{rows[1]}\tb", ""))
    (stage,) = profile_from(tmp_path, parted).stages
    assert (hours(stage), stage.tasks) == (6.0, 2)


def test_a_folder_of_benchmarks_is_one_run_and_its_folders_are_rules(tmp_path: Path) -> None:
    for name in ("align/a.tsv", "align/b.tsv", "sort/a.tsv"):
        path = tmp_path / "benchmarks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("s\th:m:s\tmax_rss\tcpu_time\n3600\t1:00:00\t1024\t3600\n")
    profile = profile_of(read_traces([tmp_path / "benchmarks"]), 1, "x", "t")
    assert [(stage.name, stage.tasks) for stage in profile.stages] == [("align", 2), ("sort", 1)]


def test_a_stage_without_counters_takes_the_time_that_it_reserved(tmp_path: Path) -> None:
    """So that a trace without %cpu never buys less than one with it."""
    head, row = "name\tstatus\trealtime\t%cpu\tcpus\n", "A (1)\tCOMPLETED\t1h\t{}\t4\n"
    (known,) = profile_from(tmp_path, head + row.format("100.0%")).stages
    (unknown,) = profile_from(tmp_path, head + row.format("-")).stages
    assert known.core_hours is not None and known.cpu_efficiency is not None
    assert hours(unknown) == pytest.approx(known.core_hours.value / known.cpu_efficiency.value)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("deep", '{"submittedFiles": {}, "calls": ' + "[" * 100_000, "nested too deeply"),
        ("cut", '{"submittedFiles": {}, "calls": {', "not valid JSON"),
        ("nan", '{"submittedFiles": {}, "calls": {"a": NaN}}', "NaN is not a number"),
        ("empty", '{"submittedFiles": {}, "calls": {}}', "no task"),
        (
            "inner calls",
            cromwell(a=[{"shardIndex": -1, "subWorkflowMetadata": {"calls": []}}]),
            "not a mapping",
        ),
        ("no calls", '{"submittedFiles": {}}', "has no calls"),
        ("picture", "\x89PNG\r\n", "not a record"),
        ("nothing", "", "not the record of a supported workflow"),
    ],
)
def test_hostile_and_foreign_files_are_one_error(
    tmp_path: Path, name: str, text: str, what: str
) -> None:
    data = text.encode("latin-1") if name == "picture" else text.encode()
    with pytest.raises(InputError, match=what) as caught:
        profile_from(tmp_path, data)
    assert caught.value.remedy


def test_a_file_that_expands_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MOST_DOCUMENT", 2**20)
    monkeypatch.setattr(source, "MOST_BYTES", 2**20)
    head = b"name\tstatus\trealtime\t%cpu\n"
    event = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}\n'
    for data in (head + b"x" * 2**21, event * 2**16):
        with pytest.raises(InputError, match=r"more than 1 MiB|too large"):
            profile_from(tmp_path, gzip.compress(data))


def test_long_cells_take_no_longer_than_their_length(tmp_path: Path) -> None:
    """Patterns that try every pair of places would take hours for a cell of a MiB."""
    size, head = 2**18, "name\tstatus\trealtime\t%cpu\n"
    long_name = f"a{' ' * size}(x\tCOMPLETED\t1h\t100%\n"
    long_time = f"a\tCOMPLETED\t{'1.' * size}x\t100%\n"
    task = {"arn": "arn:aws:omics:us-east-1:1:task/1", "name": f"a{' ' * size}(x",
            "status": "COMPLETED", "metrics": {"runningSeconds": 3600}}  # fmt: skip
    job = f"1|nf-{'_(' * size}|COMPLETED|01:00:00|1|1|1||1G|||\n"
    begun = process_time()
    for text in (head + long_name, head + long_time):
        with pytest.raises(InputError, match="cannot be parsed"):
            profile_from(tmp_path, text)
    for text in (json.dumps(task), SACCT + job):
        with pytest.raises(InputError, match="a name of more than"):
            profile_from(tmp_path, text)
    assert process_time() - begun < 10


def test_more_lines_than_the_limit_are_refused_before_they_are_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MOST_LINES", 100)
    event = b'{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{}}\n'
    with pytest.raises(InputError, match="too large"):
        profile_from(tmp_path, gzip.compress(event * 101))


def test_a_pipe_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    for name, what in (("pipe", "not a regular file"), ("missing", "cannot be read")):
        with pytest.raises(InputError, match=what):
            read_traces([tmp_path / name])


def test_python_and_json_notations_of_resources_are_equal(tmp_path: Path) -> None:
    text = (WILD / "n09-snakemake-extended.tsv").read_text()
    first = profile_from(tmp_path, text)
    for cell in [cell for cell in text.split("\t") if cell.startswith("{")]:
        text = text.replace(cell.strip(), json.dumps(ast.literal_eval(cell.strip())))
    assert profile_from(tmp_path, text) == first
