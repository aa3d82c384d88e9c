"""`study stack`: the versions of Hadoop and HBase that studies can name. Thin, like dags/cli/main.py."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import HADOOP, HBASE, Versions, check_vendor, vendor_fault
from density_study.dags.cli.arguments import Json, examples, option
from density_study.dags.cli.console import err, out, print_json, print_json_text

if TYPE_CHECKING:
    from density_study.workloads.study.factors.stack import StackLevel


class Software(StrEnum):
    hadoop = "hadoop"
    hbase = "hbase"
    zookeeper = "zookeeper"
    native = "native"
    jars = "jars"


app = typer.Typer(
    name="stack",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""List the versions of Hadoop and HBase that studies can name, or add others, also your own.""",
    epilog=examples("study stack list", "study stack add hadoop 3.4.0"),
)


@app.command(
    epilog=examples(
        "study stack add hadoop 3.4.0",
        "study stack add hbase 2.6.1 --hadoop 3.3.6",
        "study stack add zookeeper 3.9.4",
        "study stack add native hadoop-3.4.2.tar.gz",
        "study stack add hadoop hadoop-3.4.2.tar.gz",
        "study stack add jars phoenix-server.jar --property hbase.regionserver.wal.codec=CLASS",
    )
)
def add(
    software: Annotated[
        Software,
        typer.Argument(
            metavar="SOFTWARE", help="`hadoop`, `hbase`, `zookeeper`, `native` or `jars`."
        ),
    ],
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="VERSION|FILE...",
            help="Version on Maven Central; or a tarball or folder of Hadoop, or jars.",
        ),
    ],
    hadoop: Annotated[
        str, option("--hadoop", "VERSION", "Hadoop that this HBase runs on.")
    ] = HADOOP,
    hbase: Annotated[str, option("--hbase", "VERSION", "HBase that runs on this Hadoop.")] = HBASE,
    properties: Annotated[
        list[str] | None,
        option("--property", "NAME=VALUE", "A property of hbase-site.xml that the jars need."),
    ] = None,
) -> None:
    """Download a version and lock its jars by SHA-256. A study can then name it.

    HBase brings Hadoop's client libraries, so each pair of versions has jars of its own. Every later
    download must have the hashes of this one.

    `hadoop` with a file takes your own Hadoop, and `native` only its native libraries, which Maven Central
    does not have. `jars` follow those of HBase's servers on the classpath: coprocessors, Phoenix. A study
    names them by a hash of their content. They run on every node: add only what you trust. A vendor's Hadoop
    is only the client of an existing cluster.
    """
    is_path = software is Software.hadoop and (
        what[0].endswith(".gz") or "/" in what[0] or Path(what[0]).exists()
    )
    if is_path or software in (Software.native, Software.jars):
        _bring(software, what, properties or [])
        return
    version = _only(software, what, properties, "version")
    from density_study.cluster.stack import ensure_all
    from density_study.cluster.stack.adding import add
    from density_study.cluster.stack.recipes import stacks_of

    check_vendor(version, f"version of {software.value}")
    given = {"hadoop": hadoop, "hbase": hbase, software.value: version}
    level = _checked(given)
    versions = level.over(Versions())
    for recipe in add(versions):
        out.print(f"known  {recipe.title}: {recipe.lock}")
    for stack in ensure_all(stacks_of(versions), versions):
        out.print(f"ready  {stack.name} {stack.version}: {stack.home}")
    named = ", ".join(f"{name}: {getattr(versions, name)}" for name in stacks_of(versions))
    out.print(f"write in a study: stack: {{{named}}}")


def _only(software: Software, what: list[str], properties: list[str] | None, noun: str) -> str:
    """The one version, tarball or folder. InputError if there are more, or properties."""
    if properties or len(what) > 1:
        raise InputError(
            f"{software.value} takes one {noun}.",
            "study stack add",
            "only `jars` takes several files and --property.",
        )
    return what[0]


def _bring(software: Software, what: list[str], properties: list[str]) -> None:
    from density_study.cluster.stack.brought import bring as brought

    if software is Software.jars:
        versions = brought.bring_jars(list(map(Path, what)), _properties(properties))
    else:
        path = Path(_only(software, what, properties, "tarball or folder"))
        of_hadoop = software is Software.hadoop
        versions = brought.bring_hadoop(path, _note) if of_hadoop else brought.bring_native(path)
    given = {one: getattr(versions, one) for one in ("tarball", "native", "jars")}
    of_vendor = vendor_fault(versions.hadoop)
    hadoop = {"hadoop": versions.hadoop} if versions.tarball and not of_vendor else {}
    words = ", ".join(f"{k}: {v}" for k, v in {**hadoop, **given}.items() if v)
    out.print(f"write in a study: {'existing' if of_vendor else 'stack'}: {{{words}}}")


