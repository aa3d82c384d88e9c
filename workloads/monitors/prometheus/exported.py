"""Series of exporters as the counters of telemetry devices: pure functions of what Prometheus answers."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import median

from density_study.cluster.providers.existing.prometheus import Scraped
from density_study.workloads.monitors.device_sampler import rows
from density_study.workloads.monitors.devices import HOST, declarations, devices, header, title

JMX = "jmx"
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NO_CARDS = re.compile(r"(lo|veth.*|docker.*|br-.*|virbr.*|cali.*|flannel.*|cni.*|tap.*|tun.*)$")
_INSTANCE = "instance"
Rounds = Mapping[float, Mapping[str, Mapping[str, float]]]
"""Columns by source, by time."""
_Part = tuple[str, Scraped, str, str, float]
"""A series of a host: the source and the column that it adds to, and its factor."""


@dataclass(frozen=True)
class Exported:
    """A series of exported.toml."""

    device: str
    column: str
    metric: str
    source: str = ""
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    factor: float = 1.0
    over: str = ""

    def names(self, labels: Mapping[str, str]) -> str:
        """The source that the series tells of; empty: it does not count."""
        if any(labels.get(name) not in values for name, values in self.only.items()):
            return ""
        name = labels.get(self.source, "") if self.source else HOST
        return name if _SOURCE.fullmatch(name) and not _NO_CARDS.match(name) else ""


@cache
def exported() -> tuple[Exported, ...]:
    text = pkgutil.get_data(__name__, "exported.toml")
    assert text is not None
    return tuple(Exported(**one) for one in tomllib.loads(text.decode())["series"])


@dataclass(frozen=True)
class ExportedQuery:
    """A query: the selector of a device's series. `role`: of JMX, the daemon's kind."""

    device: str
    selector: str
    role: str = ""
    attributes: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    """For JMX: columns and factors by the end of the metric's name, in lower case."""
    begins: bool = True
    """For JMX: only daemons of the role have it."""


def queries(instances: Iterable[str], jmx: bool) -> Iterator[ExportedQuery]:
    """All that is queried about the instances. jmx: also what daemons count."""
    of = "|".join(re.escape(one) for one in sorted(instances))
    where = f'{_INSTANCE}=~"{_quoted(of)}"'
    for device in dict.fromkeys(one.device for one in exported()):
        names = {
            name for one in exported() if one.device == device for name in (one.metric, one.over)
        }
        regex = "|".join(sorted(filter(None, names)))
        yield ExportedQuery(device, f'{{__name__=~"{regex}",{where}}}')
    known: set[str] = set()
    for bean in declarations()[JMX]["beans"] if jmx else ():
        service, about = _bean(bean["query"])
        attributes: dict[str, list[tuple[str, float]]] = {}
        for attribute, column, *factor in bean["attributes"]:
            adds = attributes.setdefault(attribute.lower(), [])
            adds.append((column, float((*factor, 1.0)[0])))
        named = "|".join(sorted(attributes))
        labels = ",".join(f'{key}=~"{_quoted(value)}"' for key, value in about.items())
        selector = f'{{__name__=~"(?i:hadoop_{service}_({named}))",{labels},{where}}}'
        yield ExportedQuery(JMX, selector, bean["role"], attributes, bean["role"] not in known)
        known.add(bean["role"])


def _bean(query: str) -> tuple[str, Mapping[str, str]]:
    """'HBase', {'name': 'RegionServer', 'sub': 'Server'}: jmx_exporter puts the domain and the first property
    of a bean into a metric's name, and makes labels of the others."""
    properties = dict(one.split("=", 1) for one in query.partition(":")[2].split(","))
    service = properties.pop("service")
    return service, {key: re.escape(one).replace(r"\*", ".*") for key, one in properties.items()}


def _quoted(regex: str) -> str:
    return regex.replace("\\", "\\\\").replace('"', '\\"')


