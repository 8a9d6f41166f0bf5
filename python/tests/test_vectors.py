"""Every worked case of interop_vectors.json through Python, in both directions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import as_storage
from cudacommon import _imports
from cudacommon import _structures as structures
from tensors import LEGACY, VERSIONED, Producer, capsule_name, look

PATH = Path(__file__).parents[2] / "tests" / "data" / "interop_vectors.json"
VECTORS: list[dict[str, Any]] = json.loads(PATH.read_text())["vectors"] if PATH.is_file() else []

#: As many as the file has: a row cannot be lost unnoticed.
COUNTS = {
    "export": 83,
    "import_dlpack": 48,
    "import_cai": 47,
    "dlpack_protocol": 24,
    "attribute": 7,
    "geometry": 4,
    "import_array_interface": 3,
}

TYPES = {
    "bool": "bool",
    "u8": "uint8",
    "i8": "int8",
    "u16": "uint16",
    "i16": "int16",
    "u32": "uint32",
    "i32": "int32",
    "u64": "uint64",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}

ERRORS: dict[str, type[Exception] | tuple[type[Exception], ...]] = {
    "E_REGION": cc.RegionError,
    "E_ALIGN": cc.LayoutError,
    "E_LAYOUT": cc.LayoutError,
    "E_OVERFLOW": OverflowError,
    "E_INVALID_ARG": ValueError,
    "E_RANK": ValueError,
    "E_NULL": ValueError,
    "E_DTYPE": (cc.PixelTypeError, cc.UnsupportedError),
    "E_ENDIAN": cc.UnsupportedError,
    "E_READONLY": cc.ReadOnlyError,
    "E_STREAM": cc.StreamError,
    "E_DEVICE": cc.UnsupportedError,
    "E_VERSION": cc.UnsupportedError,
}

#: Rows about pinned and managed images, which the library does not have: on the host its memory is kDLCPU.
NO_SUCH_IMAGES = ("V251", "V263", "V264", "V272", "V273")
#: Rows about the end of an allocation, which no protocol of Python's tells.
NO_SUCH_KNOWLEDGE = ("V132", "V133", "V185")

LARGEST_BYTES = 1 << 20


def rows(*kinds: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in VECTORS if row["kind"] in kinds]


def test_every_row_is_here() -> None:
    if not VECTORS:
        pytest.skip("not in the source tree")
    assert Counter(row["kind"] for row in VECTORS) == COUNTS
    assert len({row["id"] for row in VECTORS}) == len(VECTORS)


# Export


def make_image(given: dict[str, Any], device: str | None) -> cc.Image:
    size, dtype = given["size"], TYPES[given["typ"]]
    components = given.get("comps", 1)
    geometry = {"index": given["index"]} if "index" in given else {}
    if "pitch" not in given and not given.get("readonly"):
        return cc.Image(size, dtype, components, device=device, **geometry)
    # The caller's memory, with a pitch or to be read only.
    item = np.dtype(dtype).itemsize
    strides = [item * components]
    for axis, extent in enumerate(size[:-1]):
        pitched = "pitch" in given and axis == 0
        strides.append(given["pitch"] if pitched else strides[-1] * extent)
    cc.Image(size, dtype, components)
    extent_bytes = sum((extent - 1) * stride for extent, stride in zip(size, strides, strict=True)) + item * components
    memory = np.zeros(min(max(extent_bytes, 0), LARGEST_BYTES) + 64, np.uint8)
    axis, item_stride = ((components,), (item,)) if components > 1 else ((), ())

    class Interface:
        __array_interface__ = {
            "shape": (*size[::-1], *axis),
            "strides": (*strides[::-1], *item_stride),
            "typestr": np.dtype(dtype).str,
            "data": (memory.ctypes.data, bool(given.get("readonly"))),
            "version": 3,
            "owner": memory,
        }

    return cc.from_array(Interface(), len(size), device="cpu", **geometry)


def region_of(given: dict[str, Any]) -> dict[str, Any]:
    if "region" not in given:
        return {}
    return {"index": given["region"][0], "size": given["region"][1]}


@pytest.mark.parametrize("row", rows("export"))
def test_export(row: dict[str, Any]) -> None:
    given, expected = row["input"], row["expect"]
    order = given.get("order", "C")
    axis = given.get("comp_axis", False)
    if expected["status"] != "OK":
        with pytest.raises(ERRORS[expected["status"]]):
            image = make_image(given, "cpu")
            image.layout(order=order, component_axis=axis, **region_of(given))
        return
    image = make_image(given, "cpu")
    layout = image.layout(order=order, component_axis=axis, **region_of(given))
    assert layout.shape == tuple(expected["shape"])
    assert len(layout.shape) == expected["ndim"]
    # Strides of an array without elements mean nothing.
    is_empty = 0 in layout.shape
    assert is_empty or layout.strides == tuple(expected["strides_bytes"])
    assert layout.typestr == (expected["typestr"] or "")
    assert layout.itemsize == expected["itemsize"]
    assert layout.read_only == expected["read_only"]
    assert layout.c_contiguous == expected["c_contiguous"]
    assert layout.f_contiguous == expected["f_contiguous"]
    assert (None if layout.c_contiguous else list(layout.strides)) == expected["cai_strides"]
    if image.nbytes <= LARGEST_BYTES:
        check_arrays(image, row, layout)


def check_arrays(image: cc.Image, row: dict[str, Any], layout: cc.Layout) -> None:
    """The arrays that are made of it: NumPy's in the row's order, and what the protocols say, which list in C order."""
    given, expected = row["input"], row["expect"]
    offset = expected["data_offset_bytes"]
    with image.host(order="C") as whole:
        base = whole.ctypes.data
    part = image.view(**region_of(given)) if region_of(given) else image
    array = cc.asnumpy(part, order=given.get("order", "C"), component_axis=given.get("comp_axis", False), copy=False)
    assert array.shape == layout.shape
    assert array.flags.writeable != expected["read_only"]
    if array.size:
        for found, wanted, extent in zip(array.strides, layout.strides, array.shape, strict=True):
            assert found == wanted or extent == 1
        assert array.ctypes.data - base == offset
        tensor = look(part.__dlpack__(max_version=(1, 0)))
        in_row_order = slice(None) if given.get("order", "C") == "C" else slice(None, None, -1)
        if not given.get("comp_axis"):
            assert tensor.shape[in_row_order] == tuple(expected["shape"])
            assert tensor.strides is not None
            assert tensor.strides[in_row_order] == tuple(expected["dlpack"]["strides_elements"])
        assert tensor.data - base == offset
        assert tensor.byte_offset == expected["dlpack"]["byte_offset"] == 0
        assert tensor.flags == expected["dlpack"]["flags"]
        dtype = expected["dlpack"]
        assert tensor.dtype == (dtype["code"], dtype["bits"], dtype["lanes"])
        if layout.typestr:
            interface = part.__array_interface__
            assert interface["data"] == (base + offset, expected["read_only"])
            assert interface["typestr"] == expected["typestr"]
            if given.get("order", "C") == "C" and not given.get("comp_axis"):
                assert interface["strides"] == (expected["cai_strides"] and tuple(expected["cai_strides"]))
    else:
        assert look(part.__dlpack__(max_version=(1, 0))).data == 0
        assert part.__array_interface__["data"][0] != 0


@pytest.mark.parametrize("row", rows("export"))
def test_export_from_a_device(row: dict[str, Any], needs_device: None) -> None:
    given, expected = row["input"], row["expect"]
    if expected["status"] != "OK" or "pitch" in given or given.get("readonly"):
        pytest.skip("about the host's memory")
    image = make_image(given, None)
    if image.nbytes > LARGEST_BYTES or given.get("order") == "K" or given.get("comp_axis"):
        pytest.skip("only described, or in an order that protocols do not list")
    part = image.view(**region_of(given)) if region_of(given) else image
    tensor = look(part.__dlpack__(max_version=(1, 0), stream=1))
    assert tensor.shape == tuple(expected["shape"])
    if expected["typestr"]:
        interface = part.__cuda_array_interface__
        assert interface["shape"] == tuple(expected["shape"])
        assert interface["strides"] == (expected["cai_strides"] and tuple(expected["cai_strides"]))
        assert interface["typestr"] == expected["typestr"]
        assert interface["version"] == expected["version"]
        if expected["element_count"] == 0:
            assert interface["data"] == (0, False)
        else:
            base = image.__cuda_array_interface__["data"][0]
            assert interface["data"] == (base + expected["data_offset_bytes"], False)


# Import


def allocation(given: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Aligned memory that is long enough for what is not refused before it is looked at."""
    memory = np.zeros(max(given["alloc_bytes"] or 0, 4096) + 64, np.uint8)
    return memory[-memory.ctypes.data % 64 :]


