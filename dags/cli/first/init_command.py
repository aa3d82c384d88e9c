"""`study init`: write a study for this machine or for other hosts."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import USER
from density_study.cluster.model.plain import counted
from density_study.dags.cli.arguments import Budget, examples, option
from density_study.dags.cli.console import out

EXAMPLES = examples(
    "study init",
    "study init first.yaml --provider local --densities 1,2 --memory-gib 6 --repetitions 1",
    "study init pair.yaml --provider physical --addresses 192.0.2.10,192.0.2.11,192.0.2.12 --user study "
    "--densities 1,2 --cores 64 --memory-gib 250 --disks /data/f1,/data/f2 --budget '48 h'",
)
TEMPLATE = Path(__file__).with_name("study.yaml.j2")
MOST_ADDRESSES = 248
"""For VMs in the template: 192.0.2.2 to 192.0.2.249."""
MEMORY_SHARE = 0.5  # of this machine's memory: as `memory: auto`
QUESTIONS = {
    "local": "Do several workers on this host do more than one, at the same total memory?",
    "physical": "Does a second RegionServer per host increase throughput?",
    "libvirt": "How many VMs per host use its CPUs best, at the same total memory?",
    "container": "How many containers use this host's CPUs best, at the same total memory?",
}


class Provider(StrEnum):
    local = "local"
    container = "container"
    physical = "physical"
    libvirt = "libvirt"


ON_THIS_MACHINE = (Provider.local, Provider.container)


def _new_file(output: Path) -> Path:
    if output.exists():
        raise InputError("the file exists.", str(output), "name another file, or remove this one.")
    if not str(output).isprintable():  # the study's comments name it
        raise InputError("the name has control characters.", str(output), "name another file.")
    return output


def init(
    output: Annotated[
        Path,
        typer.Argument(
            metavar="YAML", help="The file to write.", callback=_new_file, is_eager=True
        ),
    ] = Path("study.yaml"),
    provider: Annotated[
        Provider,
        typer.Option(
            prompt="Where do clusters run? local or container: this machine; physical: hosts over SSH; "
            "libvirt: VMs",
            metavar="PROVIDER",
            help="What makes the nodes: local, processes on this machine; container, containers on it; "
            "physical, hosts over SSH; libvirt, VMs on such hosts.",
        ),
    ] = Provider.local,
    densities: Annotated[
        str,
        typer.Option(
            prompt="Workers per host to compare",
            metavar="N,...",
            help="VMs (for physical: RegionServers) per host to compare.",
        ),
    ] = "1,2",
    hosts: Annotated[
        str, option("--addresses", "ADDRESS,...", "Addresses of the hosts over SSH.")
    ] = "",
    user: Annotated[str, option("--user", "NAME", "SSH user on the hosts.")] = "",
    cores: Annotated[
        int, typer.Option(min=0, metavar="N", help="Cores of each host over SSH.")
    ] = 0,
    memory_gib: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Memory of each host that the study may use; 0 is half of this machine's.",
        ),
    ] = None,
    disks: Annotated[
        str,
        typer.Option(
            metavar="PATH,...",
            help="Folders on the disks of each host over SSH, one for each; written as flash.",
        ),
    ] = "",
    repetitions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How often each cluster is built.")
    ] = None,
    budget: Budget = None,
) -> None:
    """Write a commented study for this machine or for your hosts. Asks for missing options.

    For hosts over SSH, the data sets follow their memory, and the study gets a time budget, not a number of
    repetitions. An existing file is not overwritten.
    """
    from density_study.cluster.state.atomic import create_text
    from density_study.workloads.planning.planned_study import plan_study
    from density_study.workloads.study.study_file import parse_study

    numbers = _densities(densities)
    if provider in ON_THIS_MACHINE:
        facts = _here(memory_gib)
        repetitions = repetitions or typer.prompt(
            "How often to build each cluster (1: a first look; 5: intervals and claims)",
            1,
            type=int,
        )
    else:
        facts = _over_ssh(provider, hosts, user, cores, memory_gib, disks)
        if repetitions is None and budget is None:
            budget = 3600.0 * typer.prompt("Hours that the study may take", 48, type=int)
    _check_addresses(provider, len(facts["addresses"]), numbers[-1])
    text = _text(output, provider, numbers, facts, repetitions, budget)
    parse_study(text, f"{output}, not written")
    create_text(output, text)
    out.print(f"study    {output}")
    if provider in ON_THIS_MACHINE:
        planned = plan_study(output).plan
        minutes = round(planned.estimate_s / 60)
        out.print(
            f"plan     {counted(len(planned.builds), 'build')}, {counted(len(planned.trials), 'trial')}, "
            f"about {minutes} min"
        )
    out.print(
        f"next     study doctor {quote(str(output))}\nthen     study run {quote(str(output))}"
    )


def _here(memory_gib: int | None) -> dict[str, Any]:
    from density_study.cluster.machine.describe import describe_machine

    if memory_gib is None:
        words = "Memory that the study may use, in GiB (0: half of this machine's)"
        memory_gib = typer.prompt(words, 0, type=int)
    half = int(describe_machine()["memory_mib"] * MEMORY_SHARE) // 1024
    return {"addresses": [], "memory_gib": memory_gib or max(1, half)}


def _over_ssh(
    provider: Provider, hosts: str, user: str, cores: int, memory_gib: int | None, disks: str
) -> dict[str, Any]:
    addresses = _addresses(
        provider, hosts or typer.prompt("Addresses of the hosts, separated by commas")
    )
    user = user or typer.prompt("SSH user on the hosts", default="study")
    if not re.fullmatch(USER, user):
        raise InputError(f"{user[:80]!r} is not the name of a user.", "--user", "name who logs in.")
    return {
        "addresses": addresses,
        "user": user,
        "cores": cores or typer.prompt("Cores of each host", type=int),
        "memory_gib": memory_gib or typer.prompt("Memory of each host, in GiB", type=int),
        "disks": _paths(disks or typer.prompt("Folders on its disks, separated by commas")),
    }


def _addresses(provider: Provider, hosts: str) -> list[str]:
    found = [address.strip() for address in hosts.split(",")]
    form = r"\d+\.\d+\.\d+\.\d+" if provider is Provider.libvirt else r"[A-Za-z0-9][A-Za-z0-9.:-]*"
    for address in found:
        if not re.fullmatch(form, address, re.ASCII):
            raise InputError(
                f"{address!r} is not an address.", "--addresses", "write it like this: 192.0.2.10."
            )
    return found


def _check_addresses(provider: Provider, hosts: int, density: int) -> None:
    """InputError if VMs need more addresses than the template has for them."""
    needed = max(1, hosts - 1) * density + 1
    if provider is Provider.libvirt and needed > MOST_ADDRESSES:
        raise InputError(
            f"{needed} VMs need as many addresses, and a /24 network has {MOST_ADDRESSES} for them.",
            "--densities, --addresses",
            "name fewer hosts or fewer VMs per host. More of them need a larger network, which is written "
            "into the study by hand (vms.network, vms.addresses).",
        )


def _paths(text: str) -> list[str]:
    found = [path.strip() for path in text.split(",")]
    for path in found:
        if not re.fullmatch(r"/[A-Za-z0-9._/-]+", path, re.ASCII):
            raise InputError(
                f"{path!r} is not a folder.", "--disks", "write it like this: /data/f1,/data/f2."
            )
    return found


def _densities(text: str) -> list[int]:
    try:
        found = sorted({int(one) for one in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise InputError(
            f"{text!r} is not a list of densities.", "--densities", "write it like this: 1,2,4."
        )
    return found


def _text(
    output: Path,
    provider: Provider,
    densities: list[int],
    facts: dict[str, Any],
    repetitions: int | None,
    budget_s: float | None,
) -> str:
    import jinja2

    from density_study.workloads.base.quantity import duration
    from density_study.workloads.study.schema import schema_file

    addresses: list[str] = facts["addresses"]
    alone = len(addresses) == 1
    roles = [
        "master, worker, client" if alone else "master, client",
        *["worker"] * (len(addresses) - 1),
    ]
    template = jinja2.Template(
        TEMPLATE.read_text("utf-8"), keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    text: str = template.render(
        facts,
        schema=schema_file(),
        file=quote(str(output)),
        name=re.sub(r"[^a-z0-9]+", "-", output.stem.lower()).strip("-") or "study",
        question=QUESTIONS[provider],
        provider=provider.value,
        subnet=f"{addresses[0].rpartition('.')[0]}." if addresses else "",
        hosts=[
            {"name": f"host{number}", "address": address, "roles": of}
            for number, (address, of) in enumerate(zip(addresses, roles, strict=False), 1)
        ],
        workers=max(1, len(addresses) - 1),
        densities=densities,
        repetitions=repetitions,
        budget=None if budget_s is None else duration(budget_s),
    )
    return text
