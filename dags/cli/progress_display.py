"""What `study run` shows while a study runs: each step as it ends, and the step under way.

On a terminal the last lines are redrawn each second. Elsewhere a line appears every ten seconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean, median
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.report.table import measured_header
from density_study.dags.cli.layout import rows_table
from density_study.dags.run_status.progress import Ended, Progress
from density_study.jobs.stage_names import STAGE_NAMES
from density_study.workloads.base.quantity import duration
from density_study.workloads.base.search import answer_of

if TYPE_CHECKING:
    from density_study.jobs.first_look.look import FirstLook
    from density_study.workloads.base.search import Search
    from density_study.workloads.planning.plan import Plan, Step

Show = Callable[[Progress], None]
LINE_EVERY_S = 10.0
PROVISIONAL = (
    "All trials have ended. These numbers are provisional: the analysis applies more rules."
)
STYLES = {
    "ok": "green", "valid so far": "green", "unknown": "yellow", "skipped": "yellow",
    "invalid": "bold red", "failed": "bold red", "incomplete": "bold red",
}  # fmt: skip
_INDENT = " " * 14


@contextmanager
def progress_display(console: Console, plan: Plan) -> Iterator[Show]:
    """Call what it yields with the newest progress, several times a second."""
    if not console.is_terminal:
        yield _Display(console, plan, None).show
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _Display(console, plan, live).show


class _Display:
    """Prints every step that has ended since the last call, and the table when all trials have.

    live: redraws the step under way; None where nothing can be redrawn.
    """

    def __init__(self, console: Console, plan: Plan, live: Live | None) -> None:
        self.console = console
        self.plan = plan
        self.live = live
        self.ended = 0
        self.has_table = False
        self.shown: tuple[str, ...] = ()
        self.printed: object = None
        self.printed_s = 0.0

    def show(self, seen: Progress) -> None:
        for ended in seen.ended[self.ended :]:
            self._print(seen, ended_line(ended, seen))
        self.ended = len(seen.ended)
        for line in (seen.noise, seen.precise):
            if line and line not in self.shown:
                self.shown += (line,)
                self._print(seen, Text(line, style="bold"))
        if seen.stage and not self.has_table:
            self.has_table = True
            if seen.looks:
                self._print(seen, Text(PROVISIONAL))
                self.console.print(first_table(self.plan, seen.looks))
        if self.live is not None:
            self.live.update(progress_panel(seen), refresh=True)
        else:
            self._print_current(seen)

    def _print_current(self, seen: Progress) -> None:
        what = seen.stage or (seen.current and seen.current.index)
        is_new = what is not None and what != self.printed
        if is_new:
            self._print(seen, Text(f"{headline(seen)}  (about {duration(seen.remaining_s)} left)"))
        elif what is not None and seen.elapsed_s - self.printed_s >= LINE_EVERY_S:
            self._print(seen, Text(f"    {_now(seen)}"))
        else:
            return
        self.printed, self.printed_s = what, seen.elapsed_s

    def _print(self, seen: Progress, line: Text) -> None:
        if self.live is None:
            line = Text(f"[{duration(seen.elapsed_s):>11}] ") + line
        self.console.print(line, soft_wrap=True)


def _now(seen: Progress) -> str:
    if not seen.live:
        return seen.doing or headline(seen)
    return f"{seen.live} · {seen.nodes}" if seen.nodes else seen.live


def headline(seen: Progress) -> str:
    """The current activity, in one line."""
    if seen.stage and not seen.current:
        return f"analysis {STAGE_NAMES.index(seen.stage) + 1}/{len(STAGE_NAMES)}: {seen.stage}"
    if seen.current:
        return f"step {seen.position}/{seen.total}: {seen.current.label}"
    return "starting Airflow" if seen.state == "starting" else "between two steps"


def ended_line(ended: Ended, seen: Progress) -> Text:
    """One line, and one for each reason or flag."""
    outcome, text, notes = ended_parts(ended, seen)
    return Text.assemble(
        (f"{outcome:<{len(_INDENT)}}", STYLES.get(outcome, "")),
        text,
        *(f"\n{_INDENT}{note}" for note in notes),
    )


def ended_parts(ended: Ended, seen: Progress) -> tuple[str, str, tuple[str, ...]]:
    """Outcome; step and duration, of a trial its numbers; and notes: why it is not valid, and its flags. The
    outcome of a trial is its provisional verdict."""
    look = seen.looks.get(ended.step.trial or "") if ended.outcome != "skipped" else None
    outcome = look.outcome if look and ended.outcome == "ok" else ended.outcome
    line = (
        f"step {ended.step.index + 1}/{seen.total}: {ended.step.label} in {duration(ended.seconds)}"
    )
    numbers = "".join(f" · {number}" for number in look.numbers) if look else ""
    reasons = (*look.reasons, *look.flags) if look else ()
    if ended.message and not any(ended.message in reason for reason in reasons):
        reasons = (ended.message, *reasons)
    return outcome, line + numbers, reasons


def first_table(plan: Plan, looks: Mapping[str, FirstLook]) -> RenderableType:
    """A row per test case and topology, with medians over its builds of trials that are valid so far; of a
    search its answer on each build."""
    groups: dict[tuple[str, str], dict[str, list[FirstLook]]] = defaultdict(
        lambda: defaultdict(list)
    )
    searches: dict[tuple[str, str, str], tuple[Search, list[FirstLook]]] = {}
    steps = [step for step in plan.trials if step.test_case and step.overhead_pair is None]
    test_cases = {step.test_case.id: step.test_case for step in steps if step.test_case}
    alike = Counter(test_case.label for test_case in test_cases.values())
    names = {
        each: test_case.label if alike[test_case.label] == 1 else f"{test_case.label} ({each})"
        for each, test_case in test_cases.items()
    }
    for step in sorted(steps, key=lambda one: (_place(one), plan.builds[one.build])):
        if step.test_case and (look := looks.get(str(step.trial))):
            key = (names[step.test_case.id], plan.builds[step.build])
            search = step.test_case.sought
            if search is None:
                groups[key][step.build].append(look)
            else:
                searches.setdefault((*key, step.build), (search, []))[1].append(look)
    for (test_case, topology, build), (search, probed) in searches.items():
        answer = answer_of(search, [look.probe for look in probed if look.probe]).answer
        groups[test_case, topology][build] += [
            look for look in probed if look.probe and look.probe == answer
        ]
    measured = measured_header(any(len(builds) > 1 for builds in groups.values()))
    header = ("Test case", "Topology", *measured, "Trials")
    return rows_table(header, [(*key, *_medians(builds)) for key, builds in groups.items()])


def _place(step: Step) -> tuple[str, tuple[float, ...], str]:
    test_case = step.test_case
    return (test_case.workload, test_case.sort_key, test_case.id) if test_case else ("", (), "")


def _medians(builds: Mapping[str, Sequence[FirstLook]]) -> Iterable[str]:
    valid = [[look for look in looks if look.verdict == "valid"] for looks in builds.values()]
    rates = _median([look.rate or None for look in looks] for looks in valid)
    p99_ms = _median([look.p99_ms or None for look in looks] for looks in valid)
    used = _median([look.cpu_used_percent for look in looks] for looks in valid)
    one = next((look for looks in valid for look in looks), None)
    yield "-" if rates is None or one is None else quantity(rates, one.rate_unit)
    yield "-" if p99_ms is None or one is None else f"{quantity(p99_ms, 'ms')} {one.p99_of}"
    yield "-" if used is None else quantity(used, "percent")
    verdicts = [look.outcome for looks in builds.values() for look in looks]
    yield ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))


def _median(builds: Iterable[Iterable[float | None]]) -> float | None:
    """Over builds, of the mean of each one's trials. None if nothing is known."""
    known = [[value for value in values if value is not None] for values in builds]
    means = [fmean(values) for values in known if values]
    return median(means) if means else None


def progress_panel(seen: Progress) -> RenderableType:
    """Study, build, step and activity; the trial's newest second; a bar; elapsed and remaining time."""
    done_s, left_s = seen.elapsed_s, seen.remaining_s
    bar = ProgressBar(total=max(1.0, done_s + left_s), completed=done_s, width=50)
    where = (
        f" · topology {seen.topology} · repetition {seen.current.repetition}"
        if seen.current
        else ""
    )
    activity = f" · {seen.doing}" if seen.doing and seen.current else ""
    return Group(
        Text(f"{seen.study} {seen.run}{where}", style="bold"),
        Text(headline(seen) + activity),
        *([Text(seen.live, style="cyan", no_wrap=True)] if seen.live else []),
        *([Text(f"CPU of nodes: {seen.nodes}", style="cyan", no_wrap=True)] if seen.nodes else []),
        bar,
        Text(f"elapsed {duration(done_s)} · about {duration(left_s)} left", style="dim"),
    )
