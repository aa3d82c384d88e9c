"""The class path of a stack, in the one order that every daemon, client and archive shares."""

from __future__ import annotations

from cluster.stack.stack import Stack


def classpath(stack: Stack) -> tuple[str, ...]:
    """Every jar by name (no wildcard), then the directory that holds webapps.

    Jars come first since a class-data-sharing archive may name no directory, and are listed one by
    one since it binds to their exact order. The caller appends the configuration directory last.
    As jars precede it, a file of the same name in a jar wins: jobclient's tests jar carries a
    log4j.properties, so name yours with -Dlog4j.configuration.
    """
    jars = sorted(str(jar) for jar in (stack.home / "lib").iterdir())
    return (*jars, str(stack.home))
