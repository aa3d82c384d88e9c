"""`study sudo-rules`: what hosts need of root. Thin, like dags/cli/main.py."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from density_study.dags.cli.arguments import examples, option
from density_study.dags.cli.console import print_text

EXAMPLES = examples(
    "study sudo-rules --user study > sudo-rules.sh",
    "study sudo-rules --user study --cut --network > sudo-rules.sh",
)


def sudo_rules(
    user: Annotated[str, option("--user", "NAME", "Who logs in. Default: your own name.")] = "",
    cut: Annotated[
        bool, typer.Option("--cut", help="Also for the fault `cut`: drop packets of other hosts.")
    ] = False,
    network: Annotated[
        bool, typer.Option("--network", help="Also for the factor `network`: change interfaces.")
    ] = False,
    quiet_host: Annotated[
        bool, typer.Option("--quiet-host", help="Also for `quiet: yes`: settings of the kernel.")
    ] = False,
) -> None:
    """Print a shell script that lets a user of a host do there what a study needs root for.

    Read it, then run it as root on each host: `ssh root@HOST sh < sudo-rules.sh`. It installs small
    programs to `/usr/local/lib/density-study` and a rule for each to `/etc/sudoers.d/density-study`.
    Each run replaces the rules of the run before.
    """
    from density_study.cluster.providers.ssh.sudo_rules import CUTS, NETWORKS, QUIET, UNITS, script

    chosen = {CUTS: cut, NETWORKS: network, QUIET: quiet_host}
    programs = (UNITS, *(program for program, wanted in chosen.items() if wanted))
    print_text(script(user or getpass.getuser(), programs))
