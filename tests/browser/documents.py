"""README as a code host shows it, and the site of `make docs`."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

from markdown import markdown

from density_study.dags.airflow_home.home import project_root

CHECKOUT = project_root()
SITE_OF = ("docs/index.md", "docs/site.css", "docs/report.png", "properdocs.yml")
"""What the site's first page is made of."""
_STYLE = """
body { max-width: 980px; margin: 0 auto; padding: 32px; font: 16px/1.5 sans-serif; color-scheme: light dark }
img { max-width: 100% }
table { display: block; overflow-x: auto; border-collapse: collapse }
th, td { border: 1px solid #8884; padding: 6px 13px; text-align: left }
pre { overflow-x: auto; padding: 16px; background: #8882 }
"""


def readme() -> str:
    """As HTML of one file: in a column, tables and code as wide as they are."""
    body = markdown(
        (CHECKOUT / "README.md").read_text("utf-8"), extensions=["tables", "fenced_code"]
    )
    inlined = re.sub(r'src="(docs/[^"]+)"', lambda found: f'src="{_data(found[1])}"', body)
    width = '<meta name="viewport" content="width=device-width">'
    return f'<!doctype html><html lang="en">{width}<style>{_STYLE}</style><body>{inlined}</body></html>'


def _data(name: str) -> str:
    return f"data:image/png;base64,{base64.b64encode((CHECKOUT / name).read_bytes()).decode()}"


def build_site(folder: Path) -> Path:
    """The first page of the site, built into `folder`. AssertionError with the output, if a step fails."""
    for argv in (
        [sys.executable, "-m", "docs.generator"],
        [sys.executable, "-m", "docs.generator.sample"],
        [sys.executable, "-m", "docs.generator.recording"],
        [str(Path(sys.executable).parent / "properdocs"), "build", "--strict", "--site-dir", str(folder)],
    ):  # fmt: skip
        done = subprocess.run(argv, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "index.html"
