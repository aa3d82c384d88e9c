"""Operations that YCSB measures and that are no user's request of their own."""

from __future__ import annotations

THINK = "THINK"
"""The client's own time between two operations of a closed loop, measured as if it were one."""
CLEANUP = "CLEANUP"
"""Of a client thread that has done all it had to do."""
NOT_OF_USERS = (CLEANUP, THINK)
"""What YCSB measures that no user asked for."""
READ_MODIFY_WRITE = "READ-MODIFY-WRITE"
