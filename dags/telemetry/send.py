"""`send`: the spans of a run to a collector, by the OpenTelemetry SDK and OTLP over HTTP."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Span as Made
from opentelemetry.trace import Status, StatusCode, Tracer, set_span_in_context

from density_study.cluster.model.access import OPEN
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.existing.web import session_of
from density_study.cluster.state.events import Event
from density_study.dags.telemetry.spans import Span, spans
from density_study.workloads.execution.run import Run

PATH = "/v1/traces"
TIMEOUT_S = 10
BATCH = 512
_NS_PER_S = 1_000_000_000


def send(run: Run, address: str) -> int:
    """Send the spans of the run to the collector at `address` (http://host:4318); returns how many.

    InputError for an address that is none, StudyError if it does not take them. Ids follow from study and
    run, so that a run that is sent again does not stand twice in most stores.
    """
    _check(address)
    study, name = run.plan.study, run.root.name
    trees = spans(study, name, run.journal.events(Event))
    made = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource.create({"service.name": "density-study"}),
        id_generator=_Ids(f"{study}/{name}"),
    )
    provider.add_span_processor(SimpleSpanProcessor(made))
    tracer = provider.get_tracer("density_study")
    for tree in trees:
        _record(tracer, tree)
    finished = made.get_finished_spans()
    _deliver(finished, address)
    return len(finished)


def _check(address: str) -> None:
    try:
        place = urlsplit(address)
        whole = bool(place.hostname) and place.port != 0 and address.isprintable()
    except ValueError:
        whole, place = False, urlsplit("")
    if not whole:
        raise InputError(
            "this is not the address of a collector.", "--to", "name it as in http://host:4318."
        )
    if "@" in place.netloc:
        raise InputError(
            "the address has a user name or a password, which other users see among processes.",
            "--to",
            "leave it out, and set OTEL_EXPORTER_OTLP_HEADERS to what the collector wants.",
        )


def _deliver(finished: Sequence[ReadableSpan], address: str) -> None:
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # a fault is reported once, below
    exporter = OTLPSpanExporter(
        address.rstrip("/") + PATH, timeout=TIMEOUT_S, session=session_of(OPEN)
    )
    try:
        for at in range(0, len(finished), BATCH):
            if exporter.export(finished[at : at + BATCH]) is not SpanExportResult.SUCCESS:
                raise StudyError(
                    f"the collector took {at} of {len(finished)} spans.",
                    address,
                    "check that an OTLP receiver over HTTP listens there: its usual port is 4318.",
                )
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


def _record(tracer: Tracer, span: Span, parent: Made | None = None) -> None:
    made = tracer.start_span(
        span.name,
        set_span_in_context(parent) if parent else None,
        start_time=int(span.begin_t * _NS_PER_S),
        attributes={f"density_study.{key}": value for key, value in span.about.items()},
    )
    if span.failed is not None:
        made.set_status(Status(StatusCode.ERROR, span.failed))
    for inner in span.within:
        _record(tracer, inner, made)
    made.end(int(span.end_t * _NS_PER_S))


class _Ids(IdGenerator):
    """One trace for all of a run."""

    def __init__(self, of: str) -> None:
        self.of = of
        self.count = 0

    def generate_trace_id(self) -> int:
        return self._hashed("trace", 16)

    def generate_span_id(self) -> int:
        self.count += 1
        return self._hashed(str(self.count), 8)

    def _hashed(self, text: str, size: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.of}/{text}".encode()).digest()[:size]) or 1
