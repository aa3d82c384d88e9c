"""Write every generated page below docs/reference/ (`make reference`)."""

from __future__ import annotations

from density_study.dags.airflow_home.home import project_root
from docs.generator.pages import FOLDER, pages

for name, text in pages().items():
    path = project_root() / FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
