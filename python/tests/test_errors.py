"""Errors of the library are Python exceptions of the kinds that callers catch, with the library's message."""

from __future__ import annotations

import pickle

import pytest

import cudacommon as cc


def test_the_message_is_the_librarys() -> None:
    with pytest.raises(cc.InvalidArgumentError) as caught:
        cc.Image((4, -1), "uint8")
    assert str(caught.value).startswith("cc_image_create: ")
    assert "size[1] = -1" in str(caught.value)
    assert caught.value.status == 1
    assert caught.value.native_error == 0


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (cc.InvalidArgumentError, (ValueError,)),
        (cc.SizeOverflowError, (OverflowError,)),
        (cc.RegionError, (IndexError,)),
        (cc.PixelTypeError, (BufferError, ValueError)),
        (cc.SizeError, (ValueError,)),
        (cc.LayoutError, (BufferError, ValueError)),
        (cc.BusyError, (BufferError,)),
        (cc.ReadOnlyError, (BufferError, ValueError)),
        (cc.UninitializedError, (BufferError, ValueError)),
        (cc.NoDeviceError, (BufferError, RuntimeError)),
        (cc.InvalidDeviceError, (BufferError, ValueError)),
        (cc.PointerError, (BufferError, ValueError)),
        (cc.StreamError, (ValueError,)),
        (cc.CaptureError, (BufferError, RuntimeError)),
        (cc.OutOfHostMemoryError, (MemoryError,)),
        (cc.OutOfDeviceMemoryError, (MemoryError, cc.OutOfMemoryError)),
        (cc.DeviceError, (RuntimeError,)),
        (cc.ForkedError, (RuntimeError,)),
        (cc.UnsupportedError, (BufferError, NotImplementedError)),
    ],
)
def test_each_is_what_callers_catch(error: type[Exception], kinds: tuple[type[Exception], ...]) -> None:
    assert issubclass(error, cc.Error)
    for kind in kinds:
        assert issubclass(error, kind)
    # Consumers of DLPack retry with fewer arguments on it.
    assert not issubclass(error, TypeError)
    assert str(error("one line")) == "one line"
    assert str(pickle.loads(pickle.dumps(error("one line")))) == "one line"


def test_busy() -> None:
    image = cc.Image((4, 4))
    with image.host(write=True):
        with pytest.raises(cc.BusyError, match="being written"):
            image.fill(1)
        with pytest.raises(BufferError), image.host():
            pass
    image.fill(1)


def test_uninitialized() -> None:
    image = cc.Image((4, 4), initialize=False)
    with pytest.raises(cc.UninitializedError), image.host():
        pass


def test_no_device(needs_no_device: None) -> None:
    image = cc.Image((4, 4))
    with pytest.raises(cc.NoDeviceError), image.device():
        pass
    with pytest.raises(cc.NoDeviceError):
        image.prefetch("cuda")


def test_a_device_that_is_not_there(needs_device: None) -> None:
    with pytest.raises(cc.InvalidDeviceError, match="99"):
        cc.Image((4, 4)).set_device(99)


@pytest.mark.parametrize("size", [(2**62, 2**62), (2**63 - 1, 2)])
def test_overflow(size: tuple[int, int]) -> None:
    with pytest.raises(OverflowError):
        cc.Image(size, "uint8")


def test_values_beyond_64_bits_do_not_wrap() -> None:
    with pytest.raises(OverflowError):
        cc.Image((2**64 + 4, 4))
    with pytest.raises(OverflowError):
        cc.Image((4, 4), index=(2**63, 0))
