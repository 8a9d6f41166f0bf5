"""Mappings as context managers."""

from __future__ import annotations

import ctypes
import gc
import threading

import numpy as np
import pytest

import cudacommon as cc
from conftest import device_bytes, image_of, values


def test_host_regions_in_both_orders() -> None:
    array = values((4, 5, 6, 3), "int16")
    image = image_of(array, "int16", 3, index=(10, 20, 30))
    region = {"index": (11, 22, 33), "size": (3, 2, 1)}
    expected = array[3:4, 2:4, 1:4]
    with image.host(**region) as pixels:
        np.testing.assert_array_equal(pixels, expected)
    with image.host(order="K", **region) as pixels:
        np.testing.assert_array_equal(pixels, expected.T)
    with image.host(write=True, **region) as pixels:
        pixels += 1
    array[3:4, 2:4, 1:4] += 1
    with image.host() as pixels:
        np.testing.assert_array_equal(pixels, array)
    with image.host(index=(15, 24, 33)) as pixels:
        assert pixels.shape == (1, 1, 1, 3)


def test_component_axis_on_request() -> None:
    image = cc.Image((4, 3), "float32")
    with image.host(component_axis=True) as pixels:
        assert pixels.shape == (3, 4, 1)
    with image.host(component_axis=True, order="K") as pixels:
        assert pixels.shape == (1, 4, 3)
    assert cc.asnumpy(image, component_axis=True).shape == (3, 4, 1)
    assert cc.asnumpy(image, component_axis=True, copy=True).shape == (3, 4, 1)


def test_writing_ends_with_the_statement() -> None:
    image = cc.Image((4, 3))
    with image.host(write=True) as pixels:
        pixels[...] = 1
        part = pixels[1:]
    with pytest.raises(ValueError, match="read-only"):
        pixels[0, 0] = 2
    del part
    assert image.by_itk_index[0, 0] == 1


def test_the_array_keeps_the_image() -> None:
    image = cc.Image((4, 3)).fill(3)
    with image.host() as pixels:
        pass
    del image
    gc.collect()
    assert len(cc.live_images()) == 1
    assert (pixels == 3).all()


def test_unmapped_when_the_body_raises() -> None:
    image = cc.Image((4, 3))
    with pytest.raises(ZeroDivisionError), image.host(write=True):
        raise ZeroDivisionError
    assert image.state().mappings == 0


def test_one_manager_maps_once_at_a_time() -> None:
    image = cc.Image((4, 3))
    manager = image.host()
    with manager:
        with pytest.raises(RuntimeError, match="mapped already"):
            manager.__enter__()
        with image.host():
            assert image.state().mappings == 2
    with manager:
        pass
    with pytest.raises(RuntimeError, match="not mapped"):
        manager.__exit__(None, None, None)
    with pytest.raises(ValueError, match="read = False"):
        image.host(read=False)
    with pytest.raises(ValueError, match="order = 'F'"):
        image.host(order="F")


def test_writing_without_reading_brings_nothing(needs_device: None) -> None:
    image = cc.Image((64, 64)).fill(1)
    with image.device(write=True):
        pass
    image.reset_counters()
    with image.host(write=True, read=False) as pixels:
        pixels[...] = 5
    assert image.counters.device_to_host_copies == 0
    with image.device() as pixels:
        assert pixels.read_only
    assert image.counters.host_to_device_bytes == 64 * 64 * 4


def test_device_pixels(needs_device: None) -> None:
    image = image_of(values((4, 5, 2), "int16"), "int16", 2)
    with image.device(index=(1, 2), size=(3, 2), order="K") as pixels:
        assert pixels.shape == (2, 3, 2)
        assert pixels.strides == (2, 4, 20)
        assert pixels.dtype == np.int16
        assert pixels.device == 0
        interface = pixels.__cuda_array_interface__
        assert interface == {
            "shape": (2, 3, 2),
            "typestr": "<i2",
            "data": (pixels.pointer, True),
            "strides": (2, 4, 20),
            "version": 3,
            "stream": 1,
        }
        with pytest.raises(TypeError, match="device memory"):
            np.asarray(pixels)
        assert "device 0" in repr(pixels)
        if cc.device_backend() == "emulated":
            assert device_bytes(pixels.pointer, 4) == values((4, 5, 2), "int16")[2, 1].tobytes()
    assert image.state("cuda").mappings == 0


def test_writes_on_the_device_are_seen(needs_device: None) -> None:
    if cc.device_backend() != "emulated":
        pytest.skip("writes by pointer, which only memory of the emulated device allows")
    image = cc.Image((4,), "uint8").fill(1)
    with image.device(write=True) as pixels:
        cc.synchronize()
        ctypes.memset(pixels.pointer + 2, 9, 1)
    with image.host() as array:
        assert array.tolist() == [1, 1, 9, 1]


@pytest.mark.parametrize(("stream", "handle", "written"), [(None, 0, 1), (0, 0, 1), (1, 0, 1), (2, 2, 2)])
def test_streams_by_number(needs_device: None, stream: int | None, handle: int, written: int) -> None:
    with cc.Image((4,)).device(stream=stream) as pixels:
        assert pixels.stream == handle
        assert pixels.__cuda_array_interface__["stream"] == written


class ProtocolStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 2)


class CupyStream:
    ptr = 2


