"""As in the project: no DAG, and an import error if a study file is not valid. For Airflow to find."""

import density_study.dags.invalid_studies  # noqa: F401
