"""What images may hold, on devices and page-locked on the host, and what is kept for the next ones."""

from __future__ import annotations

import ctypes
from ctypes import c_size_t
from typing import NamedTuple

from . import _structures as structures
from ._library import check, library
from ._places import place_number


class DeviceLimit(NamedTuple):
    #: the most that images hold together; 0: no limit
    limit_bytes: int
    #: what is to stay free of the device's memory
    headroom_bytes: int


class HostMemory(NamedTuple):
    """Page-locked memory of the process."""

    #: page-locked now: of images, kept for reuse, and the library's own buffers
    locked_bytes: int
    locked_limit_bytes: int
    #: kept for reuse
    pooled_bytes: int
    pool_limit_bytes: int
    #: buffers through which memory that is not page-locked is copied
    staging_bytes: int


def _size(name: str, value: int) -> int:
    """As size_t, which would take a negative number for a very large one."""
    size = value.__index__()
    if not 0 <= size < 2**63:
        raise ValueError(f"{name} = {value}, expected bytes >= 0")
    return size


def set_device_limit(device: int, limit_bytes: int, headroom_bytes: int = 0) -> None:
    """Limits what images hold on a device (0: no limit), and keeps ``headroom_bytes`` of it free for others."""
    limit, headroom = _size("limit_bytes", limit_bytes), _size("headroom_bytes", headroom_bytes)
    check(library.cc_device_set_limit(device, limit, headroom))


def device_limit(device: int = 0) -> DeviceLimit:
    """What :func:`set_device_limit` set."""
    limit, headroom = c_size_t(), c_size_t()
    check(library.cc_device_get_limit(device, limit, headroom))
    return DeviceLimit(limit.value, headroom.value)


def host_memory() -> HostMemory:
    """What the process has of page-locked memory, and how much it may have."""
    state = structures.HostMemoryState(ctypes.sizeof(structures.HostMemoryState))
    check(library.cc_host_get_memory_state(state))
    return HostMemory(*(int(getattr(state, name)) for name in HostMemory._fields))


def set_host_limits(*, locked_bytes: int | None = None, pool_bytes: int | None = None) -> None:
    """The most host memory that is page-locked, over all images, and that is kept for reuse; None: as it is.

    With ``locked_bytes=0`` nothing is page-locked from then on, and pixels move more slowly.
    """
    locked = None if locked_bytes is None else _size("locked_bytes", locked_bytes)
    pool = None if pool_bytes is None else _size("pool_bytes", pool_bytes)
    if locked is not None:
        library.cc_host_set_locked_limit(locked)
    if pool is not None:
        library.cc_host_set_pool_limit(pool)


def trim(place: int | str | None = None, keep_bytes: int = 0) -> None:
    """Gives back what is kept for reuse, but for ``keep_bytes``: the host's to the system, a device's to the driver.

    ``place``: "cpu", "cuda:1" or 1; None for the host and every device. No image loses anything.
    """
    keep = _size("keep_bytes", keep_bytes)
    if place is None:
        places = range(structures.PLACE_HOST, library.cc_device_count())
    else:
        number = place_number(place)
        if number == structures.DEVICE_CURRENT:
            current = ctypes.c_int32()
            check(library.cc_device_get_current(current))
            number = current.value
        places = range(number, number + 1)
    for each in places:
        if each == structures.PLACE_HOST:
            library.cc_host_trim(keep)
        else:
            check(library.cc_device_trim(each, keep))
