"""What a host may answer to each request: its type, and its bounds.

A host is not trusted. Its agent is this program's own code, but what comes back is whatever the host sends.
Every answer is checked here before any other code sees it: numbers are in range, texts and lists are bounded,
names of files stay below the requested folder, and paths are plain ones.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from density_study.cluster.machine.equality.ethtool import COALESCING
from density_study.cluster.machine.host_commands import TAIL_BYTES
from density_study.cluster.providers.ssh.wire import WireError

MAX_FILES = 20_000
_MAX_NAME_BYTES, _MAX_PART_BYTES = 1024, 255


def _bytes(value: Any) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ValueError("not base64") from error


def _below(name: str) -> str:
    """A relative name that stays below its folder."""
    parts = name.split("/")
    if (
        not name.isprintable()
        or len(name.encode()) > _MAX_NAME_BYTES
        or any(part in ("", ".", "..") or len(part.encode()) > _MAX_PART_BYTES for part in parts)
    ):
        raise ValueError("not a name below the folder")
    return name


def _files(names: list[str]) -> list[str]:
    """No file is also the folder of another one."""
    there = set(names)
    for name in names:
        if any(name[:at] in there for at, letter in enumerate(name) if letter == "/"):
            raise ValueError("a file inside a file")
    return names


Text = Annotated[str, Field(max_length=8192)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[float, Field(ge=0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9@._-]{0,63}\z")]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_~-]{0,63}\z")]
PlainPath = Annotated[
    str, Field(pattern=r"^(/[A-Za-z0-9@+_~-][A-Za-z0-9@.+_~-]*)+\z", max_length=_MAX_NAME_BYTES)
]
"""Absolute, without `..`, spaces, quotes, braces and the like: it becomes part of command lines."""
Below = Annotated[str, AfterValidator(_below)]
Texts = Annotated[list[Text], Field(max_length=MAX_FILES)]
Facts = Annotated[dict[Text, Any], Field(max_length=1000)]
"""Facts for people and for the host itself. Nothing else is done with the values."""
TextByName = Annotated[dict[Text, Text], Field(max_length=200)]
Counters = Annotated[dict[Text, Count], Field(max_length=1000)]
Started = tuple[Annotated[int, Field(gt=1, lt=2**31)], Count]
"""A process: its number, and its start in clock ticks."""
Nothing = None


class Process(TypedDict):
    node: Text
    name: Text
    pid: Annotated[int, Field(gt=1, lt=2**31)]
    start_ticks: Count


class Machine(TypedDict):
    host: Text
    kernel: Text
    architecture: Text
    cpu_model: Text
    cores: Annotated[int, Field(ge=1, le=8192)]
    memory_mib: Annotated[int, Field(ge=1, le=2**30)]
    user: Text
    python: Text
    systemd: bool


class HostFacts(TypedDict):
    machine: TextByName
    disks: Annotated[dict[Text, TextByName], Field(max_length=1000)]
    network: TextByName


class JavaFound(TypedDict):
    home: PlainPath
    version: Version


class ProgramFound(TypedDict):
    name: Name
    version: Version
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}\z")]
    program: PlainPath


class Probed(TypedDict):
    path: Text
    random_4k_read_ms: Seconds
    reads: Count


class Rate(TypedDict):
    iops: Seconds
    mib_s: Seconds
    seconds: Seconds


class Network(TypedDict):
    device: Name
    mtu: Count
    files: Annotated[dict[Text, Text], Field(max_length=10_000)]
    coalescing: Annotated[dict[Name, Count], Field(max_length=len(COALESCING))]


class Numa(TypedDict):
    number: Count
    cores: Annotated[
        list[Annotated[list[Count], Field(min_length=1, max_length=64)]],
        Field(min_length=1, max_length=8192),
    ]


class GuestHost(TypedDict):
    missing: Texts
    bridge: bool
    no_kvm: Text
    huge_pages: Counters


class Containers(TypedDict):
    runc: Text
    cgroup_version: Annotated[int, Field(ge=1, le=2)]
    cpus: Annotated[list[Numa], Field(max_length=1024)]
    devices: Annotated[dict[Text, Count], Field(max_length=1000)]


class Spent(TypedDict):
    cpu_s: Seconds
    waited_s: Seconds
    out_of_memory: Count


class OwnerPlace(TypedDict):
    host: Text
    boot_id: Text
    pid_namespace: int


class LeaseOwner(TypedDict):
    place: OwnerPlace
    pid: int | None
    start_ticks: int | None
    holds_lock: bool
    dag_run: Text


class Leased(TypedDict):
    tag: Text
    owner: LeaseOwner
    since: Annotated[float, Field(ge=0, lt=1e11)]
    expired: NotRequired[bool]
    running: NotRequired[Count]


ContainerPart = Literal["container", "cgroup", "network namespace", "network interface", "route"]
Found = dict[ContainerPart, Texts]
VERBS: Mapping[str, Any] = {
    "alive": Annotated[list[bool], Field(max_length=100_000)],
    "append": Nothing,
    "archive_classes": Nothing,
    "check_units": Nothing,
    "files": Annotated[list[Below], Field(max_length=MAX_FILES), AfterValidator(_files)],
    "install_stack": Nothing,
    "lease_holder": Leased | None,
    "own_folder": Nothing,
    "put": Nothing,
    "read": Annotated[bytes, BeforeValidator(_bytes)],
    "release_lease": Nothing,
    "remove_tree": Nothing,
    "serve": Started,
    "start": Started,
    "stop": Nothing,
    "take_lease": Leased | None,
    "units": Texts,
    "verify_stack": Nothing,
    "wait": Annotated[int, Field(ge=-1024, le=1024)],
}
ACTS: Mapping[str, Any] = {
    "add-route": Nothing,
    "answer-at": Annotated[list[Annotated[int, Field(ge=1, lt=65536)]], Field(max_length=10_000)],
    "available-memory-mib": Count,
    "check-cut": Nothing,
    "check-e-coli": Nothing,
    "check-genomics": Nothing,
    "check-containers": Nothing,
    "check-disk": Nothing,
    "check-java": Nothing,
    "check-network": Nothing,
    "check-network-kernel": Nothing,
    "check-programs": Nothing,
    "check-quiet": Nothing,
    "check-routes": Nothing,
    "check-slow-disk": Count,
    "check-free": Nothing,
    "clock": Seconds,
    "container-facts": Containers,
    "containers-spent": Annotated[dict[Text, Spent], Field(max_length=10_000)],
    "count-lines": Count,
    "describe": Machine,
    "describe-disk": Annotated[dict[Text, Text], Field(max_length=100)],
    "dirs-there": Texts,
    "facts": HostFacts,
    "find-containers": Found,
    "find-program": ProgramFound,
    "files-changed": Texts,
    "flow-table": Annotated[dict[Text, Text], Field(max_length=100)],
    "free-disks": Annotated[dict[Text, tuple[Count, Count]], Field(max_length=1000)],
    "free-mib": Count,
    "guest-host": GuestHost,
    "io-bytes": Counters,
    "java": JavaFound,
    "jvm-refusal": Text,
    "is-cut": bool,
    "kill": Nothing,
    "listening": Annotated[list[tuple[Text, Count]], Field(max_length=65_536)],
    "make-bridge": Nothing,
    "make-container-network": Nothing,
    "make-dir": Nothing,
    "make-folder": Nothing,
    "make-quiet": Nothing,
    "mend": bool,
    "network-changed": Texts,
    "network-device": Name,
    "network-state": Network,
    "noise-changed": Texts,
    "noisy": Annotated[dict[Text, Text], Field(max_length=10_000)],
    "not-reached": Texts,
    "energy": Text,
    "pressure": Text,
    "probe": Probed,
    "read-rate": Rate,
    "remove-containers": Found,
    "remove-dir": bool,
    "restore-files": Nothing,
    "restore-network": Nothing,
    "restore-noise": Nothing,
    "set-network": Nothing,
    "shape-container": Nothing,
    "start-container": Started,
    "stop-tagged": Annotated[list[Process], Field(max_length=100_000)],
    "tail": Annotated[str, Field(max_length=TAIL_BYTES)],
    "tagged": Annotated[list[Process], Field(max_length=100_000)],
    "unreached": Texts,
    "unwritten-bytes": Count,
    "way-to": Facts,
}

FITTING: Mapping[str, Callable[[Any, Any], bool]] = {
    "alive": lambda value, processes: len(value) == len(processes),
    "container-facts": lambda value, paths: set(paths) <= set(value["devices"]),
    "containers-spent": lambda value, names: set(names) <= set(value),
    "free-disks": lambda value, folders: set(folders) == set(value),
}
"""Answers that have a part for each item of the first argument."""


class Failure(TypedDict):
    error: Text
    what: Annotated[str, Field(max_length=100_000)]
    where: NotRequired[Text]
    remedy: NotRequired[Text]


def checked(verb: str, arguments: tuple[Any, ...], value: Any) -> Any:
    """The answer to a request, as its type says. WireError if it is anything else."""
    if verb == "act":
        verb, arguments = arguments[0], tuple(arguments[1])
    try:
        answer = _adapter(verb).validate_python(value)
    except ValidationError as error:
        raise _wrong(verb, error) from error
    if verb in FITTING and not FITTING[verb](answer, arguments[0]):
        raise WireError(f"{verb}: a part of the answer is missing")
    return answer


def checked_failure(value: Any) -> Failure:
    """The description of an error. WireError if it is none."""
    try:
        return _FAILURE.validate_python(value)
    except ValidationError as error:
        raise _wrong("error", error) from error


def _wrong(asked: str, error: ValidationError) -> WireError:
    first = error.errors(include_url=False, include_input=False)[0]
    place = "".join(f"[{str(part)[:40]!r}]" for part in first["loc"][:4])
    return WireError(f"{asked}{place}: {first['msg'][:200]}")


@cache
def _adapter(verb: str) -> TypeAdapter[Any]:
    return TypeAdapter(VERBS.get(verb, ACTS.get(verb)))


_FAILURE = TypeAdapter(Failure)
