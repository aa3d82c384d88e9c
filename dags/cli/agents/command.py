"""`study mcp`. Thin, like dags/cli/main.py."""

from __future__ import annotations

from density_study.dags.cli.arguments import RUNS, Runs, examples

EXAMPLES = examples("study mcp", "study mcp --runs /srv/runs")


def mcp(runs: Runs = RUNS) -> None:
    """Answer an agent's questions about runs, by the Model Context Protocol on standard input and output.

    The agent's program starts this command. Its tools read the folder of runs and write nothing. They return
    a ratio only of a decided comparison, and a number only with its interval and verdict.
    """
    from density_study.cluster.model.extras import need

    need("study mcp", "agents")
    from density_study.dags.cli.agents.server import server

    server(runs).run("stdio")
