"""Ten thousand times the same leaves nothing behind: no loan, no image, no Python object."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import values
from cudacommon import _owners

TIMES = 10_000


def host_image() -> cc.Image:
    return cc.Image((8, 8), "float32", device="cpu").fill(1)


def read_attribute(image: cc.Image) -> None:
    image.__array_interface__  # noqa: B018


def read_device_attribute(image: cc.Image) -> None:
    image.__cuda_array_interface__  # noqa: B018


def make_unused_capsule(image: cc.Image) -> None:
    image.__dlpack__(max_version=(1, 0))


def make_array(image: cc.Image) -> None:
    np.asarray(image)


def make_exact_array(image: cc.Image) -> None:
    cc.asnumpy(image, copy=False)


def make_dlpack_array(image: cc.Image) -> None:
    np.from_dlpack(image)  # type: ignore[arg-type]


def make_view(image: cc.Image) -> None:
    image.view(index=(1, 1))


def map_host(image: cc.Image) -> None:
    with image.host():
        pass


ARRAY = values((8, 8), "float32")


def import_array(image: cc.Image) -> None:
    cc.from_array(ARRAY, 2)


class Tensor:
    def __dlpack__(self, **arguments: Any) -> Any:
        return ARRAY.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


TENSOR = Tensor()


def import_tensor(image: cc.Image) -> None:
    cc.from_array(TENSOR, 2)


def refuse(image: cc.Image) -> None:
    try:
        cc.from_array(ARRAY[::-1], 2)
    except BufferError:
        pass


def grown(image: cc.Image, work: Callable[[cc.Image], Any], times: int) -> int:
    for _ in range(200):
        work(image)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(times):
            work(image)
        gc.collect()
        cc.collect()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "work",
    [
        read_attribute,
        make_unused_capsule,
        make_array,
        make_exact_array,
        make_dlpack_array,
        make_view,
        map_host,
        import_array,
        import_tensor,
        refuse,
    ],
)
def test_host(work: Callable[[cc.Image], Any]) -> None:
    image = host_image()
    # Less than a byte for each time: no object is as small as that.
    assert grown(image, work, TIMES) < TIMES
    assert image.state().loans <= 1
    assert _owners.kept() == 0
    assert len(cc.live_images()) == 1


@pytest.mark.parametrize("work", [read_device_attribute, make_unused_capsule])
def test_device(work: Callable[[cc.Image], Any], needs_device: None) -> None:
    image = cc.Image((8, 8), "float32").fill(1)
    assert grown(image, work, TIMES) < TIMES
    assert image.state("cuda").loans <= 1
    image.end_loans()
    assert image.state("cuda").loans == 0
    image.evict("cuda")