def _note(text: str) -> None:
    err.print(f"note: {text}")


def _properties(given: list[str]) -> dict[str, str]:
    """InputError for a text that is not a property, or one that this project sets."""
    from density_study.cluster.render.conf_files import fixed_properties

    pairs = [(name, value) for name, mark, value in (one.partition("=") for one in given) if mark]
    for name, value in pairs:
        ours = name in fixed_properties()
        if ours or not re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", name) or not value.isprintable():
            why = "this project sets it" if ours else "this is not a property"
            raise InputError(f"{name}={value}: {why}.", "--property", "write hbase.NAME=VALUE.")
    if len(dict(pairs)) != len(given):
        raise InputError("a property has no value, or two.", "--property", "write NAME=VALUE once.")
    return dict(pairs)


@app.command(
    epilog=examples("study stack sbom hbase -o hbase.cdx.json", "study stack sbom package")
)
def sbom(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A stack of the default versions (`hadoop`, `hbase`, `ycsb`, or one of a store), or "
            "`package`: the Python packages of this project.",
        ),
    ],
    output: Annotated[
        Path | None, option("-o --output", "FILE", "Write it there, not to the terminal.")
    ] = None,
) -> None:
    """Print a software bill of materials (CycloneDX): every jar or package with version, hash and licence.

    A stack that is not in the cache is fetched first. `package` needs a checkout, whose uv.lock it reads.
    """
    from density_study.cluster.stack import ensure
    from density_study.cluster.stack import sbom as bills
    from density_study.cluster.state.atomic import write_text

    text = bills.of_package() if name == "package" else bills.of_stack(ensure(name))
    if output is None:
        print_json_text(text)
    else:
        write_text(output, text)


@app.command(epilog=examples("study stack prune --dry-run"))
def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list; remove nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Remove cached versions that neither this program nor any process uses."""
    from density_study.cluster.stack.prune import in_use, other_trees, remove, size_mib
    from density_study.dags.cli.layout import rows_table

    rows = []
    for home in other_trees():
        mib = round(size_mib(home))
        unused = not in_use(home) if dry_run else remove(home)
        rows.append((("unused" if dry_run else "removed") if unused else "in use", mib, str(home)))
    if as_json:
        keys = ("state", "mib", "folder")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
    elif rows:
        cells = [(state, f"{mib:,}", home) for state, mib, home in rows]
        out.print(rows_table(("state", "MiB", "folder"), cells))
    else:
        out.print("the cache has only versions that this program uses.")


@app.command(name="list", epilog=examples("study stack list"))
def list_versions(as_json: Json = False) -> None:
    """List the versions that studies can name: pairs of Hadoop and HBase, and the JDKs of this machine."""
    from density_study.cluster.stack import stack_home
    from density_study.cluster.stack.java import installed_features
    from density_study.cluster.stack.recipes import locked_versions, recipe_of
    from density_study.dags.cli.layout import rows_table

    rows = []
    for versions in locked_versions():
        shipped = recipe_of("hbase", versions).shipped_lock.exists()
        cached = all(stack_home(name, versions).is_dir() for name in ("hadoop", "hbase"))
        rows.append(
            (
                versions.hadoop,
                versions.hbase,
                "shipped" if shipped else "added here",
                "yes" if cached else "no",
            )
        )
    features = installed_features()
    if as_json:
        keys = ("hadoop", "hbase", "lock", "cached")
        print_json(
            {"stacks": [dict(zip(keys, row, strict=True)) for row in rows], "java": features}
        )
        return
    out.print(rows_table(("hadoop", "hbase", "lock", "in the cache"), rows))
    out.print(f"\njava on this machine: {', '.join(map(str, features)) or 'none'}")


def _checked(given: dict[str, str]) -> StackLevel:
    """InputError for a text that is not a version."""
    from pydantic import ValidationError

    from density_study.workloads.base.checked import sentence
    from density_study.workloads.study.factors.stack import StackLevel

    try:
        return StackLevel.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise InputError(
            sentence(first, name),
            f"version of {name}",
            "write it as on Maven Central, for example 3.4.1.",
        ) from error
