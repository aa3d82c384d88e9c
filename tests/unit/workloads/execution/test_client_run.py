"""The lines of a client's error output that a failed trial reports."""

from __future__ import annotations

from density_study.workloads.base.client_run import TAIL_LINES, informative

WHY = "INFO mapred.ClientServiceDelegate: Application state is completed. FinalApplicationStatus=FAILED."
TRY = "INFO ipc.Client: Retrying connect to server: localhost/127.0.0.1:1. Already tried {} time(s)"


def test_the_cause_is_shown_without_stack_frames_and_connection_retries() -> None:
    thrown = "java.io.IOException: java.net.ConnectException: Connection refused"
    tries = [TRY.format(number) for number in range(25)]
    lines = [WHY, *tries, thrown, "\tat org.apache.hadoop.ipc.Client.call(Client.java:1)"]
    assert informative(lines)[-TAIL_LINES:] == [WHY, thrown]
