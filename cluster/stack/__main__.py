"""`python -m density_study.cluster.stack`: fill the cache, write new locks, test what we build."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.versions import HADOOP, HBASE, VERSIONS, Versions
from density_study.cluster.stack.adding import delivered
from density_study.cluster.stack.archive import ensure_archives
from density_study.cluster.stack.java import find_java
from density_study.cluster.stack.lock import Lock
from density_study.cluster.stack.maven import WITH_TESTS
from density_study.cluster.stack.own_jar import test_jar
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import RECIPES, further_recipes, recipe_of
from density_study.cluster.stack.stack import ensure_all, java_for
from density_study.cluster.state import shell
from density_study.cluster.state.atomic import write_text

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Which = Annotated[str, typer.Argument(help=f"one of {', '.join(RECIPES)}, or all")]


@app.command(
    epilog="Examples: python -m density_study.cluster.stack ensure; "
    "python -m density_study.cluster.stack ensure hbase"
)
def ensure(which: Which = "all") -> None:
    """Assemble what the cache does not hold yet, verify it, and print where each stack is."""
    stacks = ensure_all([recipe.name for recipe in _chosen(which)])
    ensure_archives([stack for stack in stacks if stack.name in RECIPES], find_java())
    for stack in stacks:
        print(f"{stack.name} {stack.version} {stack.home}")


@app.command(
    epilog="Example, for a version to ship: python -m density_study.cluster.stack lock hadoop --hadoop 3.4.1"
)
def lock(
    which: Which = "all",
    hadoop: Annotated[str, typer.Option(help="Hadoop's version.")] = HADOOP,
    hbase: Annotated[str, typer.Option(help="HBase's version.")] = HBASE,
) -> None:
    """Write the shipped locks anew from what Maven delivers today. Review the difference."""
    for recipe in _chosen(which, Versions(hadoop, hbase, client=hbase)):
        locked = delivered(recipe)
        written = {recipe.shipped_lock: locked}
        if recipe.built:
            jars = delivered(recipe, WITH_TESTS).jars.items()
            written[recipe.tests_lock] = Lock(dict(jars - locked.jars.items()))
        for path, found in written.items():
            write_text(path, found.text())
            print(f"{path}: {len(found.jars)} jars")


@app.command(epilog="Example: python -m density_study.cluster.stack test")
def test() -> None:
    """Compile, lint and unit-test the Java that we build ourselves, outside the source tree."""
    for recipe in (
        recipe for recipe in map(recipe_of, (*RECIPES, *further_recipes())) if recipe.built
    ):
        test_jar(recipe, java_for(recipe))
        print(f"{recipe.title}: Java tests passed")


def _chosen(which: str, versions: Versions = VERSIONS) -> list[Recipe]:
    return [recipe_of(name, versions) for name in (RECIPES if which == "all" else (which,))]


def main() -> None:
    shell.enter()
    try:
        app()
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
