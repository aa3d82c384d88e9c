"""No DAG: study files that are not valid, as an import error in Airflow's UI.

A file of its own, because Airflow loads no DAG from a file with an error.
"""

from __future__ import annotations

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.dags.graph.catalogue import study_files

faults = [study.fault for study in study_files() if study.outline is None]
if faults:
    raise InputError(
        "\n" + "\n".join(faults),
        f"{counted(len(faults), 'study file')} without a DAG",
        "`study plan FILE` checks a study file.",
    )
