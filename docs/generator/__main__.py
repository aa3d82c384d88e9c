"""Write every generated page below docs/reference/ (`make reference`)."""

from __future__ import annotations

from density_study.cluster.state.atomic import write_text
from density_study.dags.airflow_home.home import project_root
from docs.generator.pages import FOLDER, pages

for name, text in pages().items():
    path = project_root() / FOLDER / name
    write_text(path, text)  # whole at any moment: tests may read the pages meanwhile