def address(word: str, memory: np.ndarray[Any, Any]) -> int:
    return 0 if word == "NULL" else int(memory.ctypes.data) + int(word.removeprefix("alloc+"))


def check_facts(image: cc.Image, facts: dict[str, Any], pointer: int) -> None:
    assert image.size == tuple(facts["image_size"])
    assert image.components == facts["components"]
    assert image.dtype_name == TYPES[facts["component_type"]]
    assert image.read_only == facts["read_only"]
    if facts["empty"] or image.nbytes > LARGEST_BYTES:
        return
    layout = image.layout(order="K", component_axis=True)
    for found, expected, extent in zip(layout.strides[1:], facts["image_strides_bytes"], image.size, strict=True):
        assert found == expected or extent == 1
    with image.host() as pixels:
        assert pixels.ctypes.data == pointer


def import_or_error(row: dict[str, Any], mode: str, array: Any, pointer: int) -> None:
    given, expected = row["input"], row["expect"]
    arguments = {
        "order": given["order"],
        "strided": mode == "allow_strided",
        "writable": given["want_write"],
    }
    status = expected["status"][mode]
    # The facts of components that do not lie side by side are of pixels that an image cannot have.
    if status == "OK" and expected["facts"]["component_stride_bytes"] != np.dtype(
        TYPES[expected["facts"]["component_type"]]
    ).itemsize and expected["facts"]["components"] > 1:
        status = "E_LAYOUT"
    if status == "OK":
        image = cc.from_array(array, given["image_dim"], **arguments)
        check_facts(image, expected["facts"], pointer)
        return
    with pytest.raises(ERRORS[status]):
        cc.from_array(array, given["image_dim"], **arguments)


