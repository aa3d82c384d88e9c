"""The keys `slo` (latency limits), `expect` (hypotheses) and `questions` of a study.

They are written before the data are seen, stored with the run, and decided by analysis/findings.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from density_study.cluster.model.errors import StudyError
from density_study.workloads.base.checked import Name, like
from density_study.workloads.base.quantity import magnitude, written_in
from density_study.workloads.base.values import Frozen
from density_study.workloads.base.yaml_text import read_yaml
from density_study.workloads.study.factors.registry import factors, known_factor
from density_study.workloads.study.renamed_keys import rename_study

OPERATIONS = ("read", "insert", "scan", "update", "read-modify-write")
PERCENTILES = ("50", "90", "95", "99", "99.9")
_LATENCY = re.compile(rf"({'|'.join(OPERATIONS)})_p({'|'.join(map(re.escape, PERCENTILES))})")
_NUMBER = r"(\d+(?:\.\d+)?)"
_SIMILAR = (0.8, 1.25)


def latency_name(text: str) -> tuple[str, float]:
    """ "read_p99" to ("READ", 99.0). ValueError for another name."""
    match = _LATENCY.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a latency; write <operation>_p<percentile>, for example read_p99 "
            f"(operations: {', '.join(OPERATIONS)}; percentiles: {', '.join(PERCENTILES)})"
        )
    return match[1].upper(), float(match[2])


def _latency(text: str) -> str:
    latency_name(text)
    return text


def _measure(text: str) -> str:
    return text if text in ("throughput", "cpu_used") else _latency(text)


def _milliseconds(value: object) -> float:
    number = magnitude(value, "ms", "20 ms")
    if not 0 < number < float("inf"):
        raise ValueError(f"{value!r} must be positive and finite, for example 20 ms")
    return number


Milliseconds = Annotated[float, BeforeValidator(_milliseconds), written_in("ms")]
QuestionName = Annotated[
    str,
    like(
        r"C[1-9]|[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?",
        "a claim of the talk (C5), a name in `expect`, best-density, or a factor and a measure (stack-rate)",
    ),
]
Slo = dict[Annotated[str, AfterValidator(_latency)], Milliseconds]


def _as_written(schema: dict[str, Any]) -> None:
    """In a study file, one key `<later>_over_<first>` stands for later, first, low and high."""
    for name in ("later", "first", "low", "high"):
        del schema["properties"][name]
    schema["required"] = [name for name in schema["required"] if name in schema["properties"]]
    schema["patternProperties"] = {
        "^[^_].*_over_.+$": {
            "type": "string",
            "description": "Expected ratio of the two levels: `> 1.5`, `< 0.9`, `0.8 to 1.25` or "
            "`similar`.",
        }
    }


class Expectation(Frozen):
    """A hypothesis: the expected ratio of a metric between two levels of a factor.

    The key `<later>_over_<first>` names the levels, for example
    `{name: disks, workload: random, compare: disk_type, flash_over_hdd: "> 1.5"}`.
    """

    model_config = ConfigDict(json_schema_extra=_as_written)

    name: Name = Field(description="Name of the hypothesis.")
    metric: Annotated[str, AfterValidator(_measure)] = Field(
        "throughput", description="`throughput`, `cpu_used`, or a latency such as `read_p99`."
    )
    workload: str = Field(description="YCSB mix or TestDFSIO mode that the study runs.")
    compare: Annotated[
        str, AfterValidator(known_factor), WithJsonSchema({"enum": list(factors())})
    ] = Field(description="Factor with the two levels.")
    later: str
    first: str
    low: float | None = None
    high: float | None = None
    effect: Annotated[float, Field(gt=0, lt=float("inf"))] | None = Field(
        None,
        description="The ratio that you expect. `study plan` computes the power for it. Default: the middle "
        "of two bounds; no difference, if that satisfies the hypothesis; else a fifth beyond the bound.",
    )

    @model_validator(mode="before")
    @classmethod
    def _levels(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ratios = [key for key in value if isinstance(key, str) and "_over_" in key]
        if len(ratios) != 1:
            raise ValueError(
                "write one key <later>_over_<first>, for example flash_over_hdd: '> 1.5'"
            )
        later, first = ratios[0].split("_over_", 1)
        if later == first:
            raise ValueError(f"{ratios[0]} compares a level with itself")
        low, high = bounds(value[ratios[0]])
        others = {key: inner for key, inner in value.items() if key != ratios[0]}
        return {**others, "later": later, "first": first, "low": low, "high": high}


def bounds(value: object) -> tuple[float | None, float | None]:
    """ "> 1.5", "< 0.9", "0.8 to 1.25" or "similar" to (low, high) of a ratio. ValueError otherwise."""
    text = str(value).strip()
    if text == "similar":
        return _SIMILAR
    if match := re.fullmatch(rf">\s*{_NUMBER}", text):
        return _positive(match[1]), None
    if match := re.fullmatch(rf"<\s*{_NUMBER}", text):
        return None, _positive(match[1])
    if match := re.fullmatch(rf"{_NUMBER}\s+to\s+{_NUMBER}", text):
        low, high = _positive(match[1]), _positive(match[2])
        if low < high:
            return low, high
    raise ValueError(
        f"{value!r} is not an expected ratio; write '> 1.5', '< 0.9', '0.8 to 1.25' or similar"
    )


def _positive(text: str) -> float:
    if not 0 < float(text) < float("inf"):
        raise ValueError(f"a ratio is positive and finite, not {text[:40]}")
    return float(text)


class Hypotheses(BaseModel):
    """`question`, `slo`, `expect` and `questions` of a study."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    question: str | None = None
    slo: Slo = {}
    expect: tuple[Expectation, ...] = ()
    questions: tuple[str, ...] | None = None


def read_hypotheses(path: Path) -> Hypotheses:
    """Hypotheses of the study stored with a run; empty if there is no study file. StudyError if invalid."""
    if not path.exists():
        return Hypotheses()
    document = read_yaml(path, recorded=True)
    value = document.value if isinstance(document.value, dict) else {}
    rename_study(value, document)
    try:
        return Hypotheses.model_validate(value)
    except ValidationError as error:
        raise StudyError(
            f"question, slo, expect or questions is not valid: {error.errors()[0]['msg']}.",
            str(path),
            "restore the study file that the run was opened with.",
        ) from error
