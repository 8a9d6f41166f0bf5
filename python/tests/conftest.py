"""What all tests share: nothing may be left behind, and tests that need a GPU say so."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from typing import Any

# JAX would take most of a GPU's memory for itself, and other tests need some.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import pytest

import cudacommon as cc
from cudacommon import _owners, _pixel

REQUIRES_GPU = os.environ.get("CC_TEST_REQUIRE_GPU") == "1"

#: every pixel type by NumPy's name, and three that stand for all
DTYPES = _pixel._NAMES
SOME_DTYPES = ("uint8", "int16", "float32")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    is_here = cc.device_backend() == "cuda" or REQUIRES_GPU
    for item in items:
        if item.get_closest_marker("gpu"):
            # What the libraries of others warn of is not ours.
            item.add_marker(pytest.mark.filterwarnings("ignore"))
            if not is_here:
                item.add_marker(pytest.mark.skip(reason="no CUDA device here"))


def live_count() -> int:
    # Owners that were let go in one round may be part of cycles themselves.
    gc.collect()
    gc.collect()
    cc.collect()
    return len(cc.live_images())


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Every image, and every object that lent memory, is gone after a test."""
    before = live_count(), _owners.kept()
    yield
    left = live_count(), _owners.kept()
    # What is here now stays; leaving it out makes the next collections quick.
    gc.freeze()
    assert left == before


@pytest.fixture
def needs_device() -> None:
    if cc.device_count() == 0:
        pytest.skip("no device, not even an emulated one")


@pytest.fixture
def needs_no_device() -> None:
    if cc.device_count() != 0:
        pytest.skip("only without a device")


def storage(dtype: str) -> np.dtype[Any]:
    """As NumPy stores a pixel type without the help of others."""
    return np.dtype(np.uint16 if dtype == "bfloat16" else dtype)


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Different small numbers, exact in every type but bool."""
    count = int(np.prod(shape, dtype=np.int64))
    numbers = (np.arange(count) % 97).reshape(shape)
    if dtype == "bool":
        return numbers % 3 == 0
    if dtype == "bfloat16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(dtype)


def as_storage(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """bfloat16 as its bits, everything else as it is."""
    return array.view(np.uint16) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array


def image_of(array: np.ndarray[Any, Any], dtype: str, components: int = 1, **geometry: Any) -> cc.Image:
    """An image of its own with these pixels, listed in C order."""
    pixel_shape = array.shape[: array.ndim - (components > 1)]
    image = cc.Image(pixel_shape[::-1], dtype, components, **geometry)
    with image.host(write=True, read=False) as pixels:
        as_storage(pixels)[...] = array
    return image


def device_bytes(pointer: int, count: int, device: int = 0) -> bytes:
    """What is in memory of the emulated device, after its legacy stream has run."""
    assert cc.device_backend() == "emulated"
    cc.synchronize(device)
    return ctypes.string_at(pointer, count)
