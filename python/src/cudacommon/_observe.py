"""Seeing what the library does: states, counters, traces, what is alive. Looking changes nothing."""

from __future__ import annotations

import atexit
import ctypes
import threading
from collections.abc import Callable
from ctypes import c_int32, c_size_t
from types import TracebackType
from typing import Any, NamedTuple

from . import _structures as structures
from ._library import address_of, check, library
from ._pixel import name_of

_KINDS = (
    "copy_to_device",
    "copy_to_host",
    "copy_between_devices",
    "fill",
    "allocate",
    "free",
    "evict",
    "register",
)
_PATHS = ("engine", "kernel", "staged", "plain")


def place_name(place: int) -> str:
    return "cpu" if place == structures.PLACE_HOST else f"cuda:{place}"


class PlaceState(NamedTuple):
    """An image's pixels at one place."""

    #: mappings at the place, of all images that share the pixels
    mappings: int
    #: loans at the place, of all images that share the pixels
    loans: int
    #: memory held there, for all pixels that are shared
    memory_bytes: int
    #: pixels of this image that are up to date there
    valid_pixels: int
    #: pixels of this image that are known to be the fill value, and so are valid everywhere
    constant_pixels: int
    #: on the host: what of the memory is page-locked
    locked_bytes: int
    #: on a device: what textures of the pixels hold beside that
    texture_bytes: int


class PathCounters(NamedTuple):
    copies: int
    bytes: int


class Counters(NamedTuple):
    """What pixels have cost, since they were made or the counters were reset."""

    host_to_device_copies: int
    host_to_device_bytes: int
    device_to_host_copies: int
    device_to_host_bytes: int
    device_to_device_copies: int
    device_to_device_bytes: int
    fills: int
    avoided_copies: int
    avoided_bytes: int
    host_allocations: int
    device_allocations: int
    evictions: int
    transfer_nanoseconds: int
    #: times that pixels were copied into a texture
    texture_updates: int
    #: by the way taken: "engine", "kernel", "staged", "plain"
    host_to_device_paths: dict[str, PathCounters]
    device_to_host_paths: dict[str, PathCounters]


class LiveImage(NamedTuple):
    """An image of the process, of this binding or any other user of the library."""

    label: str
    size: tuple[int, ...]
    dtype_name: str
    components: int
    place: str
    mappings: int
    size_bytes: int
    #: the same for images that share pixels
    pixels_id: int
    host_bytes: int
    device_bytes: int


class TraceEvent(NamedTuple):
    """Something that happened to pixels."""

    #: "copy_to_device", "copy_to_host", "copy_between_devices", "fill", "allocate", "free", "evict", "register"
    kind: str
    from_place: str
    to_place: str
    bytes: int
    boxes: int
    #: of a copy: "engine", "kernel", "staged", "plain"; else ""
    path: str
    pixels_id: int
    label: str
    #: the C function that needed it
    function: str
    #: in words, for people
    reason: str


class MemoryInfo(NamedTuple):
    free_bytes: int
    total_bytes: int


def place_state(handle: Any, place: int) -> PlaceState:
    state = structures.PlaceState(ctypes.sizeof(structures.PlaceState))
    check(library.cc_image_get_place_state(handle, place, state))
    return PlaceState(
        state.mapping_count,
        state.loan_count,
        state.memory_bytes,
        state.valid_pixels,
        state.constant_pixels,
        state.locked_bytes,
        state.texture_bytes,
    )


