"""What README and the pages promise is what the program does: TLS, minutes, and README's first screen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.model.access import Access
from density_study.cluster.model.existing import StoreEndpoint
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.existing.configuration import ClientConfiguration
from density_study.cluster.providers.provider import OURS
from density_study.cluster.stores.aerospike.store import Aerospike
from density_study.workloads.monitors.devices import device_command
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.existing_spec import EndpointSpec, ExistingSpec
from density_study.workloads.study.shipped import study_path
from docs.generator.sample import SAMPLE, kept

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PAGES = {
    path.relative_to(CHECKOUT).as_posix(): path.read_text(encoding="utf-8")
    for path in (CHECKOUT / "README.md", *sorted(CHECKOUT.glob("docs/**/*.md")))
    if not {"decisions", "proof", "reference"} & set(path.parts)
}


def _web_tls(name: str, value: str) -> bool:
    return ClientConfiguration(Path(), {name: value}).has_tls


def _aerospike_refuses() -> bool:
    secure = StoreEndpoint(("a:3000",), ca_file="/ca.pem", server_namespace="test")
    return "no TLS" in Aerospike("memory").endpoint_fault(secure)[0]


def _sampler() -> Command:
    access = Access(ticket_cache="/ticket", ca_file="/ca.pem")
    daemons = {"w1": {"w1/datanode": "https://w1:9865"}}
    return device_command(
        "w1", "o", 1.0, "t", ("python3",), device="jmx", daemons=daemons, access=access
    )


TLS: dict[str, Callable[[], bool]] = {
    "Web servers use TLS where `dfs.http.policy` or `yarn.http.policy` is `HTTPS_ONLY` or "
    "`hbase.ssl.enabled` is true.": lambda: (
        not _web_tls("dfs.http.policy", "HTTP_ONLY")
        and _web_tls("dfs.http.policy", "HTTPS_ONLY")
        and _web_tls("yarn.http.policy", "HTTPS_ONLY")
        and _web_tls("hbase.ssl.enabled", "true")
    ),
    "# A cluster with Kerberos or TLS": lambda: (
        {"kerberos", "ca_file"} <= {*ExistingSpec.model_fields}
    ),
    "by the same TLS and Kerberos as other requests.": lambda: (
        {"--ca-file", "/ca.pem"} <= {*_sampler().argv} and _sampler().env["KRB5CCNAME"] == "/ticket"
    ),
    "clients use TLS, and trust these authorities": lambda: "ca_file" in EndpointSpec.model_fields,
    "Without it there is no TLS.": lambda: not StoreEndpoint(("a:6379",)).ca_file,
    "It needs Aerospike 7.0 or later, without TLS.": _aerospike_refuses,
}
"""What the pages say of TLS, and what shows that it is so."""


@pytest.mark.parametrize("said", TLS)
def test_what_is_said_of_tls_is_so(said: str) -> None:
    assert any(said in " ".join(text.split()) for text in PAGES.values())
    assert TLS[said]()


def test_nothing_else_is_said_of_tls() -> None:
    whole = " ".join(" ".join(text.split()) for text in PAGES.values())
    assert whole.count("TLS") == sum(said.count("TLS") for said in TLS)


MINUTES = re.compile(r"(\d+(?:\.\d+)?|ten) minutes")


def _minutes(page: str, beginning: str) -> float:
    """The first time, in minutes, that the page names after `beginning`."""
    text = " ".join(PAGES[page].split())
    assert text.count(beginning) == 1
    found = MINUTES.search(text.partition(beginning)[2])
    assert found is not None
    return 10.0 if found[1] == "ten" else float(found[1])


def _benchmark_s(row: str) -> float:
    """The longest time of a row of benchmarks.md."""
    cell = re.search(rf"^\| {re.escape(row)} \|([^|]+)\|", PAGES["docs/benchmarks.md"], re.M)
    assert cell is not None
    return max(
        60.0 * int(minutes or 0) + int(seconds)
        for minutes, seconds in re.findall(r"(?:(\d+) min )?(\d+) s", cell[1])
    )


def test_readme_and_pages_name_the_same_minutes() -> None:
    set_up = {
        _minutes("README.md", "make study # set-up"),
        _minutes("docs/install.md", "assembles the software, in about"),
    }
    assert len(set_up) == 1
    assert _benchmark_s("set-up in a fresh clone with empty caches") <= 60 * set_up.pop()
    tests = {
        _minutes("README.md", "make test # the test suite"),
        _minutes("docs/install.md", "`make test` tests the installation"),
    }
    assert len(tests) == 1
    quickstart = _minutes("README.md", "then the quickstart:")
    assert abs(_benchmark_s("`make study` after set-up") / 60 - quickstart) <= 0.25


PERSONAS = ("a platform engineer", "a performance engineer", "a capacity planner")


def test_the_first_screen_says_what_it_is_for_whom_and_how_far() -> None:
    screen = README.partition("## Try it")[0]
    assert screen.startswith(
        "# density-study\n\ndensity-study compares Hadoop and HBase clusters, "
    )
    assert re.findall(r"^\| (a [^|]+) \|", screen, re.M) == [*PERSONAS]
    assert "It is not for " in screen
    assert "## Status: alpha, no release yet" in screen
    assert len(screen.splitlines()) <= 36


def test_the_first_screen_names_each_provider_and_what_was_tried() -> None:
    """A group of live tests passed where README says that a provider was tried. Real KVM and a vendor's
    cluster have no group: whoever adds one corrects README."""
    rows = dict(re.findall(r"^\| `(\w+)`: [^|]+\| ([^|]+) \|", README, re.M))
    assert {*rows} == {*OURS}
    ledger = [
        json.loads(line) for line in (CHECKOUT / "docs/proof/ledger.jsonl").read_text().splitlines()
    ]
    passed = {line["group"] for line in ledger if line["passed"] and not line["failed"]}
    assert {"containers", "ssh", "given-cluster", "stores"} <= passed
    groups = (CHECKOUT / "tests/prove/groups.toml").read_text()
    assert "**never on real KVM**" in rows["libvirt"] and "kvm" not in groups.lower()
    assert "**no vendor's cluster**" in rows["existing"]


def test_the_first_picture_shows_what_the_first_screen_says() -> None:
    said = re.search(
        r"!\[Reads without HBase's block cache run at ([\d.]+) times the rate, 95 % interval "
        r"([\d.]+) to ([\d.]+), five builds each\]\(docs/block-cache-off.png\)",
        README,
    )
    assert said is not None
    ratio, low, high = map(float, said.groups())
    assert low < ratio < high < 1
    assert (
        f"×{ratio} (required: below 0.5, interval {low} to {high}, 5 rep" in kept(SAMPLE).headline
    )
    assert "a factor of nearly six" in " ".join(README.split()) and 5.5 < 1 / ratio < 6
    plan = plan_study(study_path(Path("block-cache-off"))).plan
    assert len({step.build for step in plan.trials}) == 10
    assert len({step.repetition for step in plan.trials}) == 5
    minutes = _minutes("README.md", "This is `study run block-cache-off`,")
    assert abs(plan.estimate_s / 60 - minutes) < 1.5
