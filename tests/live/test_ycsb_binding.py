"""The YCSB binding and TableTool against a real HBase: a standalone HMaster on loopback, files only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from tests.live.support.standalone import (
    CREATE,
    RECORDS,
    REGIONS,
    StandaloneHBase,
    hbase,
    loaded,
    ycsb_words,
)

__all__ = ["hbase", "loaded"]  # fixtures

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


def test_presplit_load_is_even_settles_and_is_restored(loaded: StandaloneHBase) -> None:
    before = loaded.tool("state --table usertable + count --table usertable")
    assert before["count"]["rows"] == RECORDS
    regions = before["state"]["regions"]
    assert len(regions) == REGIONS
    writes = [region["write_requests"] for region in regions]
    assert sum(writes) >= RECORDS
    assert max(writes) < 1.3 * min(writes), writes

    settled = loaded.tool(
        "flush-compact-settle --table usertable + state --table usertable"
        " + snapshot full --table usertable"
    )
    assert settled["flush-compact-settle"]["store_files"] == REGIONS
    assert {region["memstore_mib"] for region in settled["state"]["regions"]} == {0}
    assert settled["state"]["compacting_regions"] == 0
    assert sum(server["regions"] for server in settled["state"]["servers"]) == REGIONS

    emptied = loaded.tool(
        f"drop --table usertable + {CREATE} + count --table usertable + state --table usertable"
    )
    assert emptied["count"]["rows"] == 0
    starts = [region["start_key"] for region in emptied["state"]["regions"]]
    assert starts == [region["start_key"] for region in regions]

    restored = loaded.tool("restore full --table usertable + count --table usertable")
    assert restored["count"]["rows"] == RECORDS


def test_a_run_executes_its_properties_and_leaves_readable_histograms(
    loaded: StandaloneHBase, tmp_path: Path
) -> None:
    mix = {"readproportion": 0.5, "scanproportion": 0.4, "insertproportion": 0.1}
    mix["updateproportion"] = 0.0  # YCSB's preset is 0.05
    words = [word for name, share in mix.items() for word in ("-p", f"{name}={share}")]
    prefix = f"{tmp_path}/ycsb-1-"
    done = loaded.ycsb(
        *("-t", "-s", "-threads", "4", *words, "-p", f"recordcount={RECORDS}"),
        *("-p", "operationcount=3000", "-p", "maxscanlength=20", "-p", "status.interval=1"),
        *("-p", "measurementtype=hdrhistogram", "-p", "hdrhistogram.fileoutput=true"),
        *("-p", f"hdrhistogram.output.path={prefix}"),
    )
    counts = {
        operation: int(line.rsplit(" ", 1)[1])
        for operation in ("READ", "SCAN", "INSERT")
        for line in done.stdout.splitlines()
        if line.startswith(f"[{operation}], Return=OK, ")
    }
    assert sum(counts.values()) == 3000, done.stdout + done.stderr
    assert "hbase-client:" not in done.stderr
    recorded = {operation: _recorded(Path(f"{prefix}{operation}.hdr")) for operation in counts}
    assert recorded == counts


def test_every_operation_returns_its_exact_status(loaded: StandaloneHBase) -> None:
    responses = _shell(
        loaded,
        "read nosuch",
        "insert aaa1 field0=a field1=b",
        "insert aaa2 field0=c",
        "read aaa1",
        "update aaa1 field0=z",
        "read aaa1 field0",
        "scan aaa1 2",
        "delete aaa1",
        "delete aaa2",
        "read aaa1",
    )
    assert responses[0] == ["Return code: NOT_FOUND"]
    assert responses[1:3] == [["Result: OK"], ["Result: OK"]]
    assert responses[3] == ["Return code: OK", "field0=a", "field1=b"]
    assert responses[4:6] == [["Result: OK"], ["Return code: OK", "field0=z"]]
    values = [line for line in responses[6] if "=" in line]
    assert responses[6][0] == "Result: OK"
    assert values == ["field0=c", "field0=z", "field1=b"]
    assert responses[7:9] == [["Return result: OK"], ["Return result: OK"]]
    assert responses[9] == ["Return code: NOT_FOUND"]


@pytest.mark.parametrize("caching", [0, 100])
def test_a_scan_continues_across_regions(loaded: StandaloneHBase, caching: int) -> None:
    """From the first row through more than two of six regions; with one round trip per region, or
    many."""
    rows = RECORDS * 2 // 5
    assert _scanned(loaded, "user", rows, caching) == rows
    last = loaded.tool("state --table usertable")["state"]["regions"][-1]["start_key"]
    remaining = _scanned(loaded, last, RECORDS, caching)  # past the last row: no rows, no error
    assert 0.7 * RECORDS / REGIONS < remaining < 1.3 * RECORDS / REGIONS


def _scanned(hbase: StandaloneHBase, start: str, rows: int, caching: int) -> int:
    """Number of rows of a scan that must succeed. Values contain the shell's prompt: lines are
    counted."""
    done = hbase.client(
        "site.ycsb.CommandLine",
        *ycsb_words("-p", f"hbase.scan.caching={caching}"),
        stdin=f"scan {start} {rows} field0\nquit\n",
    )
    assert "Result: OK" in done.stdout, done.stdout[-2000:] + done.stderr
    return len(re.findall(r"^Record [0-9]+$", done.stdout, re.MULTILINE))


def test_a_vanished_table_is_reported_once(hbase: StandaloneHBase) -> None:
    hbase.tool("create --table gone --family f --regions 1")
    argv = hbase.client_argv("site.ycsb.CommandLine", *ycsb_words("-table", "gone"))
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdout is not None
        while "Connected." not in shell.stdout.readline():
            assert shell.poll() is None
        hbase.tool("drop --table gone")
        out, err = shell.communicate("read k\nread k\nscan k 5\ninsert k field0=a\nquit\n", 60)
    assert out.count("Return code: ERROR") == 2, out
    assert out.count("Result: ERROR") == 2, out
    assert err.count("hbase-client: first READ org.apache.hadoop.hbase.TableNotFound") == 1, err


def test_a_missing_family_stops_the_client_before_the_measurement(loaded: StandaloneHBase) -> None:
    done = loaded.ycsb("-t", "-p", "columnfamily=nosuch", "-p", "operationcount=10")
    assert "has no family nosuch" in done.stderr
    assert "Return=" not in done.stdout


def test_failures_are_reported_with_their_reason(hbase: StandaloneHBase) -> None:
    code, output = hbase.refused("ready --regionservers 2 --deadline-s 8")
    assert code == 1
    assert "1 of 2 RegionServers live" in output
    code, output = hbase.refused("state --table nosuch")
    assert code == 1
    assert "no server has a region of nosuch" in output


def _shell(hbase: StandaloneHBase, *commands: str) -> list[list[str]]:
    """The responses of YCSB's own shell to each command: sorted fields after the status line."""
    done = hbase.client(
        "site.ycsb.CommandLine", *ycsb_words(), stdin="\n".join([*commands, "quit", ""])
    )
    answers = done.stdout.partition("Connected.\n")[2].split("> ")[1:]
    assert len(answers) > len(commands), done.stdout + done.stderr
    return [_answer(text) for text in answers[: len(commands)]]


