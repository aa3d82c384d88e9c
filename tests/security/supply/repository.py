"""A repository of Maven behind a proxy, with a login, on loopback: what it was asked for, what it serves."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

LOGIN = ("reader", "a pass&word")
HOST = "repository.invalid"
SETTINGS = """\
<settings>
  <mirrors><mirror><id>ours</id><mirrorOf>*</mirrorOf><url>http://{host}/maven</url></mirror></mirrors>
  <servers><server><id>ours</id><username>reader</username><password>a pass&amp;word</password></server>
  </servers>
  <proxies><proxy><active>true</active><protocol>http</protocol><host>127.0.0.1</host><port>{port}</port></proxy>
  </proxies>
</settings>
"""
PROJECT = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.toy</groupId><artifactId>{name}</artifactId><version>1</version>{more}
</project>
"""
HOSTILE = """
  <parent><groupId>org.toy</groupId><artifactId>parent</artifactId><version>1</version></parent>
  <build><extensions><extension><groupId>org.evil</groupId><artifactId>extension</artifactId><version>1</version>
  </extension></extensions><plugins><plugin><groupId>org.evil</groupId><artifactId>plugin</artifactId>
  <version>1</version><extensions>true</extensions></plugin></plugins></build>
  <repositories><repository><id>evil</id><url>http://evil.invalid/</url></repository></repositories>
  <dependencies><dependency><groupId>org.toy</groupId><artifactId>b</artifactId><version>1</version></dependency>
  </dependencies>"""
PARENT = """<packaging>pom</packaging>
  <licenses><license><name>Toy; Licence</name></license></licenses>
  <build><plugins><plugin><groupId>org.evil</groupId><artifactId>plugin</artifactId><version>1</version></plugin></plugins>
  </build>"""


class Repository:
    """`files`: path -> content. `asked`: paths of all requests, and those that were refused."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.refused: list[str] = []
        self.files: dict[str, bytes] = {}
        for name, more in (("a", HOSTILE), ("b", ""), ("parent", PARENT)):
            self.add(
                f"org/toy/{name}/1/{name}-1.pom", PROJECT.format(name=name, more=more).encode()
            )
            if name != "parent":
                self.add(f"org/toy/{name}/1/{name}-1.jar", jar(name))

    def add(self, path: str, content: bytes) -> None:
        self.files[f"/maven/{path}"] = content
        self.files[f"/maven/{path}.sha1"] = hashlib.sha1(content).hexdigest().encode()

    @contextmanager
    def served(self) -> Iterator[int]:
        """Its port, as that of a proxy."""
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                address = urlsplit(self.path)
                repository.asked.append(f"{address.hostname}{address.path}")
                login = base64.b64encode(":".join(LOGIN).encode()).decode()
                if self.headers.get("Authorization") != f"Basic {login}":
                    repository.refused.append(address.path)
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="x"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                content = repository.files.get(address.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def jar(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(zipfile.ZipInfo("name.txt"), name)
    return content.getvalue()


def pom(folder: Path) -> Path:
    """A project that needs `a`, which needs `b`."""
    folder.mkdir()
    needs = "<groupId>org.toy</groupId><artifactId>a</artifactId><version>1</version>"
    more = (
        f"<packaging>pom</packaging><dependencies><dependency>{needs}</dependency></dependencies>"
    )
    (folder / "pom.xml").write_text(PROJECT.format(name="toy", more=more))
    return folder / "pom.xml"
