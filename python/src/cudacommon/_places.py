"""Where an image's pixels are: the host and the devices."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_int32
from typing import TYPE_CHECKING, Any

from . import _observe
from . import _structures as structures
from ._library import check, library

_NAMED_DEVICES = ("cuda", "gpu")


def place_number(place: Any) -> int:
    """A place as the library numbers them: "cpu" (or "host"), a device's number, "cuda" or "cuda:1"."""
    if isinstance(place, bool) or not isinstance(place, (int, str)):
        raise ValueError(f"place = {place!r}, expected 'cpu', 'cuda', 'cuda:N' or a device's number")
    if isinstance(place, int):
        if place < 0:
            raise ValueError(f"place = {place}, expected 'cpu', 'cuda', 'cuda:N' or a device's number")
        return place
    if place in ("cpu", "host"):
        return structures.PLACE_HOST
    name, colon, number = place.partition(":")
    if name in _NAMED_DEVICES and (not colon or number.isdecimal()):
        return int(number) if colon else structures.DEVICE_CURRENT
    raise ValueError(f"place = {place!r}, expected 'cpu', 'cuda', 'cuda:N' or a device's number")


class Places:
    """What an image has of this."""

    __slots__ = ()

    _handle: Any
    dimension: int

    # What Image has of these is its own.
    if TYPE_CHECKING:

        def _region_of(
            self, index: Sequence[int] | None, size: Sequence[int] | None
        ) -> structures.Region | None: ...

    def prefetch(
        self, place: int | str, *, index: Sequence[int] | None = None, size: Sequence[int] | None = None
    ) -> None:
        """Brings the stale pixels of the region to a place ("cpu", "cuda", "cuda:1", 1) without lending them."""
        check(library.cc_image_prefetch(self._handle, self._region_of(index, size), self._place(place)))

    def evict(self, place: int | str) -> None:
        """Frees the memory that the pixels have at a place. No pixel is lost; BusyError while they are in use there."""
        check(library.cc_image_evict(self._handle, self._place(place)))

    def _place(self, place: int | str) -> int:
        number = place_number(place)
        return self._device_number() if number == structures.DEVICE_CURRENT else number

    def _device_number(self) -> int:
        """The image's device, which is the current one when it has none yet."""
        device = library.cc_image_get_device(self._handle)
        if device == structures.DEVICE_CURRENT:
            current = c_int32()
            check(library.cc_device_get_current(current))
            check(library.cc_image_set_device(self._handle, current.value))
            device = current.value
        return int(device)

    @property
    def priority(self) -> int:
        """Images with a higher number stay on a device longer when its memory is short."""
        priority = c_int32()
        check(library.cc_image_get_priority(self._handle, priority))
        return priority.value

    @priority.setter
    def priority(self, priority: int) -> None:
        check(library.cc_image_set_priority(self._handle, priority))

    def state(self, place: int | str = "cpu") -> _observe.PlaceState:
        """What there is of the pixels at a place. Looking changes nothing."""
        return _observe.place_state(self._handle, self._place(place))

    def valid_regions(self, place: int | str = "cpu") -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The boxes that are up to date at a place, each as (index, size) along i, j, k, l."""
        return _observe.valid_regions(self._handle, self._place(place), self.dimension)

    @property
    def counters(self) -> _observe.Counters:
        """What the pixels have cost: copies, bytes, allocations."""
        return _observe.image_counters(self._handle)

    def reset_counters(self) -> None:
        check(library.cc_image_reset_counters(self._handle))

    def trace(self) -> _observe.Trace:
        """``with image.trace() as events``: what happens to the image's pixels, and why."""
        return _observe.Trace(pixels_id=_observe.pixels_id(self._handle))
