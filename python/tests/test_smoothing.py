"""Smoothing and convolution, against SciPy and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import image_of
from test_filters import SPACING, made, pixels_of


@pytest.mark.parametrize("border", ["replicate", "symmetric", "reflect", "periodic", "constant"])
def test_gaussian(border: str) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    modes = {"replicate": "nearest", "symmetric": "reflect", "reflect": "mirror", "periodic": "wrap"}
    array = made((9, 10, 11))
    image = image_of(array, "float64", spacing=SPACING)
    sigmas = (1.5, 0.0, 2.5)
    expected = ndimage.gaussian_filter(array, sigmas[::-1], mode=modes.get(border, border), cval=7, truncate=3)
    result = image.gaussian(sigmas, "pixels", border=border, value=7, truncate=3)
    np.testing.assert_allclose(pixels_of(result), expected, rtol=1e-12)
    millimetres = [sigma * step for sigma, step in zip(sigmas, SPACING, strict=True)]
    assert image.gaussian(millimetres, border=border, value=7, truncate=3, out=image) is image
    np.testing.assert_allclose(pixels_of(image), expected, rtol=1e-12)
    assert cc.Image((4,), "uint8").gaussian(1).dtype == np.uint8


@pytest.mark.parametrize("axis", [0, 1])
def test_convolve_axis(axis: int) -> None:
    array = made((5, 8))
    image = image_of(array, "float64")
    weights = np.array([1, -2, 0.5, 4])
    lines = array if axis == 0 else array.T
    for centre in (None, 0, 3):
        at = 2 if centre is None else centre
        exact = np.stack([np.convolve(line, weights)[at : at + line.size] for line in lines])
        result = image.convolve_axis(weights, axis, centre=centre)
        np.testing.assert_allclose(pixels_of(result), exact if axis == 0 else exact.T, atol=1e-9)
    flat = image.convolve_axis(np.ones(17), axis, domain="frequency")
    np.testing.assert_allclose(pixels_of(flat), array, atol=1e-9)
    line = cc.Image((3,), "float32").fill(2)
    np.testing.assert_allclose(
        pixels_of(image.convolve_axis(line, axis, out=cc.Image((8, 5), "float32"))),
        pixels_of(image.convolve_axis([2, 2, 2], axis, dtype="float32")),
        rtol=1e-5,
    )
    factors = np.exp(1j * np.arange(17))
    factors[0], factors[-1] = 1, 1
    spectrum = np.fft.rfft(lines, 32, axis=1) * factors
    exact = np.fft.irfft(spectrum, 32, axis=1)[:, : lines.shape[1]]
    result = image.convolve_axis(factors, axis, domain="frequency")
    np.testing.assert_allclose(pixels_of(result), exact if axis == 0 else exact.T, atol=1e-9)


def test_arguments() -> None:
    image = cc.Image((4, 3))
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: image.gaussian((1, 2, 3)), "sigma"),
        (lambda: image.gaussian(-1), "sigma"),
        (lambda: image.gaussian(1, "metres"), "unit"),
        (lambda: image.gaussian(1, border="mirror"), "border"),
        (lambda: image.convolve_axis([[1]]), "filter"),
        (lambda: image.convolve_axis(["a"]), "filter"),
        (lambda: image.convolve_axis([1], domain="time"), "domain"),
        (lambda: image.convolve_axis([1], 2), "axis"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_on_a_device(needs_device: None) -> None:
    last = cc.device_count() - 1
    image = cc.Image((8, 6), "float32", device=last).fill(2)
    with image.device(write=True):
        pass
    result = image.gaussian(1, stream=2)
    assert result.__dlpack_device__() == (2, last)
    assert result.state("cpu").valid_pixels == 0
    np.testing.assert_allclose(pixels_of(result), 2, rtol=1e-6)
