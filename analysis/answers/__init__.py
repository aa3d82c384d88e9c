"""What a program may quote of a run: decided effects, intervals and verdicts, never a number without them.

A person sees a finding's obstacles on the page beside its number. A program that picks a number out of
summary.json does not, so the numbers are left out here where they answer nothing:

- a ratio only of a decided comparison (confirmed or refuted), with its interval and its units;
- of an undecided one whose variants are comparable, only the interval;
- of variants that differ in what nobody declared, or that are stand-ins: no number;
- a number of a test case only with its interval, so from five builds on;
- a cause without the numbers of its evidence.
"""

from density_study.analysis.answers.causes import Limit, NamedCause, limits, named_causes
from density_study.analysis.answers.findings import Answer, answers, main_answer
from density_study.analysis.answers.numbers import Quoted, quoted

__all__ = [
    "Answer",
    "Limit",
    "NamedCause",
    "Quoted",
    "answers",
    "limits",
    "main_answer",
    "named_causes",
    "quoted",
]
