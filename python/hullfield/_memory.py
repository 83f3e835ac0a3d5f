"""The host's memory."""

from __future__ import annotations

import os

from hullfield._errors import MemoryLimitError
from hullfield._scalars import U64, whole


def available_bytes() -> int | None:
    """How many bytes of memory can be had without swapping; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require(what: str, needed_bytes: int, limit_bytes: int | None) -> None:
    """Refuses work whose answer does not fit into a limit, or, without one, into what the host has free."""
    limit = available_bytes() if limit_bytes is None else whole("memory_limit", limit_bytes, U64)
    if limit is not None and needed_bytes > limit:
        raise MemoryLimitError(f"{what} needs {needed_bytes} bytes of memory, the limit is {limit}")
