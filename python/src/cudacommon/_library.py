"""Finds and loads libcudacommon, and says what its functions take. Loading it touches no driver."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, NoReturn

from . import _structures as structures
from ._errors import BY_STATUS, Error

_SONAME = "libcudacommon.so.2"
_MAJOR = 2

_Status = ctypes.c_int
_handle = c_void_p
_out = POINTER(c_void_p)
_region = POINTER(structures.Region)
_geometry = POINTER(structures.Geometry)
_export = POINTER(structures.ExportParams)
_import = POINTER(structures.ImportParams)
_descriptor = POINTER(structures.Descriptor)

#: name: (what it returns, what it takes)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "cc_version": (c_int32, []),
    "cc_version_string": (c_char_p, []),
    "cc_last_error_message": (c_char_p, []),
    "cc_last_native_error": (c_int32, []),
    "cc_status_name": (c_char_p, [_Status]),
    "cc_device_count": (c_int32, []),
    "cc_device_backend_name": (c_char_p, []),
    "cc_device_memory_info": (_Status, [c_int32, POINTER(c_size_t), POINTER(c_size_t)]),
    "cc_device_set_limit": (_Status, [c_int32, c_size_t, c_size_t]),
    "cc_device_get_limit": (_Status, [c_int32, POINTER(c_size_t), POINTER(c_size_t)]),
    "cc_device_trim": (_Status, [c_int32, c_size_t]),
    "cc_host_get_memory_state": (_Status, [POINTER(structures.HostMemoryState)]),
    "cc_host_set_locked_limit": (None, [c_size_t]),
    "cc_host_set_pool_limit": (None, [c_size_t]),
    "cc_host_trim": (None, [c_size_t]),
    "cc_device_get_current": (_Status, [POINTER(c_int32)]),
    "cc_stream_synchronize": (_Status, [c_int32, c_void_p]),
    "cc_image_create": (_Status, [POINTER(structures.ImageParams), _out]),
    "cc_image_create_view": (_Status, [_handle, _region, _out]),
    "cc_image_release": (None, [_handle]),
    "cc_image_retain": (c_void_p, [_handle]),
    "cc_image_graft": (_Status, [_handle, _handle]),
    "cc_image_resize": (_Status, [_handle, _region]),
    "cc_image_get_region": (structures.Region, [_handle]),
    "cc_image_get_dimension": (c_int32, [_handle]),
    "cc_image_get_components": (c_int32, [_handle]),
    "cc_image_get_pixel_type": (ctypes.c_int, [_handle]),
    "cc_image_get_device": (c_int32, [_handle]),
    "cc_image_set_device": (_Status, [_handle, c_int32]),
    "cc_image_get_size_bytes": (c_size_t, [_handle]),
    "cc_image_get_read_only": (c_int32, [_handle]),
    "cc_image_get_generation": (c_uint64, [_handle]),
    "cc_image_set_index": (_Status, [_handle, POINTER(c_int64)]),
    "cc_image_get_point": (_Status, [_handle, POINTER(c_int64), POINTER(c_double)]),
    "cc_image_get_geometry": (_Status, [_handle, _geometry]),
    "cc_image_set_geometry": (_Status, [_handle, _geometry]),
    "cc_image_set_priority": (_Status, [_handle, c_int32]),
    "cc_image_get_priority": (_Status, [_handle, POINTER(c_int32)]),
    "cc_image_set_label": (_Status, [_handle, c_char_p]),
    "cc_image_get_label": (_Status, [_handle, c_char_p]),
    "cc_image_map_descriptor": (
        _Status,
        [_handle, _region, ctypes.c_int, c_uint32, c_int32, ctypes.c_int, c_void_p, _descriptor],
    ),
    "cc_image_map_texture": (
        _Status,
        [_handle, _region, POINTER(structures.TextureParams), c_void_p, POINTER(structures.Texture)],
    ),
    "cc_image_unmap_texture": (_Status, [_handle, POINTER(structures.Texture), c_void_p]),
    "cc_image_unmap_host": (_Status, [_handle, c_void_p]),
    "cc_image_unmap_device": (_Status, [_handle, c_void_p, c_void_p]),
    "cc_image_describe": (_Status, [_handle, _region, ctypes.c_int, c_uint32, c_int32, _descriptor]),
    "cc_image_prefetch": (_Status, [_handle, _region, c_int32]),
    "cc_image_evict": (_Status, [_handle, c_int32]),
    "cc_image_discard": (_Status, [_handle, _region]),
    "cc_image_fill": (_Status, [_handle, _region, c_void_p, c_void_p]),
    "cc_image_rescale": (_Status, [_handle, c_double, c_double, _handle, c_void_p]),
    "cc_image_evaluate": (_Status, [POINTER(structures.Step), c_int32, _out, c_int32, _handle, c_void_p]),
    "cc_image_reduce": (_Status, [ctypes.c_int, _handle, _handle, _handle, c_void_p]),
    "cc_image_measure": (_Status, [ctypes.c_int, _handle, _handle, c_void_p, POINTER(c_double)]),
    "cc_image_histogram": (_Status, [_handle, c_double, c_double, _handle, c_void_p]),
    "cc_tiles_run": (_Status, [c_void_p]),
    "cc_tiles_rescale": (_Status, [_handle, c_double, c_double, _handle, c_void_p]),
    "cc_tile_wrap": (_Status, [c_void_p, c_int32, _out]),
    "cc_image_copy_region": (_Status, [_handle, _region, _handle, _region, c_void_p]),
    "cc_image_paste": (_Status, [_handle, _handle, POINTER(c_int64), c_void_p]),
    "cc_image_crop": (_Status, [_handle, _region, _handle, c_void_p]),
    "cc_image_create_cropped": (_Status, [_handle, _region, c_void_p, _out]),
    "cc_image_pad": (_Status, [_handle, POINTER(structures.PadParams), _handle, c_void_p]),
    "cc_image_create_padded": (_Status, [_handle, POINTER(structures.PadParams), c_void_p, _out]),
    "cc_image_flip": (_Status, [_handle, c_uint32, _handle, c_void_p]),
    "cc_image_create_flipped": (_Status, [_handle, c_uint32, c_void_p, _out]),
    "cc_image_permute": (_Status, [_handle, POINTER(c_int32), _handle, c_void_p]),
    "cc_image_create_permuted": (_Status, [_handle, POINTER(c_int32), c_void_p, _out]),
    "cc_image_interpolate_frames": (_Status, [_handle, c_double, ctypes.c_int, _handle, c_void_p]),
    "cc_image_splat_frames": (_Status, [_handle, c_double, ctypes.c_int, _handle, c_void_p]),
    "cc_image_average_frames": (_Status, [_handle, _handle, c_void_p]),
    "cc_image_gradient": (_Status, [_handle, ctypes.c_int, c_uint32, _handle, c_void_p]),
    "cc_image_divergence": (_Status, [_handle, ctypes.c_int, c_uint32, _handle, c_void_p]),
    "cc_image_laplacian": (_Status, [_handle, c_uint32, _handle, c_void_p]),
    "cc_image_resample": (_Status, [_handle, POINTER(structures.ResampleParams), _handle, c_void_p]),
    "cc_image_warp": (_Status, [_handle, _handle, POINTER(structures.ResampleParams), _handle, c_void_p]),
    "cc_image_smooth_gaussian": (_Status, [_handle, POINTER(structures.GaussianParams), _handle, c_void_p]),
    "cc_image_convolve_axis": (_Status, [_handle, _handle, POINTER(structures.ConvolveParams), _handle, c_void_p]),
    "cc_filter_run": (_Status, [c_void_p]),
    "cc_image_get_place_state": (_Status, [_handle, c_int32, POINTER(structures.PlaceState)]),
    "cc_image_get_valid_regions": (_Status, [_handle, c_int32, c_int32, _region, POINTER(c_int32)]),
    "cc_image_get_counters": (_Status, [_handle, POINTER(structures.Counters)]),
    "cc_image_reset_counters": (_Status, [_handle]),
    "cc_get_total_counters": (_Status, [POINTER(structures.Counters)]),
    "cc_reset_total_counters": (None, []),
    "cc_live_images": (_Status, [c_int32, POINTER(structures.LiveImage), POINTER(c_int32)]),
    "cc_set_trace": (None, [c_void_p, c_void_p]),
    "cc_image_export": (_Status, [_handle, _export, _descriptor, _out]),
    "cc_loan_release": (None, [c_void_p]),
    "cc_loan_renew": (c_int32, [c_void_p, _handle]),
    "cc_loan_renew_without_asking": (c_int32, [c_void_p, _handle]),
    "cc_image_export_dlpack": (_Status, [_handle, _export, c_uint32, _out]),
    "cc_image_export_dlpack_legacy": (_Status, [_handle, _export, c_uint32, _out]),
    "cc_image_import": (_Status, [_descriptor, _import, _out]),
    "cc_image_import_dlpack": (_Status, [c_void_p, _import, c_void_p, _out]),
    "cc_image_import_dlpack_legacy": (_Status, [c_void_p, _import, c_void_p, _out]),
    "cc_typestr_parse": (_Status, [c_char_p, POINTER(ctypes.c_int)]),
    "cc_dlpack_capsule_name": (c_void_p, [c_int32, c_int32]),
    "cc_dlpack_set_capsule_functions": (None, [c_void_p, c_void_p]),
    "cc_dlpack_destroy_capsule": (None, [c_void_p]),
    "cc_release_queue_create": (_Status, [_out]),
    "cc_release_queue_add": (_Status, [c_void_p, c_uint64, _out]),
    "cc_release_queue_take": (c_int32, [c_void_p, c_int32, POINTER(c_uint64)]),
    "cc_release_to_queue": (None, [c_void_p, c_void_p]),
}


def _candidates() -> list[str]:
    """CUDACOMMON_LIBRARY alone when it is set; else the library inside the package, then the system's."""
    chosen = os.environ.get("CUDACOMMON_LIBRARY")
    if chosen:
        return [chosen]
    inside = Path(__file__).parent / _SONAME
    return [str(inside), _SONAME] if inside.exists() else [_SONAME]


