"""Logging of daemons (a file each) and of clients (standard error)."""

from __future__ import annotations

DAEMON_LOG4J = """\
log4j.rootLogger=INFO,file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File=${study.log}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%d{ISO8601} %p [%t] %c{2}: %m%n
log4j.logger.http.requests=WARN
"""
CLIENT_LOG4J = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.zookeeper=WARN
"""


def log_flags(conf: str) -> tuple[str, ...]:
    """By full path: Hadoop's tests jar comes earlier on the class path, with a file of its own."""
    return (f"-Dlog4j.configuration=file:{conf}/log4j.properties",)