class TorchStream:
    cuda_stream = 2


class NumbaStream:
    handle = ctypes.c_void_p(2)


@pytest.mark.parametrize("stream", [ProtocolStream(), CupyStream(), TorchStream(), NumbaStream()])
def test_streams_of_others(needs_device: None, stream: object) -> None:
    with cc.Image((4,)).device(stream=stream) as pixels:
        assert pixels.stream == 2


@pytest.mark.parametrize("stream", ["legacy", object(), -1])
def test_other_streams_are_refused(stream: object) -> None:
    with pytest.raises(ValueError, match="stream"):
        cc.Image((4,)).device(stream=stream)


def test_prefetch_and_evict(needs_device: None) -> None:
    image = image_of(values((8, 8), "float32"), "float32")
    image.prefetch("cuda", index=(0, 2), size=(8, 2))
    assert image.state("cuda").valid_pixels == 16
    assert image.valid_regions("cuda") == [((0, 2), (8, 2))]
    image.prefetch("cuda")
    image.evict("cpu")
    assert image.state("cpu").memory_bytes == 0
    with image.device(), pytest.raises(cc.BusyError):
        image.evict("cuda")
    image.evict("cuda")
    assert image.counters.evictions == 2
    np.testing.assert_array_equal(cc.asnumpy(image, copy=True), values((8, 8), "float32"))


def test_trace_gives_reasons() -> None:
    image, other = cc.Image((4, 4), label="one"), cc.Image((4, 4), label="two")
    with image.trace() as events, cc.trace() as all_events:
        for each in (image, other):
            with each.host():
                pass
    assert {event.label for event in events} == {"one"}
    assert {event.label for event in all_events} == {"one", "two"}
    assert [event.kind for event in events] == ["allocate", "fill"]
    assert events[0].bytes == 64
    assert events[0].function == "cc_image_map_host"
    assert "nothing at this place" in events[0].reason
    with image.host():
        pass
    assert len(events) == 2


def test_trace_callback_may_use_the_library() -> None:
    image = cc.Image((4, 4))
    seen = []
    with cc.trace(lambda event: seen.append((event.kind, image.state().memory_bytes))), image.host():
        pass
    assert ("fill", 64) in seen


def test_trace_of_other_threads() -> None:
    image = cc.Image((4, 4))

    def look() -> None:
        with image.host():
            pass

    with image.trace() as events:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert [event.kind for event in events] == ["allocate", "fill"]


def test_totals_and_what_is_alive() -> None:
    cc.reset_total_counters()
    image = cc.Image((4, 4), "int16", 2, label="alive")
    with image.host():
        pass
    assert cc.total_counters().host_allocations == 1
    (alive,) = [entry for entry in cc.live_images() if entry.label == "alive"]
    assert (alive.size, alive.dtype_name, alive.components) == ((4, 4), "int16", 2)
    assert (alive.size_bytes, alive.host_bytes, alive.device_bytes) == (64, 64, 0)
    many = [cc.Image((1,)) for _ in range(100)]
    assert len(cc.live_images()) >= 101
    del many


def test_host_memory() -> None:
    before = cc.host_memory()
    assert before.pooled_bytes <= before.pool_limit_bytes
    try:
        cc.set_host_limits(locked_bytes=5 << 20)
        assert cc.host_memory()[:2] == (before.locked_bytes, 5 << 20)
        cc.set_host_limits(pool_bytes=0)
        assert cc.host_memory().locked_limit_bytes == 5 << 20
        assert cc.host_memory()[2:4] == (0, 0)
        for wrong in ({"locked_bytes": -1}, {"pool_bytes": 2**63}, {"locked_bytes": 7, "pool_bytes": -1}):
            with pytest.raises(ValueError, match="bytes >= 0"):
                cc.set_host_limits(**wrong)
        assert cc.host_memory().locked_limit_bytes == 5 << 20
    finally:
        cc.set_host_limits(locked_bytes=before.locked_limit_bytes, pool_bytes=before.pool_limit_bytes)


def test_trim() -> None:
    image = cc.Image((1 << 20,), "uint8")
    with image.host(write=True) as pixels:
        pixels[:] = 7
    del pixels, image
    cc.trim("cpu")
    assert cc.host_memory().pooled_bytes == 0
    cc.trim()
    for wrong in ("tpu", -3):
        with pytest.raises(ValueError, match="place"):
            cc.trim(wrong)
    with pytest.raises(ValueError, match="keep_bytes"):
        cc.trim(keep_bytes=-1)
    with pytest.raises((cc.NoDeviceError, cc.InvalidDeviceError)):
        cc.trim(99)


def test_devices(needs_device: None) -> None:
    assert cc.device_count() >= 1
    info = cc.device_memory(0)
    assert 0 < info.free_bytes <= info.total_bytes
    cc.set_device_limit(0, 1 << 20)
    try:
        with pytest.raises(cc.OutOfDeviceMemoryError), cc.Image((1 << 20,), "float32").device():
            pass
        assert cc.device_limit(0) == (1 << 20, 0)
        with pytest.raises(ValueError, match="headroom_bytes"):
            cc.set_device_limit(0, 0, -1)
        cc.trim("cuda")
        cc.trim(0, keep_bytes=1 << 20)
    finally:
        cc.set_device_limit(0, 0)
    assert cc.device_limit().limit_bytes == 0
