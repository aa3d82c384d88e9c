"""What all tests share."""

from __future__ import annotations

import sys

from hypothesis import settings

# PySpark takes a process whose main module has no file for a doctest, and ends it on import;
# workers of pytest-xdist have none.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

# How fast is asked of `make bench`; on a busy machine an example may take any time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