def valid_regions(handle: Any, place: int, dimension: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    count = c_int32(16)
    while True:
        capacity = count.value
        regions = (structures.Region * max(capacity, 1))()
        check(library.cc_image_get_valid_regions(handle, place, capacity, regions, count))
        if count.value <= capacity:
            return [
                (tuple(region.index[:dimension]), tuple(region.size[:dimension])) for region in regions[: count.value]
            ]


def _counters(counters: structures.Counters) -> Counters:
    def by_path(paths: Any) -> dict[str, PathCounters]:
        return {name: PathCounters(entry.copies, entry.bytes) for name, entry in zip(_PATHS, paths)}

    values: dict[str, Any] = {
        name: getattr(counters, name) for name in Counters._fields if not name.endswith("_paths")
    }
    return Counters(
        host_to_device_paths=by_path(counters.host_to_device_paths),
        device_to_host_paths=by_path(counters.device_to_host_paths),
        **values,
    )


def image_counters(handle: Any) -> Counters:
    counters = structures.Counters(ctypes.sizeof(structures.Counters))
    check(library.cc_image_get_counters(handle, counters))
    return _counters(counters)


def total_counters() -> Counters:
    """The sums over all pixels of the process, also those that are gone."""
    counters = structures.Counters(ctypes.sizeof(structures.Counters))
    check(library.cc_get_total_counters(counters))
    return _counters(counters)


def reset_total_counters() -> None:
    """Lets the totals begin at 0 again. The counters of images stay as they are."""
    library.cc_reset_total_counters()


def _live() -> list[structures.LiveImage]:
    count = c_int32(64)
    while True:
        capacity = max(count.value, 1)
        images = (structures.LiveImage * capacity)()
        images[0].struct_size = ctypes.sizeof(structures.LiveImage)
        check(library.cc_live_images(capacity, images, count))
        if count.value <= capacity:
            return list(images[: count.value])
        count.value += 16


def live_images() -> list[LiveImage]:
    """The images of the process, views and grafts too: for finding out who holds memory."""
    return [
        LiveImage(
            image.label.decode("utf-8", "replace"),
            tuple(image.region.size[: image.dimension]),
            name_of(image.pixel_type),
            image.components,
            "undecided" if image.device == structures.DEVICE_CURRENT else place_name(image.device),
            image.mapping_count,
            image.size_bytes,
            image.pixels_id,
            image.host_bytes,
            image.device_bytes,
        )
        for image in _live()
    ]


def pixels_id(handle: Any) -> int:
    for image in _live():
        if image.image == handle.value:
            return int(image.pixels_id)
    return 0


def device_count() -> int:
    """How many devices images can live on; 0 without a GPU, a driver, or CUDA in the library."""
    return int(library.cc_device_count())


def device_backend() -> str:
    """ "cuda", "emulated" or "none"."""
    return str(library.cc_device_backend_name().decode())


def device_memory(device: int = 0) -> MemoryInfo:
    """How much memory a device has, and how much of it nobody uses."""
    free, total = c_size_t(), c_size_t()
    check(library.cc_device_memory_info(device, free, total))
    return MemoryInfo(free.value, total.value)


def synchronize(device: int = 0, stream: Any = None) -> None:
    """Waits until everything queued in a stream of a device is done."""
    from ._streams import stream_handle

    check(library.cc_stream_synchronize(device, stream_handle(stream)))


def describe_places(handle: Any, size: tuple[int, ...]) -> str:
    """Where the pixels are, in a few words."""
    pixels = 1
    for count in size:
        pixels *= count
    if pixels == 0:
        return "empty"
    words = []
    for place in range(structures.PLACE_HOST, device_count()):
        state = place_state(handle, place)
        if state.constant_pixels == pixels:
            return "one value, no memory needed yet" if state.memory_bytes == 0 else "one value"
        valid = state.valid_pixels
        if valid:
            words.append(place_name(place) + ("" if valid == pixels else f" ({100 * valid // pixels} %)"))
        if state.loans:
            words.append(f"lent on {place_name(place)}")
    return "valid on " + ", ".join(words) if words else "undefined"


_trace_lock = threading.RLock()
_listeners: list[Callable[[TraceEvent], None]] = []


def _tell(event: Any, user_data: Any) -> None:
    seen = event.contents
    told = TraceEvent(
        _KINDS[seen.kind] if seen.kind < len(_KINDS) else str(seen.kind),
        place_name(seen.from_place),
        place_name(seen.to_place),
        seen.bytes,
        seen.box_count,
        (_PATHS[seen.path] if seen.path < len(_PATHS) else str(seen.path)) if seen.kind <= 2 else "",
        seen.pixels_id,
        seen.label.decode("utf-8", "replace"),
        seen.function.decode(),
        seen.reason.decode("utf-8", "replace"),
    )
    for listener in list(_listeners):
        listener(told)


_on_event = structures.TraceFunction(_tell)


def _listen(listener: Callable[[TraceEvent], None]) -> None:
    with _trace_lock:
        _listeners.append(listener)
        if len(_listeners) == 1:
            library.cc_set_trace(address_of(_on_event), None)


def _stop_listening(listener: Callable[[TraceEvent], None]) -> None:
    with _trace_lock:
        if listener in _listeners:
            _listeners.remove(listener)
            if not _listeners:
                library.cc_set_trace(None, None)


@atexit.register
def _stop_all() -> None:
    """No event may reach Python once it is going away."""
    with _trace_lock:
        if _listeners:
            _listeners.clear()
            library.cc_set_trace(None, None)


class Trace:
    """``with trace() as events``: a list that grows by each event, of all images or of one's pixels.

    ``callback`` is called with each event instead, on the thread that caused it.
    """

    def __init__(self, callback: Callable[[TraceEvent], None] | None = None, *, pixels_id: int | None = None) -> None:
        self.events: list[TraceEvent] = []
        self._callback = callback or self.events.append
        self._pixels_id = pixels_id

    def _hear(self, event: TraceEvent) -> None:
        if self._pixels_id is None or event.pixels_id == self._pixels_id:
            self._callback(event)

    def __enter__(self) -> list[TraceEvent]:
        self._listener = self._hear
        _listen(self._listener)
        return self.events

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _stop_listening(self._listener)


def trace(callback: Callable[[TraceEvent], None] | None = None) -> Trace:
    """Everything that happens to pixels of the process, as long as the with statement lasts."""
    return Trace(callback)
