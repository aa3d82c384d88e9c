"""A result of TestDFSIO as Hadoop 2 and 3 print it: ten files of 1 GiB, written."""

from __future__ import annotations

DFSIO = """\
----- TestDFSIO ----- : write
            Date & time: Thu May 20 10:11:12 UTC 2021
        Number of files: 10
 Total MBytes processed: 10240
      Throughput mb/sec: 20.35
 Average IO rate mb/sec: 21.02
  IO rate std deviation: 3.87
     Test exec time sec: 75.21
"""
