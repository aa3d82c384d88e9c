"""Names of operations that YCSB measures although no user requests them."""

from __future__ import annotations

THINK = "THINK"
"""The client's own time between two operations of a closed loop, recorded like an operation."""
CLEANUP = "CLEANUP"
"""Clean-up of a client thread that has finished."""
NOT_OF_USERS = (CLEANUP, THINK)
"""Operations that are not user requests."""
READ_MODIFY_WRITE = "READ-MODIFY-WRITE"