def _answer(text: str) -> list[str]:
    status, *fields = [line for line in text.splitlines() if line and not line.endswith(" ms")]
    return [status, *sorted(fields)]


def _recorded(log: Path) -> int:
    """Values in all intervals of an .hdr log."""
    total = HdrHistogram(1, 3_600_000_000, 3)
    reader = HistogramLogReader(str(log), total)
    while reader.add_next_interval_histogram(dest_histogram=total):
        pass
    return int(total.get_total_count())


def test_variants_are_loaded_read_back_and_refused_where_they_cannot_be_written(
    hbase: StandaloneHBase, tmp_path: Path
) -> None:
    rows = [(position, "0/1", "./.") for position in range(5, 30_000, 7)]
    header = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tb\ta\n"
    lines = (f"chr1\t{at}\t.\tA\tG\t9\t.\t.\tGT:DP\t{b}:3\t{a}\n" for at, b, a in rows)
    vcf, dump = tmp_path / "called.vcf", tmp_path / "stored.tsv"
    vcf.write_text(header + "".join(lines))
    named = "--table variants --family f"
    done = hbase.tool(
        f"create {named} --regions 2 --contig chr1,30000 + load-variants {named} --vcf {vcf}"
        f" + count --table variants + dump-variants {named} --samples a,b --output {dump}"
    )
    assert done["create"]["split_keys"] == ["chr1:0000015001"]
    counts = [done[verb]["rows"] for verb in ("load-variants", "count", "dump-variants")]
    assert counts == [len(rows)] * 3
    stored = dump.read_text().splitlines()
    assert stored == [f"chr1:{at:010d}:A:G\ta={a}\tb={b}" for at, b, a in rows]

    code, said = hbase.refused(f"load-variants --table variants --family none --vcf {vcf}")
    assert code == 1 and "NoSuchColumnFamily" in said, said
    vcf.write_text(header + "chr1\t7\t.\tA\tG\n")
    code, said = hbase.refused(f"load-variants {named} --vcf {vcf}")
    assert code == 1 and "VCF, line 3: not the fixed columns" in said, said
