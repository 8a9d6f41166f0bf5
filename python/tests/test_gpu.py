"""CuPy, PyTorch, Numba and JAX on a CUDA device: export and import, layouts, streams, lifetimes, sizes past 2^31."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, image_of, values
from tensors import Producer

pytestmark = pytest.mark.gpu

SLOW_CYCLES = 400_000_000


@pytest.fixture(scope="module")
def cp() -> Any:
    return pytest.importorskip("cupy")


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def cuda_of_numba() -> Any:
    pytest.importorskip("numba")
    return importlib.import_module("numba.cuda")


@pytest.fixture(scope="module")
def slow(cp: Any) -> Callable[[Any], None]:
    """Keeps a stream busy for a fifth of a second or so, so that who does not wait for it is too early."""
    kernel = cp.RawKernel(
        r"""
        extern "C" __global__ void idle(long long cycles) {
            const long long start = clock64();
            while (clock64() - start < cycles) { }
        }
        """,
        "idle",
    )

    def run(stream: Any) -> None:
        with stream:
            kernel((1,), (1,), (np.int64(SLOW_CYCLES),))

    run(cp.cuda.Stream.null)
    cp.cuda.Stream.null.synchronize()
    return run


def to_cupy(image: cc.Image) -> Any:
    return importlib.import_module("cupy").asarray(image)


def to_cupy_by_dlpack(image: cc.Image) -> Any:
    return importlib.import_module("cupy").from_dlpack(image)


def to_torch(image: cc.Image) -> Any:
    return importlib.import_module("torch").from_dlpack(image)


def to_torch_by_interface(image: cc.Image) -> Any:
    return importlib.import_module("torch").as_tensor(image, device="cuda")


def to_numba(image: cc.Image) -> Any:
    return cuda_of_numba().as_cuda_array(image)


def to_jax(image: cc.Image) -> Any:
    return importlib.import_module("jax").dlpack.from_dlpack(image)


def on_host(array: Any) -> np.ndarray[Any, Any]:
    for method in ("get", "copy_to_host"):
        if hasattr(array, method):
            return np.asarray(getattr(array, method)())
    if hasattr(array, "cpu"):
        return np.asarray(array.cpu())
    return np.asarray(array)


EXPORTS: dict[str, tuple[str, Callable[[cc.Image], Any]]] = {
    "cupy": ("cupy", to_cupy),
    "cupy by DLPack": ("cupy", to_cupy_by_dlpack),
    "ascupy": ("cupy", cc.ascupy),
    "torch": ("torch", to_torch),
    "torch by interface": ("torch", to_torch_by_interface),
    "astorch": ("torch", cc.astorch),
    "numba": ("numba", to_numba),
    "asnumba": ("numba", cc.asnumba),
    "jax": ("jax", to_jax),
    "asjax": ("jax", cc.asjax),
}


def exporter(name: str) -> Callable[[cc.Image], Any]:
    library, convert = EXPORTS[name]
    jax_or_other = pytest.importorskip(library)
    if library == "jax":
        jax_or_other.config.update("jax_enable_x64", True)
    return convert


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bfloat16"])
def test_export_of_every_type(name: str, dtype: str) -> None:
    given = values((3, 4, 5), dtype)
    image = image_of(given, dtype)
    array = exporter(name)(image)
    np.testing.assert_array_equal(on_host(array), given)
    del array
    image.end_loans()
    gc.collect()
    assert image.state("cuda").loans == 0


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("size", [(7,), (5, 3), (4, 3, 2), (3, 2, 2, 2)])
@pytest.mark.parametrize("components", [1, 3, 9])
def test_export_of_every_shape(name: str, size: tuple[int, ...], components: int) -> None:
    given = values(size[::-1] + ((components,) if components > 1 else ()), "float32")
    array = exporter(name)(image_of(given, "float32", components))
    assert tuple(array.shape) == given.shape
    np.testing.assert_array_equal(on_host(array), given)


def test_bfloat16(torch: Any) -> None:
    given = values((3, 4), "bfloat16")
    image = image_of(given, "bfloat16")
    for array in (torch.from_dlpack(image), cc.astorch(image)):
        assert array.dtype == torch.bfloat16
        np.testing.assert_array_equal(array.view(torch.int16).cpu().numpy().view(np.uint16), given)
    back = cc.from_array(torch.from_dlpack(image), 2)
    assert back.dtype_name == "bfloat16"


@pytest.mark.parametrize("name", [name for name in EXPORTS if "jax" not in name])
def test_sub_regions(name: str) -> None:
    given = values((4, 5, 6), "float32")
    image = image_of(given, "float32")
    array = exporter(name)(image.view(index=(1, 2, 0), size=(3, 2, 4)))
    np.testing.assert_array_equal(on_host(array), given[:, 2:4, 1:4])


def test_jax_refuses_gaps_and_takes_slabs() -> None:
    jax = pytest.importorskip("jax")
    given = values((4, 5, 6), "float32")
    image = image_of(given, "float32")
    with pytest.raises(Exception):  # noqa: B017 - whichever JAX has for it
        jax.dlpack.from_dlpack(image.view(index=(1, 2, 0), size=(3, 2, 4)))
    gc.collect()
    np.testing.assert_array_equal(np.asarray(cc.asjax(image.view(index=(0, 0, 1), size=(6, 5, 2)))), given[1:3])


@pytest.mark.parametrize("name", ["cupy", "cupy by DLPack", "ascupy", "numba", "asnumba", "torch"])
@pytest.mark.parametrize("size", [(0,), (4, 0), (0, 3, 2)])
def test_empty(name: str, size: tuple[int, ...]) -> None:
    assert tuple(exporter(name)(cc.Image(size)).shape) == size[::-1]


@pytest.mark.parametrize("name", EXPORTS)
def test_writes_are_seen_both_ways(name: str, cp: Any) -> None:
    image = cc.Image((64, 64), "float32").fill(1)
    array = exporter(name)(image)
    if "jax" in name:
        assert float(array[0, 0]) == 1
        return
    writer = cp.asarray(array)
    writer[3] = 7
    cp.cuda.Stream.null.synchronize()
    with image.host() as pixels:
        assert (pixels[3] == 7).all()
        assert (pixels[4] == 1).all()
    with image.host(write=True) as pixels:
        pixels[5] = 9
    assert (on_host(array)[5] == 9).all()
    writer[6] = 8
    assert image.by_numpy_index[6, 0] == 8
    with pytest.raises(cc.BusyError):
        image.evict("cuda")
    del array, writer
    gc.collect()
    image.end_loans()
    image.evict("cuda")
    assert image.by_numpy_index[5, 5] == 9


@pytest.mark.parametrize("name", EXPORTS)
def test_the_consumer_outlives_the_image(name: str) -> None:
    given = values((64, 64), "float32")
    image = image_of(given, "float32")
    array = exporter(name)(image)
    del image
    gc.collect()
    # What would be freed now would be used again by these.
    others = [cc.Image((64, 64), "float32").fill(-1) for _ in range(8)]
    for other in others:
        other.prefetch("cuda")
    np.testing.assert_array_equal(on_host(array), given)


def test_memory_pressure_takes_nothing_away(cp: Any) -> None:
    given = values((256, 256), "float32")
    image = image_of(given, "float32")
    array = cp.from_dlpack(image)
    cc.set_device_limit(0, 4 * given.nbytes)
    try:
        others = [cc.Image((256, 256), "float32").fill(n) for n in range(12)]
        for n, other in enumerate(others):
            other.prefetch("cuda")
            assert other.by_itk_index[0, 0] == n
        np.testing.assert_array_equal(cp.asnumpy(array), given)
        array += 1
        assert image.by_numpy_index[1, 1] == given[1, 1] + 1
    finally:
        cc.set_device_limit(0, 0)


# Streams


@pytest.mark.parametrize("name", ["cupy", "cupy by DLPack", "ascupy", "torch", "asnumba", "jax"])
def test_the_consumer_waits_for_the_images_work(name: str, cp: Any, slow: Callable[[Any], None]) -> None:
    """The image is written in a stream that is busy; the consumer is in another one."""
    convert = exporter(name)
    convert(cc.Image((4,), "float32").fill(0))
    image = cc.Image((1 << 20,), "float32").fill(1)
    image.prefetch("cuda")
    busy = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with image.device(write=True, stream=busy) as pixels, busy:
        # CuPy waits for the stream here, so before there is anything to wait for.
        writer = cp.asarray(pixels)
        slow(busy)
        writer[...] = 5
    assert not busy.done
    array = convert(image)
    assert (on_host(array) == 5).all()


def test_the_host_waits_for_the_consumer(cp: Any, slow: Callable[[Any], None]) -> None:
    image = cc.Image((1 << 20,), "float32").fill(1)
    array = cp.from_dlpack(image)
    busy = cp.cuda.Stream(non_blocking=True)
    slow(busy)
    with busy:
        array[...] = 6
    # Nobody knows that stream: the host waits for the device.
    with image.host() as pixels:
        assert (pixels == 6).all()


def test_two_streams_race(cp: Any, slow: Callable[[Any], None]) -> None:
    image = cc.Image((1 << 20,), "float32").fill(1)
    image.prefetch("cuda")
    first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with image.device(write=True, stream=first) as pixels, first:
        writer = cp.asarray(pixels)
        slow(first)
        writer[...] = 3
    assert not first.done
    with image.device(write=True, stream=second) as pixels, second:
        array = cp.asarray(pixels)
        array *= 2
    image.fill(0, index=(0,), size=(10,), stream=first)
    with image.host() as pixels:
        assert (pixels[:10] == 0).all()
        assert (pixels[10:] == 6).all()


def test_torch_in_a_stream_of_its_own(torch: Any, cp: Any, slow: Callable[[Any], None]) -> None:
    image = cc.Image((1 << 20,), "float32").fill(1)
    image.prefetch("cuda")
    busy = cp.cuda.Stream(non_blocking=True)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with image.device(write=True, stream=busy) as pixels, busy:
        writer = cp.asarray(pixels)
        slow(busy)
        writer[...] = 4
    assert not busy.done
    with torch.cuda.stream(side):
        tensor = torch.from_dlpack(image)
        doubled = tensor * 2
    side.synchronize()
    assert (doubled == 8).all().item()


@pytest.mark.parametrize("stream", [0, -2])
def test_streams_that_are_none(stream: int) -> None:
    with pytest.raises(ValueError):
        cc.Image((4,)).__dlpack__(stream=stream)


def test_another_device_is_refused(cp: Any) -> None:
    image = cc.Image((4,)).fill(1)
    with pytest.raises(BufferError):
        image.__dlpack__(dl_device=(2, 5), max_version=(1, 0))
    with pytest.raises(cc.InvalidDeviceError):
        image.set_device(cc.device_count())
    host = cc.Image((4,), device="cpu")
    with pytest.raises(BufferError):
        host.__dlpack__(dl_device=(2, 0))


def test_host_memory_as_device_memory_is_refused() -> None:
    array = np.zeros(64, np.float32)

    class Lying:
        __cuda_array_interface__ = {**array.__array_interface__, "stream": None}

    with pytest.raises(cc.PointerError):
        cc.from_array(Lying(), 1)


def test_a_device_that_is_not_the_pointers(cp: Any) -> None:
    array = cp.zeros(64, cp.float32)
    lying = Producer(array.data.ptr, (64,), (1,), (2, 32, 1), (2, 7), keep=array)
    with pytest.raises(BufferError):
        cc.from_array(lying, 1)
    assert lying.deleted == 0


# Import


def cupy_array(given: np.ndarray[Any, Any]) -> Any:
    return importlib.import_module("cupy").asarray(given)


def torch_array(given: np.ndarray[Any, Any]) -> Any:
    return importlib.import_module("torch").from_numpy(given).cuda()


def numba_array(given: np.ndarray[Any, Any]) -> Any:
    return cuda_of_numba().to_device(given)


def jax_array(given: np.ndarray[Any, Any]) -> Any:
    return importlib.import_module("jax").device_put(given)


IMPORTS = {"cupy": cupy_array, "torch": torch_array, "numba": numba_array, "jax": jax_array}


@pytest.mark.parametrize("name", IMPORTS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("components", [1, 3])
def test_import(name: str, dtype: str, components: int) -> None:
    pytest.importorskip(name)
    given = values((4, 5, 6, components) if components > 1 else (4, 5, 6), dtype)
    array = IMPORTS[name](given)
    image = cc.from_array(array, 3)
    assert (image.size, image.components, image.dtype_name) == ((6, 5, 4), components, dtype)
    assert image.state("cuda").valid_pixels == 120
    assert image.counters.device_allocations == 0
    with image.host() as pixels:
        np.testing.assert_array_equal(pixels, given)
    del array
    gc.collect()
    np.testing.assert_array_equal(cc.asnumpy(image), given)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_layouts_that_are_taken(library: str) -> None:
    pytest.importorskip(library)
    given = values((8, 6), "float32")
    array = IMPORTS[library](given)
    for view, expected in (
        (array[::2], given[::2]),
        (array[:, ::3], given[:, ::3]),
        (array[2:5, 1:4], given[2:5, 1:4]),
        (array.T, given.T),
    ):
        np.testing.assert_array_equal(cc.asnumpy(cc.from_array(view, 2)), expected)
        with pytest.raises(cc.LayoutError):
            cc.from_array(view, 2, strided=False)


def test_fortran_order(cp: Any) -> None:
    given = np.asfortranarray(values((3, 4), "float32"))
    np.testing.assert_array_equal(cc.asnumpy(cc.from_array(cp.asarray(given), 2)), given)
    image = cc.from_array(cp.asarray(given), 2, order="K", strided=False)
    assert image.size == (3, 4)


def refused(cp: Any) -> dict[str, Any]:
    array = cp.arange(64, dtype=cp.float32)
    misaligned = {**array[:8].__cuda_array_interface__, "data": (array.data.ptr + 2, False)}

    class Interface:
        def __init__(self, **changes: Any) -> None:
            self.__cuda_array_interface__ = {**array[:8].__cuda_array_interface__, **changes}
            self.keep = array

    return {
        "negative": Interface(strides=(-4,), data=(array.data.ptr + 32, False)),
        "broadcast": cp.broadcast_to(array[:8], (3, 8)),
        "misaligned": Interface(**misaligned),
        "big-endian": Interface(typestr=">f4"),
        "masked": Interface(mask=array),
    }


@pytest.mark.parametrize("what", ["negative", "broadcast", "misaligned", "big-endian", "masked"])
def test_layouts_that_are_refused(what: str, cp: Any) -> None:
    array = refused(cp)[what]
    with pytest.raises(BufferError):
        cc.from_array(array, 2 if what == "broadcast" else 1)


def test_copying_is_the_callers_choice(cp: Any) -> None:
    array = cp.arange(12, dtype=cp.float32).reshape(3, 4)
    for view in (array[::-1], cp.broadcast_to(array[0], (3, 4)), array):
        image = cc.from_array(view, 2, copy=True)
        assert image.__dlpack_device__()[0] == 2
        expected = cp.asnumpy(view)
        array += 0
        np.testing.assert_array_equal(cc.asnumpy(image), expected)


def test_read_only(cp: Any) -> None:
    array = cp.arange(12, dtype=cp.float32)

    class ReadOnly:
        __cuda_array_interface__ = {
            **array.__cuda_array_interface__,
            "data": (array.data.ptr, True),
        }
        keep = array

    image = cc.from_array(ReadOnly(), 1)
    assert image.read_only
    with pytest.raises(cc.ReadOnlyError):
        image.fill(1)
    assert image.__cuda_array_interface__["data"][1] is True
    with pytest.raises(BufferError):
        image.__dlpack__(stream=1)
    with pytest.raises(cc.ReadOnlyError):
        cc.from_array(ReadOnly(), 1, writable=True)


def test_import_waits_for_the_producer(cp: Any, slow: Callable[[Any], None]) -> None:
    """By each protocol: what the producer has under way in its stream comes first."""
    busy = cp.cuda.Stream(non_blocking=True)
    array = cp.zeros(1 << 20, cp.float32)
    cp.cuda.Device().synchronize()

    class Interface:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            with busy:
                return dict(array.__cuda_array_interface__)

    class Tensor:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

        def __dlpack__(self, **arguments: Any) -> Any:
            with busy:
                return array.__dlpack__(**arguments)

    for number, producer in ((1, Interface()), (2, Tensor())):
        slow(busy)
        with busy:
            array[...] = number
        with cc.from_array(producer, 1).host() as pixels:
            assert (pixels == number).all()
        cp.cuda.Device().synchronize()


def test_what_comes_back_is_the_image(cp: Any, torch: Any) -> None:
    image = image_of(values((4, 5), "float32"), "float32", spacing=(2, 3), index=(7, -1), origin=(1, 2))
    for array in (cp.asarray(image), cp.from_dlpack(image), torch.from_dlpack(image), cc.asnumba(image)):
        back = cc.from_array(array, 2)
        assert (back.spacing, back.index, back.origin) == ((2, 3), (7, -1), (1, 2))
        back.fill(9)
        assert image.by_numpy_index[0, 0] == 9
        del array, back
    part = cc.from_array(cp.asarray(image)[1:, 2:], 2)
    assert (part.index, part.size) == ((9, 0), (3, 3))


@pytest.mark.parametrize("name", ["cupy", "cupy by DLPack", "ascupy", "torch", "numba", "asnumba", "jax"])
def test_ten_thousand_exports(name: str) -> None:
    convert = exporter(name)
    image = cc.Image((8, 8), "float32").fill(1)
    convert(image)
    gc.collect()
    before = cc.device_memory().free_bytes
    for _ in range(10_000):
        convert(image)
    gc.collect()
    assert image.state("cuda").loans <= 1
    assert len(cc.live_images()) == 1
    # A byte for each would be ten thousand; drivers round to megabytes.
    assert before - cc.device_memory().free_bytes <= 4 << 20


def test_ten_thousand_imports(cp: Any) -> None:
    array = cp.zeros((8, 8), cp.float32)
    for _ in range(10_000):
        cc.from_array(array, 2)
    cc.collect()
    gc.collect()
    assert len(cc.live_images()) == 0


# Sizes


def test_1300_cubed_bytes(cp: Any) -> None:
    image = cc.Image((1300, 1300, 1300), "uint8").fill(3)
    array = cp.asarray(image)
    assert array.size == 1300**3 > 2**31
    array[-1, -1, -5:] = 7
    assert image.by_numpy_index[-1, -1, -1] == 7
    assert image.by_numpy_index[-1, -1, -6] == 3
    assert int(array[650].sum()) == 3 * 1300 * 1300
    back = cc.from_array(array, 3)
    assert back.by_itk_index[1299, 1299, 1299] == 7


def test_more_than_2_31_elements(torch: Any, cp: Any) -> None:
    count = 2**31 + 1
    image = cc.Image((count,), "float16").fill(0.5)
    tensor = torch.from_dlpack(image)
    assert tensor.numel() == count
    tensor[-1] = 2
    assert image.by_itk_index[count - 1] == 2
    assert image.by_itk_index[count - 2] == 0.5
    array = cp.from_dlpack(image)
    array[2**31 - 1] = 4
    cp.cuda.Stream.null.synchronize()
    assert image.by_itk_index[2**31 - 1] == 4
    assert cc.from_array(array, 1).size == (count,)


def test_results_are_bits() -> None:
    for dtype in ("float16", "bfloat16"):
        image = image_of(values((3, 5), dtype), dtype)
        image.prefetch("cuda")
        image.evict("cpu")
        np.testing.assert_array_equal(as_storage(cc.asnumpy(image)), values((3, 5), dtype))
