"""Known output of a YCSB client that contains no results."""

from __future__ import annotations

import re

STATUS_HEAD = re.compile(
    r"(?P<label>.*?)(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{3}) "
    r"(?P<elapsed>[^ ]+) sec: (?P<operations>[^ ]+) operations; (?P<rest>.*)"
)
SUMMARY = re.compile(r"\[([^\[\]]+)\], (.+), (\S*)")
RAW = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]*),(?P<time>[0-9]+),(?P<latency>[0-9]+)")

_CLIENT = re.compile(
    r"Command line:.*|YCSB Client .*|Loading workload\.\.\.|Starting test\.|DBWrapper: .*"
    r"|Warning: the threadcount is bigger than recordcount.*| \(might take a few minutes.*"
    r"|Raw data measurement: will output to .*"
    r"|Maximum execution time specified as: [0-9]+ secs"
    r"|Maximum time elapsed\. Requesting stop for the workload\."
    r"|hbase-client: .*"  # the project's binding reports each kind of failure once
    r"|Stop requested for workload\. Now Joining!|Still waiting for thread .* to complete.*"
    r"|[A-Za-z_-]+ latency raw data: op, timestamp\(ms\), latency\(us\)"
)
_LOGGING = re.compile(
    r"(SLF4J|log4j|WARNING|OpenJDK .* warning): .*"
    r"|([0-9]{2,4}[-/][0-9]{2}[-/][0-9]{2}[ T][0-9:.,]+)? *(\[[^\]]*\] *)?"
    r"(TRACE|DEBUG|INFO|WARN|ERROR|FATAL) .*"
    r"|\s+at [\w.$/<>@]+\(.*\).*|\s+\.\.\. [0-9]+ (more|common frames omitted)|Caused by: .*"
)


def is_chatter(text: str) -> bool:
    """Whether the line is blank, a banner, a log line or part of a stack trace."""
    return not text.strip() or bool(_CLIENT.fullmatch(text) or _LOGGING.fullmatch(text))