@pytest.mark.parametrize("mode", ["dense_only", "allow_strided"])
@pytest.mark.parametrize("row", rows("import_cai", "import_array_interface"))
def test_import_of_an_array_interface(row: dict[str, Any], mode: str) -> None:
    """Rows of both interfaces, on the host: streams aside, the rules are the same."""
    given = row["input"]
    if row["id"] in NO_SUCH_KNOWLEDGE:
        pytest.skip("needs the allocation")
    if row["group"] == "cai-import" and given["stream"] is not None:
        pytest.skip("the array interface has no stream")
    memory = allocation(given)
    pointer = address(given["data"][0], memory)

    class Interface:
        __array_interface__ = {
            "shape": tuple(given["shape"]),
            "typestr": given["typestr"],
            "strides": given["strides"] and tuple(given["strides"]),
            "data": (pointer, given["data"][1]),
            "version": given["version"],
            "memory": memory,
        }

    import_or_error(row, mode, Interface(), pointer)


@pytest.mark.parametrize("row", rows("import_cai"))
def test_streams_of_an_array_interface(row: dict[str, Any]) -> None:
    given, expected = row["input"], row["expect"]
    if expected["status"]["allow_strided"] == "E_STREAM":
        with pytest.raises(cc.StreamError):
            _imports._stream_of(given)
        return
    waits = {"legacy default stream": 0, "per-thread default stream": 2, "that stream": given["stream"]}
    # What waits for nothing is ordered into the legacy stream, where nothing is.
    assert _imports._stream_of(given) == waits.get(expected.get("wait_on", ""), 0)
    interface = {"shape": (1,), "typestr": "|u1", "data": (64, False)}
    descriptor, _ = _imports.describe(interface, structures.DEVICE_CURRENT, _imports._stream_of(given))
    assert (descriptor.stream or 0) == _imports._stream_of(given)