def _load() -> ctypes.CDLL:
    reasons = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as error:
            reasons.append(str(error))
    else:
        raise ImportError(
            f"{_SONAME} could not be loaded: {'; '.join(reasons)}. Install the package (pip install ./python), or name "
            "the library in CUDACOMMON_LIBRARY."
        )
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is older than this package") from None
        function.restype = result
        function.argtypes = arguments
    if library.cc_version() // 10000 != _MAJOR:
        raise ImportError(f"{path} is version {library.cc_version_string().decode()}, expected {_MAJOR}.x")
    return library


library = _load()

version: str = library.cc_version_string().decode()

_last_message = library.cc_last_error_message
_last_native = library.cc_last_native_error


def fail(status: int) -> NoReturn:
    """Raises what a status that is not CC_OK means, with the library's message."""
    error = BY_STATUS.get(status, Error)(_last_message().decode("utf-8", "replace"))
    error.status = status
    error.native_error = _last_native()
    try:
        raise error
    finally:
        # Or this frame and the error would keep each other, and the callers' arrays, until a collection.
        del error


def check(status: int) -> None:
    if status:
        fail(status)


def unchecked(name: str) -> Any:
    """A function of the library for calls that must be quick: it takes ctypes' own objects only, and looks at no types.

    Converting Python's numbers and structs costs more than the call.
    """
    function = library[name]
    function.restype = _SIGNATURES[name][0]
    return function


#: An address for such a function, ready to be passed: a c_void_p would be converted by each call anew.
address_argument = c_void_p.from_param


def address_of(function: Any) -> int:
    """Where a C function is, to be handed to another one."""
    return ctypes.cast(function, c_void_p).value or 0
