"""`study init` and `study example`: write a study for this machine, for other hosts, or a shipped one."""

from __future__ import annotations

import re
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import Json, examples
from density_study.dags.cli.console import out, print_json

EXAMPLES = examples(
    "study init",
    "study init first.yaml --provider local --densities 1,2 --memory-gib 6 --repetitions 1",
    "study init pair.yaml --provider physical --addresses 192.0.2.10,192.0.2.11 --user study --densities 1,2 "
    "--memory-gib 6 --repetitions 5",
)
SHIPPED_EXAMPLES = examples(
    "study example", "study example quickstart mine.yaml", "study example catalog.yaml"
)
TEMPLATE = Path(__file__).with_name("study.yaml.j2")
MEMORY_SHARE = 0.5  # of this machine's memory: as `memory: auto`
QUESTIONS = {
    "local": "Do several workers on this host do more than one, at the same total memory?",
    "physical": "Does a second RegionServer per host increase throughput?",
    "libvirt": "How many VMs per host use its CPUs best, at the same total memory?",
    "container": "How many containers use this host's CPUs best, at the same total memory?",
}


class Provider(StrEnum):
    local = "local"
    physical = "physical"
    libvirt = "libvirt"
    container = "container"


ON_THIS_MACHINE = (Provider.local, Provider.container)


def init(
    output: Annotated[Path, typer.Argument(metavar="YAML", help="The file to write.")] = Path(
        "study.yaml"
    ),
    provider: Annotated[
        Provider,
        typer.Option(
            prompt="Where do clusters run? local or container: this machine; physical: hosts over SSH; "
            "libvirt: VMs",
            help="What makes the nodes: processes or containers here, hosts over SSH, or VMs on such hosts.",
        ),
    ] = Provider.local,
    hosts: Annotated[
        str,
        typer.Option(
            "--addresses",
            metavar="ADDRESS,...",
            help="Addresses of the hosts. Not for this machine.",
        ),
    ] = "",
    user: Annotated[
        str,
        typer.Option("--user", metavar="NAME", help="SSH user on the hosts. Not for this machine."),
    ] = "",
    densities: Annotated[
        str,
        typer.Option(
            prompt="Workers per host to compare",
            metavar="N,...",
            help="VMs (for physical: RegionServers) per host to compare.",
        ),
    ] = "1,2",
    memory_gib: Annotated[
        int,
        typer.Option(
            prompt="Memory that the study may use of each host, in GiB (0: half of this machine's)",
            min=0,
            help="Memory of each host that the study may use; 0 is half of this machine's.",
        ),
    ] = 0,
    repetitions: Annotated[
        int,
        typer.Option(
            prompt="How often to build each cluster (1: a first look; 5: intervals and claims)",
            min=1,
            help="How often each cluster is built.",
        ),
    ] = 1,
) -> None:
    """Write a commented study for this machine or for your hosts. Asks for missing options.

    An existing file is not overwritten.
    """
    from density_study.cluster.state.atomic import create_text
    from density_study.workloads.planning.planned_study import plan_study

    if output.exists():
        raise InputError("the file exists.", str(output), "name another file, or remove this one.")
    if not str(output).isprintable():  # the study's comments name it
        raise InputError("the name has control characters.", str(output), "name another file.")
    addresses = _addresses(provider, hosts)
    if provider not in ON_THIS_MACHINE:
        user = user or typer.prompt("SSH user on the hosts", default="study")
        if not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", user):
            raise InputError(f"{user[:80]!r} is no name of a user.", "--user", "name who logs in.")
    text = _text(output, provider, addresses, user, _densities(densities), memory_gib, repetitions)
    create_text(output, text)
    out.print(f"study    {output}", markup=False, soft_wrap=True)
    if provider in ON_THIS_MACHINE:
        planned = plan_study(output).plan
        minutes = round(planned.estimate_s / 60)
        out.print(
            f"plan     {len(planned.builds)} builds, {len(planned.trials)} trials, about {minutes} min"
        )
    out.print(
        f"next     study doctor {output}, then study run {output}", markup=False, soft_wrap=True
    )


def _addresses(provider: Provider, hosts: str) -> list[str]:
    if provider in ON_THIS_MACHINE:
        return []
    given = hosts or typer.prompt("Addresses of the hosts, separated by commas")
    found = [address.strip() for address in given.split(",")]
    form = r"\d+\.\d+\.\d+\.\d+" if provider is Provider.libvirt else r"[A-Za-z0-9][A-Za-z0-9.:-]*"
    for address in found:
        if not re.fullmatch(form, address, re.ASCII):
            raise InputError(
                f"{address!r} is no address.", "--addresses", "write it like this: 192.0.2.10."
            )
    return found


def _densities(text: str) -> list[int]:
    try:
        found = sorted({int(one) for one in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise InputError(
            f"{text!r} is no list of densities.", "--densities", "write it like this: 1,2,4."
        )
    return found


def _text(
    output: Path,
    provider: Provider,
    addresses: list[str],
    user: str,
    densities: list[int],
    memory_gib: int,
    repetitions: int,
) -> str:
    import jinja2

    from density_study.cluster.machine.describe import describe_machine
    from density_study.workloads.study.schema import schema_file

    here = describe_machine()
    first = "master, worker, client" if len(addresses) == 1 else "master, client"
    roles = [first, *["worker"] * (len(addresses) - 1)]
    template = jinja2.Template(
        TEMPLATE.read_text("utf-8"), keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    text: str = template.render(
        schema=schema_file(),
        file=output,
        name=re.sub(r"[^a-z0-9]+", "-", output.stem.lower()).strip("-") or "study",
        question=QUESTIONS[provider],
        provider=provider.value,
        subnet=f"{addresses[0].rpartition('.')[0]}." if addresses else "",
        user=user,
        hosts=[
            {"name": f"host{number}", "address": address, "roles": of}
            for number, (address, of) in enumerate(zip(addresses, roles, strict=False), 1)
        ],
        cores=here["cores"],
        memory_gib=memory_gib or max(1, int(here["memory_mib"] * MEMORY_SHARE) // 1024),
        densities=densities,
        repetitions=repetitions,
    )
    return text


def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Default: list the names.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The file to write. Default: its name, here."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a shipped study, or an example file of study capacity, to change it. An existing file stays."""
    from density_study.cluster.state.atomic import create_text
    from density_study.workloads.study.schema import schema_file

    known = _known()
    if name is None:
        _listed(known, as_json)
        return
    if name not in known:
        similar = get_close_matches(name, known, n=1)
        remedy = f"did you mean {similar[0]}?" if similar else "`study example` lists the names."
        raise InputError("there is no shipped example with this name.", name[:200], remedy)
    written = file or Path(known[name].name)
    if written.exists():
        raise InputError("the file exists.", str(written), "name another file, or remove this one.")
    text = known[name].read_text(encoding="utf-8")
    create_text(written, re.sub(r"(?<=\$schema=)\S+", lambda _: str(schema_file()), text, count=1))
    if as_json:
        print_json({"file": written})
    else:
        out.print(f"written  {written}", markup=False, soft_wrap=True)


def _known() -> dict[str, Path]:
    from density_study.analysis.capacity.inputs import example as capacity
    from density_study.workloads.study.shipped import shipped_studies

    files = sorted(Path(capacity.__file__).with_name("examples").iterdir())
    return shipped_studies() | {path.name: path for path in files}


def _listed(known: dict[str, Path], as_json: bool) -> None:
    if as_json:
        print_json(list(known))
    else:
        out.print("\n".join(known), markup=False, highlight=False)