@pytest.mark.parametrize("mode", ["dense_only", "allow_strided"])
@pytest.mark.parametrize("row", rows("import_cai"))
def test_import_of_a_cuda_array_interface(row: dict[str, Any], mode: str, needs_device: None) -> None:
    given, expected = row["input"], row["expect"]
    if row["id"] in NO_SUCH_KNOWLEDGE or row["note"] == "large but legal" or given["stream"] == 94355079556608:
        pytest.skip("needs memory or a stream that is not here")
    backing = cc.Image((8192,), "uint8")
    with backing.device(write=True) as pixels:
        word = given["data"][0]
        pointer = 0 if word == "NULL" else pixels.pointer + int(word.removeprefix("alloc+"))
        interface = {
            "shape": tuple(given["shape"]),
            "typestr": given["typestr"],
            "strides": given["strides"] and tuple(given["strides"]),
            "data": (pointer, given["data"][1]),
            "version": given["version"],
            "mask": None,
        }
        if given["version"] >= 3:
            interface["stream"] = given["stream"]

        class Array:
            __cuda_array_interface__ = interface

        arguments = {"order": given["order"], "strided": mode == "allow_strided"}
        status = expected["status"][mode]
        if status != "OK":
            with pytest.raises(ERRORS[status]):
                cc.from_array(Array(), given["image_dim"], **arguments)
            return
        image = cc.from_array(Array(), given["image_dim"], **arguments)
        facts = expected["facts"]
        assert (image.size, image.components) == (tuple(facts["image_size"]), facts["components"])
        assert image.dtype_name == TYPES[facts["component_type"]]
        assert image.read_only == facts["read_only"]
        if not facts["empty"]:
            with image.device() as mapped:
                assert mapped.pointer == pointer


@pytest.mark.parametrize("mode", ["dense_only", "allow_strided"])
@pytest.mark.parametrize("row", rows("import_dlpack"))
def test_import_of_dlpack(row: dict[str, Any], mode: str) -> None:
    """On the host, where a row does not name another kind of device."""
    given, expected = row["input"], row["expect"]
    if row["id"] in NO_SUCH_KNOWLEDGE:
        pytest.skip("needs the allocation")
    memory = allocation(given)
    data = address(given["data"], memory)
    device = tuple(given["device"])
    if device[0] in (2, 13):
        device = (1, 0)
    dtype = given["dtype"]
    producer = Producer(
        data,
        None if given["shape"] == "NULL" else given["shape"],
        given["strides_elements"],
        (dtype["code"], dtype["bits"], dtype["lanes"]),
        device,
        version=tuple(given["version"]),
        flags=given["flags"],
        byte_offset=given["byte_offset"],
        ndim=given["ndim"],
        keep=memory,
    )
    if device == (3, 0):
        # Page-locked memory is the host's; the address alone says nothing on a machine without a driver.
        assert expected["status"][mode] == "OK"
    import_or_error(row, mode, producer, data + given["byte_offset"])
    is_taken = expected["status"][mode] == "OK" and not (
        expected["facts"]["components"] > 1 and expected["facts"]["layout"] == "permuted"
    )
    # Once when it was taken and is over, or of an unknown version; never when it was refused.
    assert producer.deleted == (1 if is_taken or expected["status"][mode] == "E_VERSION" else 0)


# Protocol


def image_for(word: str) -> tuple[cc.Image, Any]:
    kind, _, rest = word.partition(" ")
    device = "cpu" if kind == "CPU" else int(kind.partition(":")[2] or 0)
    if "read-only" not in rest:
        image = cc.Image((4, 3), device=device)
        return image, None
    if device == "cpu":
        array = np.zeros((3, 4), np.float32)
        array.flags.writeable = False
        return cc.from_array(array, 2), array
    backing = cc.Image((4, 3), device=device).fill(0)
    with backing.device() as pixels:
        interface = {**pixels.__cuda_array_interface__, "keep": backing}

    class Array:
        __cuda_array_interface__ = interface

    return cc.from_array(Array(), 2), backing


