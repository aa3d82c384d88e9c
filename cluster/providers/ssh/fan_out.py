"""One act on every host at once, each in a thread: `on_all`, and `try_all` where hosts may be lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cluster.model.errors import HostLostError
from cluster.providers.ssh.target import Target

T = TypeVar("T")


def on_all(hosts: Mapping[str, Target], act: Callable[[str, Target], T]) -> dict[str, T]:
    """Each host's answer; the first error is raised when all have ended."""
    with ThreadPoolExecutor(max_workers=max(1, len(hosts))) as pool:
        begun = {host: pool.submit(act, host, target) for host, target in hosts.items()}
    return {host: answer.result() for host, answer in begun.items()}


def try_all(
    hosts: Mapping[str, Target], act: Callable[[str, Target], T]
) -> tuple[dict[str, T], list[str]]:
    """The same; hosts that do not answer are named instead."""

    def tried(host: str, target: Target) -> T | HostLostError:
        try:
            return act(host, target)
        except HostLostError as error:
            return error

    answers = on_all(hosts, tried)
    silent = [host for host, answer in answers.items() if isinstance(answer, HostLostError)]
    found = {h: a for h, a in answers.items() if not isinstance(a, HostLostError)}
    return found, silent
