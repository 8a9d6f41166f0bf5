"""__dlpack__ and __dlpack_device__ by the rules of the array API, and what becomes of capsules."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, device_bytes, image_of, values
from tensors import LEGACY, VERSIONED, Consumed, capsule_name, consume, look


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bfloat16"])
@pytest.mark.parametrize("components", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("size", [(7,), (5, 3), (4, 3, 2), (3, 2, 2, 2)])
def test_numpy_takes_every_type_and_shape(dtype: str, components: int, size: tuple[int, ...]) -> None:
    given = values(size[::-1] + ((components,) if components > 1 else ()), dtype)
    image = image_of(given, dtype, components, device="cpu")
    array = np.from_dlpack(image)  # type: ignore[arg-type]
    assert array.dtype == image.dtype
    np.testing.assert_array_equal(array, given)
    assert image.state().loans == 1
    array[...] = 0
    del array
    assert image.state().loans == 0
    assert not cc.asnumpy(image).any()


def test_sub_regions_are_strided() -> None:
    given = values((4, 5, 6), "int16")
    view = image_of(given, "int16", device="cpu").view(index=(1, 2, 0), size=(3, 2, 4))
    array = np.from_dlpack(view)  # type: ignore[arg-type]
    np.testing.assert_array_equal(array, given[:, 2:4, 1:4])
    assert array.strides == (60, 12, 2)


@pytest.mark.parametrize("size", [(0,), (4, 0), (0, 3, 2)])
@pytest.mark.parametrize("versioned", [True, False])
def test_empty(size: tuple[int, ...], versioned: bool) -> None:
    image = cc.Image(size, device="cpu")
    capsule = image.__dlpack__(max_version=(1, 0) if versioned else None)
    tensor = look(capsule)
    assert tensor.shape == size[::-1]
    assert tensor.data == 0
    assert image.state().loans == 0 or cc.device_count() == 0


def test_the_whole_tensor() -> None:
    image = cc.Image((5, 4, 3), "uint16", 2, device="cpu")
    address = cc.asnumpy(image).ctypes.data
    for versioned in (True, False):
        tensor = look(image.__dlpack__(max_version=(1, 0) if versioned else None))
        assert tensor.version == ((1, 0) if versioned else None)
        assert tensor.data == address
        assert tensor.device == (1, 0)
        assert tensor.dtype == (1, 16, 1)
        assert tensor.shape == (3, 4, 5, 2)
        assert tensor.strides == (40, 10, 2, 1)
        assert tensor.byte_offset == 0
        assert tensor.flags == (0 if versioned else None)


def test_bfloat16() -> None:
    given = values((3, 4), "bfloat16")
    image = image_of(given, "bfloat16", device="cpu")
    tensor = look(image.__dlpack__())
    assert tensor.dtype == (4, 16, 1)
    assert ctypes.string_at(tensor.data, 24) == given.tobytes()


def test_the_device_is_named(needs_device: None) -> None:
    last = cc.device_count() - 1
    image = cc.Image((4, 3), device=last).fill(2)
    assert image.__dlpack_device__() == (2, last)
    tensor = look(image.__dlpack__(max_version=(1, 0), stream=1))
    assert tensor.device == (2, last)
    assert image.state(last).loans == 0


def test_an_unused_capsule_gives_the_loan_back() -> None:
    image = cc.Image((4, 3), device="cpu")
    for max_version in (None, (1, 0)):
        capsule = image.__dlpack__(max_version=max_version)
        assert image.state().loans == 1
        with pytest.raises(cc.BusyError):
            image.evict("cpu")
        del capsule
        assert image.state().loans == 0


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_used_capsule_leaves_the_loan_to_its_consumer(max_version: tuple[int, int] | None) -> None:
    image = cc.Image((4, 3), device="cpu").fill(6)
    consumed = consume(image.__dlpack__(max_version=max_version))
    gc.collect()
    assert image.state().loans == 1
    del image
    gc.collect()
    assert len(cc.live_images()) == 0
    assert ctypes.string_at(consumed.tensor.data, 4) == np.float32(6).tobytes()
    consumed.delete()


def test_the_deleter_may_run_on_any_thread() -> None:
    image = cc.Image((4, 3), device="cpu")
    consumed = [consume(image.__dlpack__(max_version=(1, 0))) for _ in range(64)]
    threads = [
        threading.Thread(target=lambda part: [each.delete() for each in part], args=(consumed[at::4],)) for at in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert image.state().loans == 0


def test_the_array_outlives_the_image() -> None:
    given = values((3, 4), "float32")
    image = image_of(given, "float32", device="cpu")
    array = np.from_dlpack(image)  # type: ignore[arg-type]
    del image
    gc.collect()
    np.testing.assert_array_equal(array, given)
    array += 1
    np.testing.assert_array_equal(array, given + 1)


def test_a_copy_belongs_to_the_consumer() -> None:
    image = cc.Image((4, 3), device="cpu").fill(5)
    copied = np.from_dlpack(image, copy=True)  # type: ignore[arg-type,call-overload]
    assert image.state().loans == 0
    copied[...] = 1
    assert image.by_itk_index[0, 0] == 5
    assert look(image.__dlpack__(max_version=(1, 0), copy=True)).flags == 2


def test_read_only_images() -> None:
    array = values((3, 4), "float32")
    array.flags.writeable = False
    image = cc.from_array(array, 2, device="cpu")
    assert look(image.__dlpack__(max_version=(1, 0))).flags == 1
    with pytest.raises(BufferError, match="read-only"):
        image.__dlpack__()
    assert not np.from_dlpack(image).flags.writeable  # type: ignore[arg-type]
    # A copy is the consumer's, who may write it, and so legacy capsules can hold it too.
    assert look(image.__dlpack__(max_version=(1, 0), copy=True)).flags == 2
    assert capsule_name(image.__dlpack__(copy=True)) == LEGACY


@pytest.mark.parametrize("stream", [0, 1, 2, 5, -2, 94355079556608])
def test_host_memory_takes_no_stream(stream: int) -> None:
    with pytest.raises(ValueError, match="stream"):
        cc.Image((4,), device="cpu").__dlpack__(stream=stream)


@pytest.mark.parametrize("stream", [0, -2, "legacy", 1.0])
def test_streams_that_are_none(needs_device: None, stream: Any) -> None:
    with pytest.raises(ValueError, match="stream"):
        cc.Image((4,)).__dlpack__(stream=stream)


def test_device_pixels_on_the_host_are_a_copy(needs_device: None) -> None:
    given = values((3, 4), "float32")
    image = image_of(given, "float32")
    with image.device(write=True, stream=2):
        pass
    array = np.from_dlpack(image, device="cpu")  # type: ignore[arg-type,call-overload]
    assert image.state("cuda").loans == image.state("cpu").loans == 0
    np.testing.assert_array_equal(array, given)
    array[...] = 0
    np.testing.assert_array_equal(cc.asnumpy(image), given)
    tensor = look(image.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert (tensor.flags, tensor.device) == (2, (1, 0))
    with pytest.raises(ValueError, match="stream"):
        image.__dlpack__(dl_device=(1, 0), stream=5)


def test_what_is_pending_comes_first(needs_device: None) -> None:
    if cc.device_backend() != "emulated":
        pytest.skip("reads memory of the emulated device")
    image = cc.Image((64,), "uint8").fill(1)
    with image.device(write=True, stream=2):
        pass
    image.fill(7, index=(3,), size=(2,), stream=2)
    tensor = look(capsule := image.__dlpack__(stream=1))
    assert device_bytes(tensor.data, 6) == bytes([1, 1, 1, 7, 7, 1])
    del capsule


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_the_memory_that_comes_back_is_the_images(shape: tuple[int, ...], max_version: tuple[int, int] | None) -> None:
    geometry = {
        "spacing": tuple(range(1, len(shape) + 1)),
        "origin": tuple(range(7, len(shape) + 7)),
        "index": tuple(range(-1, len(shape) - 1)),
        "direction": np.eye(len(shape))[::-1],
    }
    image = image_of(values(shape, "int16"), "int16", device="cpu", **geometry)
    back = cc.from_array(np.from_dlpack(image), len(shape))  # type: ignore[arg-type]
    assert (back.spacing, back.origin, back.index, back.direction) == (
        image.spacing,
        image.origin,
        image.index,
        image.direction,
    )
    back.fill(3)
    assert image.by_numpy_index[(0,) * len(shape)] == 3

    class Producer:
        def __dlpack__(self, **arguments: Any) -> Any:
            return image.__dlpack__(max_version=max_version)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    again = cc.from_array(Producer(), len(shape))
    assert (again.spacing, again.index) == (image.spacing, image.index)
    other = cc.from_array(Producer(), len(shape), spacing=(9,) * len(shape))
    assert other.spacing == (9,) * len(shape)


def capsules_of(image: cc.Image) -> list[Callable[[], Any]]:
    return [image.__dlpack__, lambda: image.__dlpack__(max_version=(1, 0))]


def test_a_capsule_is_used_once() -> None:
    image = cc.Image((4,), "uint8", device="cpu")
    for make in capsules_of(image):
        capsule = make()

        class Producer:
            def __dlpack__(self, **arguments: Any) -> Any:
                return capsule  # noqa: B023

            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0)

        cc.from_array(Producer(), 1)
        assert capsule_name(capsule) in ("used_" + LEGACY, "used_" + VERSIONED)
        with pytest.raises(BufferError, match="used before"):
            cc.from_array(Producer(), 1)
    assert image.state().loans == 0


def test_consumed_objects_are_checked() -> None:
    """The helper of these tests sees a second call of a deleter."""
    consumed = consume(cc.Image((4,), device="cpu").__dlpack__())
    assert isinstance(consumed, Consumed)
    consumed.delete()
    with pytest.raises(AssertionError):
        consumed.delete()


def test_bits_of_numpy_arrays() -> None:
    for dtype in DTYPES:
        image = cc.Image((4,), dtype, device="cpu")
        assert as_storage(cc.asnumpy(image)).nbytes == image.nbytes