@pytest.mark.parametrize("row", rows("dlpack_protocol"))
def test_dlpack_protocol(row: dict[str, Any]) -> None:
    given, expected = row["input"], row["expect"]
    if row["id"] in NO_SUCH_IMAGES:
        pytest.skip("no such images")
    if given["image"].startswith("CUDA") and cc.device_count() < (2 if given["image"].startswith("CUDA:1") else 1):
        pytest.skip("no such device")
    image, keep = image_for(given["image"])
    if given["call"] == "__dlpack_device__":
        assert image.__dlpack_device__() == tuple(expected["value"])
        return
    call = {key: tuple(value) if isinstance(value, list) else value for key, value in given["call"].items()}
    if call.get("stream") == 94355079556608:
        # No such stream here: that it is handed on is all that can be seen. A driver would look where it points.
        if cc.device_backend() != "emulated":
            pytest.skip("no such stream")
        with pytest.raises((cc.DeviceError, cc.StreamError)):
            image.__dlpack__(**call)
        return
    if "error" in expected:
        with pytest.raises({"ValueError": ValueError, "BufferError": BufferError}[expected["error"]]):
            image.__dlpack__(**call)
        return
    capsule = image.__dlpack__(**call)
    assert capsule_name(capsule) == expected["capsule"]
    tensor = look(capsule)
    if expected["capsule"] == VERSIONED:
        assert tensor.version is not None
        assert tensor.version[0] == expected.get("major", 1)
        assert tensor.flags == expected.get("flags", 0)
    else:
        assert expected["capsule"] == LEGACY
    if "device" in expected:
        assert tensor.device == tuple(expected["device"])
    del capsule, keep


@pytest.mark.parametrize("row", rows("attribute"))
def test_attribute(row: dict[str, Any]) -> None:
    given, expected = row["input"], row["expect"]
    if row["id"] in NO_SUCH_IMAGES:
        pytest.skip("no such images")
    kind, _, work = given["image"].partition(", ")
    if kind == "CUDA" and cc.device_count() == 0:
        pytest.skip("no device")
    image = cc.Image((64, 64), device="cpu" if kind == "CPU" else None)
    attribute, _, member = given["attribute"].partition(".")
    if expected.get("error"):
        with pytest.raises(AttributeError):
            getattr(image, attribute)
        return
    if work.startswith("pending on "):
        stream = int(work.removeprefix("pending on "), 0)
        image.export_stream = stream
        image.fill(3)
        with image.device(write=True, stream=stream):
            pass
        image.fill(5, index=(0, 0), size=(64, 1), stream=stream)
    elif work == "idle":
        # The emulated device does not say what its legacy stream has done until somebody waits for it, on purpose.
        stream = 2 if cc.device_backend() == "emulated" else 1
        image.export_stream = stream
        with image.device(write=True, stream=stream):
            pass
        cc.synchronize(stream=stream)
    assert getattr(image, attribute)[member] == expected["value"]


@pytest.mark.parametrize("row", rows("geometry"))
def test_geometry(row: dict[str, Any]) -> None:
    given, expected = row["input"], row["expect"]
    dimension = len(given["origin"])
    image = cc.Image(
        (16,) * dimension,
        spacing=given["spacing"],
        origin=given["origin"],
        direction=given["direction"],
        index=given["buffered_index"],
        device="cpu",
    )
    at = [first + step for first, step in zip(image.index, reversed(given["array_index_C"]), strict=True)]
    assert at == expected["image_index"]
    assert list(image.point_of_itk_index(at)) == expected["physical_point"]
    assert list(image.point_of_itk_index(image.index)) == expected["array_origin_point"]
    # The same pixel by both names.
    image.by_numpy_index[tuple(given["array_index_C"])] = 5
    assert image.by_itk_index[tuple(at)] == 5
    assert as_storage(cc.asnumpy(image, copy=True))[tuple(given["array_index_C"])] == 5
