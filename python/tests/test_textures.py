"""Images as textures: what they are made of, when they are made, and what a kernel reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import image_of, values

KERNEL = r"""
extern "C" __global__ void read(unsigned long long object, const float *at, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex3D<float>(object, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}
"""


@pytest.mark.parametrize(
    ("components", "per_component", "objects", "channels"),
    [(1, False, 1, 1), (2, False, 1, 2), (3, False, 3, 1), (4, False, 1, 4), (4, True, 4, 1), (9, False, 9, 1)],
)
def test_objects(needs_device: None, components: int, per_component: bool, objects: int, channels: int) -> None:
    image = cc.Image((5, 4, 3), "float32", components=components)
    with image.texture(per_component=per_component) as texture:
        assert len(texture.objects) == len(set(texture.objects)) == objects
        assert texture.channels == channels
        assert texture.device == 0


def test_made_again_when_pixels_have_changed(needs_device: None) -> None:
    image = cc.Image((8, 8, 8), "float32").fill(1)
    for _ in range(2):
        with image.texture(linear=True, address=("clamp", "clamp", "border")):
            pass
        with image.texture():
            pass
    assert image.counters.texture_updates == 1
    assert image.state("cuda").texture_bytes == 8**3 * 4
    image.by_itk_index[1, 2, 3] = 5
    with image.texture():
        pass
    assert image.counters.texture_updates == 2


def test_a_mapping_for_reading(needs_device: None) -> None:
    image = cc.Image((8, 8), "uint8").fill(1)
    with image.texture(shape="plane", normalized_read=True, linear=True, index=(2, 2), size=(3, 3)):
        with pytest.raises(cc.BusyError), image.host(write=True):
            pass
        with image.host() as pixels:
            assert (pixels == 1).all()
    with image.host(write=True):
        pass


def test_refusals(needs_device: None) -> None:
    image = cc.Image((8, 8, 8), "float64")
    with pytest.raises(cc.PixelTypeError), image.texture():
        pass
    image = cc.Image((8, 8, 8), "float32")
    with pytest.raises(ValueError, match="shape = 'cube'"):
        image.texture(shape="cube")
    with pytest.raises(ValueError, match="address = 'away'"):
        image.texture(address="away")
    with pytest.raises(ValueError), image.texture(address="wrap"):
        pass
    with pytest.raises(ValueError), image.texture(shape="plane"):
        pass
    texture = image.texture()
    with texture, pytest.raises(RuntimeError, match="mapped already"):
        texture.__enter__()


def test_without_pixels(needs_device: None) -> None:
    with cc.Image((4, 0, 3), "float32").texture() as texture:
        assert texture.objects == ()


@pytest.mark.gpu
def test_read_by_a_kernel() -> None:
    cp: Any = pytest.importorskip("cupy")
    array = values((6, 7, 8), "float32")
    image = image_of(array, "float32")
    at = cp.asarray([[0.5, 0.5, 0.5], [3.5, 4.5, 5.5], [3.0, 4.5, 5.5], [-9, 4.5, 5.5]], "float32")
    out = cp.zeros(4, "float32")
    stream = cp.cuda.Stream.null
    with image.texture(stream=stream, linear=True, address="clamp") as texture:
        kernel = cp.RawKernel(KERNEL, "read")
        kernel((1,), (4,), (np.uint64(texture.objects[0]), at, out, np.int32(4)), stream=stream)
    expected = [array[0, 0, 0], array[5, 4, 3], (array[5, 4, 2] + array[5, 4, 3]) / 2, array[5, 4, 0]]
    np.testing.assert_allclose(cp.asnumpy(out), expected, rtol=1e-5)
