"""__array_interface__, __cuda_array_interface__ and __array__: what they say, and how long what they lend stays lent."""

from __future__ import annotations

import ctypes
import gc
import threading

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, device_bytes, image_of, storage, values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("components", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("size", [(7,), (5, 3), (4, 3, 2), (3, 2, 2, 2)])
def test_asarray_shares_host_memory(dtype: str, components: int, size: tuple[int, ...]) -> None:
    given = values(size[::-1] + ((components,) if components > 1 else ()), dtype)
    image = image_of(given, dtype, components, device="cpu")
    array = np.asarray(image)
    assert array.dtype == image.dtype
    np.testing.assert_array_equal(as_storage(array), given)
    assert array.flags.writeable
    as_storage(array)[...] = 0
    with image.host() as pixels:
        assert not as_storage(pixels).any()


def test_the_interface_of_host_memory() -> None:
    image = cc.Image((4, 3), "int16", 2, device="cpu")
    interface = image.__array_interface__
    with image.host() as pixels:
        address = pixels.ctypes.data
    assert interface == {"shape": (3, 4, 2), "typestr": "<i2", "data": (address, False), "strides": None, "version": 3}
    assert image.view(index=(1, 1), size=(2, 2)).__array_interface__ == {
        "shape": (2, 2, 2),
        "typestr": "<i2",
        "data": (address + 16 + 4, False),
        "strides": (16, 4, 2),
        "version": 3,
    }
    assert not hasattr(image, "__cuda_array_interface__")


def test_the_interface_of_device_memory(needs_device: None) -> None:
    image = cc.Image((4, 3), "int16", 2)
    with image.device() as pixels:
        pointer = pixels.pointer
    interface = image.__cuda_array_interface__
    stream = interface.pop("stream")
    assert stream in (None, 1)
    assert interface == {"shape": (3, 4, 2), "typestr": "<i2", "data": (pointer, False), "strides": None, "version": 3}
    view = image.view(index=(1, 1), size=(2, 2))
    assert view.__cuda_array_interface__["data"] == (pointer + 16 + 4, False)
    assert view.__cuda_array_interface__["strides"] == (16, 4, 2)
    assert not hasattr(image, "__array_interface__")
    for convert in (np.asarray, np.array, lambda each: np.asarray(each, dtype=np.float64)):
        with pytest.raises(TypeError, match="device memory"):
            convert(image)


def test_an_image_for_the_cpu_speaks_of_host_memory_always() -> None:
    image = cc.Image((4, 3), device="cpu")
    assert np.asarray(image).shape == (3, 4)
    assert image.__dlpack_device__() == (1, 0)


def test_without_a_device_every_image_speaks_of_host_memory(needs_no_device: None) -> None:
    for device in (None, "cuda", "cuda:1", 0):
        image = cc.Image((4, 3), device=device)
        assert np.asarray(image).shape == (3, 4)
        assert not hasattr(image, "__cuda_array_interface__")
        assert image.__dlpack_device__() == (1, 0)


def test_devices_by_number(needs_device: None) -> None:
    last = cc.device_count() - 1
    image = cc.Image((4, 3), device=f"cuda:{last}")
    assert image.__dlpack_device__() == (2, last)
    assert image.__cuda_array_interface__["shape"] == (3, 4)
    assert image.state(last).loans == 1
    assert cc.Image((4, 3)).__dlpack_device__() == (2, 0)
    image.end_loans()
    image.set_device("cpu")
    assert image.__dlpack_device__() == (1, 0)
    image.set_device("cuda")
    assert image.__dlpack_device__() == (2, 0)


@pytest.mark.parametrize(("stream", "expected"), [(None, 1), (1, 1), (2, 2)])
def test_pending_work_is_in_the_stream_that_is_named(
    needs_device: None, stream: int | None, expected: int
) -> None:
    image = cc.Image((64, 64)).fill(3)
    image.export_stream = stream
    assert image.export_stream == expected
    with image.device(write=True, stream=2):
        pass
    image.fill(4, index=(0, 0), size=(64, 32), stream=2)
    named = image.__cuda_array_interface__["stream"]
    # A GPU may be done with it by now.
    assert named == expected or (named is None and cc.device_backend() == "cuda")


def test_when_nothing_is_pending_nobody_need_wait(needs_device: None) -> None:
    image = cc.Image((64, 64)).fill(3)
    with image.device(write=True, stream=2):
        pass
    cc.synchronize(stream=2)
    assert image.__cuda_array_interface__["stream"] is None


def test_bfloat16_has_no_type_string(needs_device: None) -> None:
    assert not hasattr(cc.Image((4,), "bfloat16"), "__cuda_array_interface__")
    assert not hasattr(cc.Image((4,), "bfloat16", device="cpu"), "__array_interface__")


@pytest.mark.parametrize("size", [(0,), (4, 0), (0, 3, 2)])
def test_empty(size: tuple[int, ...]) -> None:
    image = cc.Image(size, "float32", 3, device="cpu")
    assert np.asarray(image).shape == (*size[::-1], 3)
    assert image.__array_interface__["data"][0] != 0
    if cc.device_count():
        assert cc.Image(size).__cuda_array_interface__["data"] == (0, False)


def test_read_only() -> None:
    array = values((3, 4), "float32")
    array.flags.writeable = False
    image = cc.from_array(array, 2)
    assert image.read_only
    assert image.__array_interface__["data"] == (array.ctypes.data, True)
    assert not np.asarray(image).flags.writeable
    with pytest.raises(cc.ReadOnlyError):
        image.fill(1)
    with pytest.raises(cc.ReadOnlyError), image.host(write=True):
        pass


def test_array_converts() -> None:
    image = cc.Image((4, 3), "int16", device="cpu").fill(7)
    assert image.__array__().dtype == np.int16
    assert image.__array__(np.float64).dtype == np.float64
    assert np.array(image, dtype=np.float32)[0, 0] == 7
    with pytest.raises(ValueError, match="needs a copy"):
        image.__array__(np.float64, copy=False)
    copied = image.__array__(copy=True)
    copied[...] = 1
    assert image.by_itk_index[0, 0] == 7


def test_a_loan_by_attribute_lasts_as_long_as_the_image_object() -> None:
    image = cc.Image((4, 3), device="cpu").fill(1)
    array = np.asarray(image)
    for _ in range(5):
        assert image.__array_interface__["data"][0] == array.ctypes.data
    assert image.state().loans == 1
    with pytest.raises(cc.BusyError):
        image.evict("cpu")
    del image
    gc.collect()
    array[...] = 2
    assert (array == 2).all()
    assert len(cc.live_images()) == 1


def test_what_is_lent_is_told_of_again() -> None:
    """Libraries read the attributes twice; the second time costs no loan, as long as nothing has changed."""
    image = cc.Image((4, 3), device="cpu").fill(1)
    first = image.__array_interface__
    loan = image._current_loans[0]
    first["data"] = None
    second = image.__array_interface__
    assert second["data"] == (np.asarray(image).ctypes.data, False)
    image.fill(2)
    with image.host() as pixels:
        assert image.__array_interface__ == second
    assert image._current_loans == [loan]
    with image.host(write=True) as pixels:
        pixels[...] = 3
        for _ in range(2):
            with pytest.raises(cc.BusyError):
                _ = image.__array_interface__
    # The array from before has its memory still.
    assert image._current_loans == [loan]
    assert image.__array_interface__ == second
    image.resize((3, 4))
    assert image.__array_interface__["shape"] == (4, 3)
    assert image._current_loans != [loan]


def test_what_is_lent_on_a_device_is_told_of_again(needs_device: None) -> None:
    image = cc.Image((4, 3)).fill(1)
    first = image.__cuda_array_interface__
    cc.synchronize()
    assert image.__cuda_array_interface__["data"] == first["data"]
    cc.synchronize()
    loan = image._current_loans[0]
    for _ in range(3):
        interface = image.__cuda_array_interface__
        # Every other time the device is not asked.
        assert interface.pop("stream") in (None, 1)
        assert interface == {key: value for key, value in first.items() if key != "stream"}
    assert image._current_loans == [loan]
    image.export_stream = 2
    assert image.__cuda_array_interface__["data"] == first["data"]
    assert image._current_loans != [loan]
    assert image.state("cuda").loans == 1


def test_the_second_of_two_reads_knows_whether_the_device_is_idle(needs_device: None) -> None:
    image = cc.Image((4, 3)).fill(1)
    _ = image.__cuda_array_interface__
    cc.synchronize()
    image.end_loans()
    for _ in range(3):
        assert hasattr(image, "__cuda_array_interface__")
        assert image.__cuda_array_interface__["stream"] is None


def test_work_of_others_is_waited_for(needs_device: None) -> None:
    """What is queued in another stream between two reads comes before what the second one's user does."""
    image = cc.Image((64, 64), "uint8").fill(1)
    for value in range(2, 6):
        pointer, _ = image.__cuda_array_interface__["data"]
        image.fill(value, stream=2)
        assert image.__cuda_array_interface__["data"] == (pointer, False)
        if cc.device_backend() == "emulated":
            assert device_bytes(pointer, 64 * 64) == bytes([value]) * 64 * 64
        with image.host() as pixels:
            assert (pixels == value).all()


def test_threads_read_the_attributes() -> None:
    image = cc.Image((4, 3), device="cpu").fill(1)
    expected = image.__array_interface__
    wrong = []

    def read() -> None:
        for _ in range(300):
            if image.__array_interface__ != expected:
                wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert 1 <= image.state().loans <= 4
    image.end_loans()
    assert image.state().loans == 0


def test_loans_end_on_request() -> None:
    image = cc.Image((4, 3), device="cpu").fill(1)
    assert np.asarray(image).all()
    image.end_loans()
    assert image.state().loans == 0
    image.end_loans()
    assert image.__array_interface__["version"] == 3
    assert image.state().loans == 1


def test_new_pixels_leave_the_old_ones_lent() -> None:
    image = cc.Image((4, 3), device="cpu").fill(1)
    array = np.asarray(image)
    image.resize((2, 2))
    other = np.asarray(image)
    assert other.shape == (2, 2)
    assert not other.any()
    array += 1
    assert (array == 2).all()
    source = cc.Image((5,), "int8", device="cpu").fill(9)
    image.graft(source)
    assert np.asarray(image).tolist() == [9] * 5
    assert (array == 2).all()
    assert (other == 0).all()


def test_the_host_sees_what_the_borrower_wrote(needs_device: None) -> None:
    if cc.device_backend() != "emulated":
        pytest.skip("writes by pointer, which only memory of the emulated device allows")
    image = cc.Image((4,), "uint8").fill(1)
    pointer, _ = image.__cuda_array_interface__["data"]
    for number in (7, 8):
        cc.synchronize()
        ctypes.memset(pointer + 1, number, 1)
        with image.host() as pixels:
            assert pixels.tolist() == [1, number, 1, 1]
    with image.host(write=True) as pixels:
        pixels[3] = 9
    assert device_bytes(pointer, 4) == bytes([1, 8, 1, 9])
    with pytest.raises(cc.BusyError):
        image.evict("cuda")
    image.end_loans()
    image.evict("cuda")


def test_asnumpy_shares_or_copies() -> None:
    image = cc.Image((4, 3), "int16", device="cpu").fill(1)
    shared = cc.asnumpy(image)
    assert image.state().loans == 1
    shared[0, 0] = 5
    assert image.by_itk_index[0, 0] == 5
    del shared
    assert image.state().loans == 0
    reading = cc.asnumpy(image, write=False)
    assert not reading.flags.writeable
    copied = cc.asnumpy(image, copy=True)
    copied[...] = 9
    assert image.by_itk_index[1, 0] == 1
    transposed = cc.asnumpy(image, order="K")
    assert transposed.shape == (4, 3)
    assert transposed.flags.f_contiguous
    assert cc.asnumpy(image, order="K", copy=True).flags.f_contiguous


def test_asnumpy_of_a_devices_image_copies(needs_device: None) -> None:
    image = cc.Image((4, 3), "int16").fill(1)
    array = cc.asnumpy(image)
    assert image.state().loans == 0
    with image.device(write=True):
        pass
    array[...] = 3
    shared = cc.asnumpy(image, copy=False)
    assert image.state().loans == 1
    with image.device():
        pass
    with pytest.raises(cc.BusyError, match="lent"), image.device(write=True):
        pass
    del shared
    with image.device(write=True):
        pass


def test_a_numpy_array_outlives_the_image() -> None:
    image = image_of(values((3, 4), "float32"), "float32", device="cpu")
    array = cc.asnumpy(image)[1:]
    del image
    gc.collect()
    assert len(cc.live_images()) == 0
    np.testing.assert_array_equal(array, values((3, 4), "float32")[1:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_type_strings(dtype: str) -> None:
    if dtype != "bfloat16":
        image = cc.Image((2,), dtype, device="cpu")
        assert np.dtype(image.__array_interface__["typestr"]) == storage(dtype)
