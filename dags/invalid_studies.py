"""No DAG: study files that are not valid, as an import error in Airflow's UI.

A file of its own, because Airflow loads no DAG from a file with an error. The process of `study run` reads it
too, but has no use for other studies, whose outlines would take seconds after each change of the code.
"""

from __future__ import annotations

import os

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.dags.airflow_home.home import OPEN_RUN
from density_study.dags.graph.catalogue import study_files

studies = () if OPEN_RUN in os.environ else study_files()
faults = [study.fault for study in studies if study.outline is None]
if faults:
    raise InputError(
        "\n" + "\n".join(faults),
        f"{counted(len(faults), 'study file')} without a DAG",
        "`study plan FILE` checks a study file.",
    )
