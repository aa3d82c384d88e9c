"""Texts of dool's CSV: a banner with its first sample, samples to follow it, and real files."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples"
HEAD = """\
"dool 1.3.8 CSV output"
"Author:","Scott Baker",,,,"URL:","https://github.com/scottchiefbaker/dool/"
"Host:","vm",,,,"User:","root"
"Cmdline:","dool -T --cpu --disk --net --bytes --output d.csv 1",,,,"Date:","20 Nov 2026 17:44:42 UTC"
"epoch","total cpu usage",,,,,"dsk/total",,"net/total",
"epoch","usr","sys","idl","wai","stl","read","writ","recv","send"
1795196682.861,16,4,80,0,0,1,2,3,4
"""
SECOND = "1795196683.862,10,5,75,6,4,4096,8192,100,200\n"
THIRD = "1795196684.862,1,1,98,0,0,0,0,0,0\n"


def read(name: str) -> bytes:
    return (SAMPLES / f"{name}.csv").read_bytes()
