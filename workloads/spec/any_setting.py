"""`AnySetting`: a field of plans and manifests that holds a setting of any registered workload."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from cluster.model.errors import InputError
from workloads.base.setting import Setting
from workloads.spec.registry import kind_of


def parse_setting(value: Any) -> Any:
    """A setting from its JSON form; the key `workload` names its class. ValueError if it is not valid."""
    if not isinstance(value, dict):
        return value
    try:
        kind = kind_of(str(value.get("workload")))
    except InputError as error:
        raise ValueError(str(error)) from error
    return kind.setting.model_validate(value)


AnySetting = Annotated[SerializeAsAny[Setting], BeforeValidator(parse_setting)]
