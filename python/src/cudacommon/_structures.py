"""The C library's structs, as the headers have them. tests/test_structures.py compares them with a compiler's view."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

MAX_DIMENSION = 4

PLACE_HOST = -1
DEVICE_CURRENT = -2

READ = 0
WRITE = 1
READ_WRITE = 2

ORDER_C = 0
ORDER_K = 1

Index = c_int64 * MAX_DIMENSION
Vector = c_double * MAX_DIMENSION
Matrix = c_double * (MAX_DIMENSION * MAX_DIMENSION)


class Region(Structure):
    _fields_ = [("index", Index), ("size", Index)]


class ImageParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dimension", c_int32),
        ("pixel_type", c_int32),
        ("components", c_int32),
        ("device", c_int32),
        ("flags", c_uint32),
        ("region", Region),
        ("spacing", Vector),
        ("origin", Vector),
        ("direction", Matrix),
    ]


class Descriptor(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("version", c_int32),
        ("ndim", c_int32),
        ("place", c_int32),
        ("data", c_void_p),
        ("stream", c_void_p),
        ("shape", c_int64 * (MAX_DIMENSION + 1)),
        ("strides_bytes", c_int64 * (MAX_DIMENSION + 1)),
        ("typestr", c_char * 8),
        ("pixel_type", c_int32),
        ("itemsize_bytes", c_int32),
        ("read_only", c_int32),
        ("c_contiguous", c_int32),
        ("f_contiguous", c_int32),
        ("pending", c_uint32),
    ]


class PlaceState(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("mapping_count", c_int32),
        ("memory_bytes", c_uint64),
        ("valid_pixels", c_int64),
        ("constant_pixels", c_int64),
        ("locked_bytes", c_uint64),
        ("loan_count", c_int32),
        ("reserved", c_uint32),
        ("texture_bytes", c_uint64),
    ]


class HostMemoryState(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("locked_bytes", c_uint64),
        ("locked_limit_bytes", c_uint64),
        ("pooled_bytes", c_uint64),
        ("pool_limit_bytes", c_uint64),
        ("staging_bytes", c_uint64),
    ]


class PathCounters(Structure):
    _fields_ = [("copies", c_uint64), ("bytes", c_uint64)]


class Counters(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("host_to_device_copies", c_uint64),
        ("host_to_device_bytes", c_uint64),
        ("device_to_host_copies", c_uint64),
        ("device_to_host_bytes", c_uint64),
        ("device_to_device_copies", c_uint64),
        ("device_to_device_bytes", c_uint64),
        ("fills", c_uint64),
        ("avoided_copies", c_uint64),
        ("avoided_bytes", c_uint64),
        ("host_allocations", c_uint64),
        ("device_allocations", c_uint64),
        ("host_to_device_paths", PathCounters * 6),
        ("device_to_host_paths", PathCounters * 6),
        ("evictions", c_uint64),
        ("transfer_nanoseconds", c_uint64),
        ("texture_updates", c_uint64),
    ]


class LiveImage(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("pixel_type", c_int32),
        ("components", c_int32),
        ("dimension", c_int32),
        ("device", c_int32),
        ("mapping_count", c_int32),
        ("image", c_void_p),
        ("region", Region),
        ("size_bytes", c_uint64),
        ("pixels_id", c_uint64),
        ("host_bytes", c_uint64),
        ("device_bytes", c_uint64),
        ("label", c_char * 64),
    ]


class TraceEvent(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_int32),
        ("path", c_int32),
        ("box_count", c_int32),
        ("from_place", c_int32),
        ("to_place", c_int32),
        ("bytes", c_uint64),
        ("pixels_id", c_uint64),
        ("box", Region),
        ("label", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
        ("reason", ctypes.c_char_p),
    ]


#: cc_trace_fn and cc_release_fn
TraceFunction = ctypes.CFUNCTYPE(None, POINTER(TraceEvent), c_void_p)
ReleaseFunction = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Geometry(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dimension", c_int32),
        ("index", Index),
        ("spacing", Vector),
        ("origin", Vector),
        ("direction", Matrix),
    ]


class ExportParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("region", POINTER(Region)),
        ("order", c_int32),
        ("access", c_int32),
        ("place", c_int32),
        ("reserved", c_uint32),
        ("stream", c_void_p),
    ]


class ImportParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("dimension", c_int32),
        ("order", c_int32),
        ("geometry", POINTER(Geometry)),
        ("release", c_void_p),
        ("user_data", c_void_p),
        ("memory", c_void_p),
        ("memory_bytes", c_size_t),
    ]


class Operand(Structure):
    _fields_ = [
        ("value", c_double),
        ("kind", c_int32),
        ("number", c_int32),
        ("component", c_int32),
        ("reserved", c_int32),
    ]


class Step(Structure):
    _fields_ = [
        ("kind", c_int32),
        ("reserved", c_int32),
        ("a", Operand),
        ("b", Operand),
    ]


class TextureParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("shape", c_int32),
        ("filter", c_int32),
        ("read", c_int32),
        ("address", c_int32 * 3),
    ]


class Texture(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("object_count", c_int32),
        ("channels", c_int32),
        ("device", c_int32),
        ("region", Region),
        ("library", c_void_p),
        ("objects", c_uint64 * 16),
    ]


class TilePixels(Structure):
    _fields_ = [
        ("pixels", c_void_p),
        ("strides_bytes", c_int64 * MAX_DIMENSION),
        ("region", Region),
    ]


class Tile(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("place", c_int32),
        ("stream", c_void_p),
        ("number", c_int64),
        ("count", c_int64),
        ("output", TilePixels),
        ("inputs", POINTER(TilePixels)),
        ("input_count", c_int32),
        ("reserved", c_int32),
        ("library", c_void_p),
    ]


#: cc_tile_fn, cc_tiles_progress_fn and cc_tiles_region_fn
TileFunction = ctypes.CFUNCTYPE(c_int32, POINTER(Tile), c_void_p)
TilesProgressFunction = ctypes.CFUNCTYPE(c_int32, c_int64, c_int64, c_void_p)
TilesRegionFunction = ctypes.CFUNCTYPE(c_int32, POINTER(Region), POINTER(Region), c_void_p)


class TilesInput(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("image", c_void_p),
        ("halo_before", c_int64 * MAX_DIMENSION),
        ("halo_after", c_int64 * MAX_DIMENSION),
        ("scale_numerator", c_int32 * MAX_DIMENSION),
        ("scale_denominator", c_int32 * MAX_DIMENSION),
        ("offset", c_int64 * MAX_DIMENSION),
        ("region", TilesRegionFunction),
        ("user_data", c_void_p),
    ]


class TilesParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("place", c_int32),
        ("limit_bytes", c_size_t),
        ("buffer_count", c_int32),
        ("input_count", c_int32),
        ("inputs", POINTER(TilesInput)),
        ("output", c_void_p),
        ("function", TileFunction),
        ("progress", TilesProgressFunction),
        ("user_data", c_void_p),
    ]


AxisOrder = c_int32 * MAX_DIMENSION


class PadParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("border", c_int32 * MAX_DIMENSION),
        ("lower", Index),
        ("upper", Index),
        ("value", c_void_p),
    ]


class ResampleParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("interpolation", c_int32),
        ("outside", c_double),
        ("matrix", c_double * 3 * 3),
        ("offset", c_double * 3),
    ]


class GaussianParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("unit", c_int32),
        ("sigma", Vector),
        ("truncate", c_double),
        ("border", c_int32),
        ("reserved", c_int32),
        ("border_value", c_double),
    ]


class ConvolveParams(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("axis", c_int32),
        ("domain", c_int32),
        ("reserved", c_int32),
        ("centre", c_int64),
        ("length", c_int64),
    ]


class Filter(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("input_count", c_int32),
        ("inputs", POINTER(c_void_p)),
        ("output", c_void_p),
        ("on_device", TileFunction),
        ("on_host", TileFunction),
        ("user_data", c_void_p),
        ("place", c_int32),
        ("reserved", c_uint32),
        ("stream", c_void_p),
    ]


EXPORT_COMPONENT_AXIS = 1
EXPORT_STREAM_KNOWN = 2

IMPORT_STRIDED = 1
IMPORT_REUSED = 2
IMPORT_BORROWED = 4
IMPORT_OWN_GEOMETRY = 8
IMPORT_WRITABLE = 16
IMPORT_CONTIGUOUS = 32

DLPACK_COPY = 1
DLPACK_FORCE = 2
