"""Random run folders of strangers: mutated journals, and files replaced by links, pipes and rubbish."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from density_study.workloads.planning.plan import make_plan, plan_text
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.study.study_file import read_study
from tests.security.run_folders.crafted import Canaries, build, intent, opened
from tests.support.drafts import QUICKSTART

FILES = ("journal.jsonl", "plan.json", "study.yaml", "owner.lock", "opening.lock", "step.lock", "run.key",
         "builds", "builds/b1", "builds/b1/conf", "builds/b1/conf/client", "builds/b1/cluster.json",
         "builds/b1/conf/client/access.json", "builds/b1/conf/client/endpoint.json", "builds/b1/ssh",
         "records", "records/t1.open", "records/t1.open/opening.json", "records/t1", "report",
         "report/summary.json", "report/index.html", "tables")  # fmt: skip
ACTS = ("build", "make-dir", "make-io-group", "make-netns", "make-container", "make-bridge", "make-route",
        "set-flow-table", "set-network", "lease-host", "copy-stack", "cut", "make-hdfs-folder",
        "make-namespace", "claim-namespace", "make-domain", "make-keys", "start")  # fmt: skip
PROVIDERS = (
    "local",
    "physical",
    "container",
    "container-ssh",
    "libvirt",
    "existing",
    "endpoint",
    "x",
    "",
)
EVENTS = ("run-opened", "run-ended", "destroyed", "step-started", "phase", "search-ended", "reach",
          "reach-host", "cluster-kept", "guests-up", "build-ready", "run-tagged", "run-imported",
          "step-ended", "owner-declared-dead", "x")  # fmt: skip


class Mutations:
    """`folder` makes one run's folder from a seed. Nothing that it names outside of it may be touched."""

    def __init__(self, canaries: Canaries, names: tuple[str, ...], owner: dict[str, Any]) -> None:
        study = read_study(QUICKSTART)
        plan = plan_text(make_plan(study.study, assumed_hosts(study.study)))
        self.whole = {"plan.json": plan, "study.yaml": study.text}
        home = canaries.folder
        self.owner = owner
        self.targets = (home / ".bashrc", home / "Documents", home / "nologin", Path("/dev/zero"))
        self.texts = (
            "", ".", "..", "../../..", "b1", "victim", "victim/r1", "victim/r1/b1", "/", "/etc",
            "\0", "\x1b]0;x\7",
            str(home), str(home / "hollow" / "low"), str(home / ".bashrc"), str(home / "Documents"),
            str(home / "density-study/victim/r1/b1/node"),
            os.path.relpath(home / "etc", home.parent / "runs/s/r/builds"),
            "-oProxyCommand=touch " + str(home / "pwned"), "qemu:///system?command=" + str(home / "pwned"),
            "127.0.0.1", "x" * 5000, *names,
        )  # fmt: skip

    def folder(self, root: Path, random: Random) -> None:
        root.mkdir(parents=True, mode=0o755)
        tag = f"{root.parent.name}/{root.name}"
        lines = [self._line(tag, random) for _ in range(random.randint(1, 8))]
        if random.random() < 0.8:
            lines.insert(0, opened(random.choice((tag, tag, *self.texts)), self.owner))
        if random.random() < 0.3:
            lines.append({"event": "run-ended", "outcome": "failed", "message": "\x1b[8m"})
        text = b"\n".join(self._encoded(line, random) for line in lines)
        (root / "journal.jsonl").write_bytes(text + random.choice((b"\n", b"", b"\0" * 100)))
        for name, whole in self.whole.items():
            content = random.choice((whole, whole, whole, "", "{}", "[" * 200, '{"format": 1}'))
            if random.random() < 0.1:
                at = random.randrange(len(content) + 1)
                content = (
                    content[:at] + random.choice(('"', "1e999", "-", "[", "null")) + content[at:]
                )
            (root / name).write_text(content)
        for _ in range(random.randint(0, 3)):
            self._replace(root / random.choice(FILES), random)

    def _line(self, tag: str, random: Random) -> dict[str, Any]:
        text = random.choice(self.texts)
        mark = random.choice((f"{tag}/b1", f"{tag}/b1", tag, text))
        if random.random() < 0.4:
            return build(tag, random.choice(PROVIDERS), random.choice(("b1", text)))
        if random.random() < 0.7:
            fields = {
                name: random.choice(self.texts) for name in ("path", "node", "via", "uri", "aside")
            }
            former = {random.choice(self.texts): random.choice(self.texts)}
            network = {"device": "lo", "mtu": 1500, "files": former}
            host = random.choice(("", "", "h1", text))
            return intent(random.choice(ACTS), mark, build="b1", host=host,
                          former=random.choice((former, network)), **fields)  # fmt: skip
        target = {"host": "h1", "address": text, "port": random.choice((22, 0, -1, 10**6)), "user": text,
                  "known_hosts": random.choice(self.texts)}  # fmt: skip
        return {
            "event": random.choice(EVENTS), "tag": mark, "build": text, "node": "h1", "target": target,
            "outcome": random.choice(("ok", "failed")), "message": text, "owner": self.owner, "study": text,
            "run": text, "until": random.choice((0, 1e300, -1)), "trials": [text], "tags": {"a": text},
            "trial": text, "index": random.choice((0, -1, 10**9)), "kind": "trial", "proof": {},
            "seconds": random.choice(({}, 1e300, -1)),
            "label": text, "name": text, "stage": text,
        }  # fmt: skip

    def _encoded(self, line: dict[str, Any], random: Random) -> bytes:
        entry = {"format": 1, "t": 1.7e9, **line}
        luck = random.random()
        if luck < 0.05:
            key = random.choice(list(entry))
            entry[key] = random.choice((None, 1, [], {}, "x", True, -1, 10**400, {"a": []}))
        text = json.dumps(entry).encode()
        if luck > 0.97:
            return text[: random.randrange(len(text))]
        if luck > 0.95:
            at = random.randrange(len(text))
            return text[:at] + random.randbytes(8) + text[at:]
        if luck > 0.93:
            return random.choice((b"1", b"[]", b"null", b"[" * 50_000, b"x" * 3_000_000))
        return text

    def _replace(self, path: Path, random: Random) -> None:
        above = [part for part in path.parents if os.path.lexists(part)]
        if any(part.is_symlink() or not part.is_dir() for part in above):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        kinds: tuple[Callable[[], object], ...] = (
            lambda: path.symlink_to(random.choice(self.targets)),
            lambda: path.symlink_to(os.path.relpath(random.choice(self.targets), path.parent)),
            lambda: os.mkfifo(path),
            lambda: path.mkdir(),
            lambda: path.write_text(random.choice(("", "{}", "[" * 5000, "\x1b[2J"))),
        )
        random.choice(kinds)()
        if random.random() < 0.2 and not path.is_symlink():
            path.chmod(random.choice((0o777, 0o000, 0o4755)))
        if random.random() < 0.1 and os.geteuid() == 0:
            os.chown(path, 12345, 12345, follow_symlinks=False)