class Telling:
    """The answers to `queries`. `hosts`: by instance."""

    def __init__(self, hosts: Mapping[str, str]) -> None:
        self._hosts = hosts
        self._series: dict[tuple[str, str, str, str], list[tuple[Scraped, float]]] = {}
        """By device, host, source and column: series, and the factor of each."""
        self._daemons: dict[tuple[str, str], tuple[str, str]] = {}
        """By role and instance: its host and source."""
        self._parts: dict[str, int] = {}
        """For each column of JMX: how many attributes it is the sum of."""

    def add(self, queried: ExportedQuery, answer: Sequence[Scraped]) -> None:
        named: dict[str, list[Scraped]] = {}
        for one in answer:
            if one.samples and one.labels.get(_INSTANCE) in self._hosts:
                named.setdefault(one.labels.get("__name__", ""), []).append(one)
        for host, one, source, column, factor in (
            self._of_daemons(queried, named)
            if queried.device == JMX
            else self._of_hosts(queried, named)
        ):
            key = queried.device, host, source, column
            self._series.setdefault(key, []).append((one, factor))

    def _of_hosts(
        self, queried: ExportedQuery, named: Mapping[str, Sequence[Scraped]]
    ) -> Iterator[_Part]:
        """For a host that several jobs scrape, the first one counts."""
        targets: dict[str, tuple[str, str | None]] = {}
        for one in (one for one in exported() if one.device == queried.device):
            over = {_place(one, gauge): gauge.samples[-1][1] for gauge in named.get(one.over, ())}
            for series in named.get(one.metric, ()):
                target = series.labels[_INSTANCE], series.labels.get("job")
                host = self._hosts[target[0]]
                source = one.names(series.labels)
                divisor = over.get(_place(one, series), 0.0) if one.over else 1.0
                if source and divisor > 0 and targets.setdefault(host, target) == target:
                    yield host, series, source, one.column, one.factor / divisor

    def _of_daemons(
        self, queried: ExportedQuery, named: Mapping[str, Sequence[Scraped]]
    ) -> Iterator[_Part]:
        """A daemon's source has no slash: without one, seconds that were not scraped are no silence of it."""
        self._parts |= Counter(column for adds in queried.attributes.values() for column, _ in adds)
        for name, every in named.items():
            adds = queried.attributes.get(name.lower().split("_", 2)[-1], ())
            for series in every:
                host, source = self._daemon(queried, series.labels[_INSTANCE])
                for column, factor in adds if source else ():
                    yield host, series, source, column, factor

    def _daemon(self, queried: ExportedQuery, instance: str) -> tuple[str, str]:
        """Its host and source; nothing if it is no daemon of the role."""
        key, host = (queried.role, instance), self._hosts[instance]
        if queried.begins and key not in self._daemons:
            is_taken = (host, queried.role) in self._daemons.values()
            port = f"-{instance.rpartition(':')[2]}" * is_taken
            self._daemons[key] = host, f"{queried.role}{port}"
        return self._daemons.get(key, ("", ""))

    def files(self, lead_s: float) -> Iterator[tuple[str, str, float, str]]:
        """(device, host, seconds between scrapes, text) of each device's file. lead_s: that of the server's
        clock. A host that was scraped once has none: a counter tells nothing then."""
        found: dict[tuple[str, str], dict[float, dict[str, dict[str, float]]]] = {}
        for (device, host, source, column), series in self._series.items():
            rounds = found.setdefault((device, host), {})
            if device == JMX and len(_names(series)) < self._parts[column]:
                continue
            for at_s, value in _added(series):
                rounds.setdefault(at_s - lead_s, {}).setdefault(source, {})[column] = value
        for (device, host), rounds in sorted(found.items()):
            if gaps := list(_gaps(rounds)):
                yield device, host, round(median(gaps), 3), _text(device, host, rounds)


def _names(series: Sequence[tuple[Scraped, float]]) -> set[str]:
    return {one.labels["__name__"].lower() for one, _ in series}


def _place(one: Exported, series: Scraped) -> tuple[str, str | None]:
    return series.labels[_INSTANCE], series.labels.get(one.source)


def _gaps(rounds: Rounds) -> Iterator[float]:
    """Seconds between the samples of each source."""
    last: dict[str, float] = {}
    for at_s in sorted(rounds):
        for source in rounds[at_s]:
            if source in last:
                yield at_s - last[source]
            last[source] = at_s


def _added(series: Sequence[tuple[Scraped, float]]) -> Iterator[tuple[float, float]]:
    """The sum at each time at which all of them were scraped: with fewer, a counter would seem to fall."""
    counts: Counter[float] = Counter()
    sums: dict[float, float] = {}
    for one, factor in series:
        for at_s, value in one.samples:
            counts[at_s] += 1
            sums[at_s] = sums.get(at_s, 0.0) + factor * value
    return ((at_s, sums[at_s]) for at_s in sorted(sums) if counts[at_s] == len(series))


def _text(device: str, host: str, rounds: Rounds) -> str:
    columns = devices()[device].columns
    lines = (rows(at_s, columns, rounds[at_s]) for at_s in sorted(rounds))
    return f"{title(host, device)}\n{header(columns)}\n{''.join(lines)}"
