"""To and from ITK's and SimpleITK's images, with all geometry; sharing host memory where those libraries can."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _structures as structures
from ._convert import asnumpy
from ._errors import PixelTypeError
from ._geometry import make_geometry
from ._image import Image
from ._imports import _import_interface


def from_itk(image: Any) -> Image:
    """An image over the buffer of an ``itk.Image`` or ``itk.VectorImage``, with its region index and geometry.

    No pixel is copied; the ITK image is kept alive. As always with ITK, who writes its pixels behind ITK's back calls
    ``Modified()`` on it.
    """
    import itk

    image.Update()
    pixels = itk.GetArrayViewFromImage(image, update=False)
    dimension = int(image.GetImageDimension())
    geometry = make_geometry(
        dimension,
        image.GetSpacing(),
        image.GetOrigin(),
        itk.array_from_matrix(image.GetDirection()),
        list(image.GetBufferedRegion().GetIndex()),
    )
    return _over_host_memory((image, pixels), pixels, dimension, geometry)


def _over_host_memory(owner: Any, pixels: np.ndarray[Any, Any], dimension: int, geometry: structures.Geometry) -> Image:
    params = structures.ImportParams(ctypes.sizeof(structures.ImportParams))
    params.dimension = dimension
    params.geometry = ctypes.pointer(geometry)
    image = _import_interface(owner, np.asarray(pixels).__array_interface__, params, structures.PLACE_HOST, 0)
    image._on_host = None
    return image


def _to_numpy(image: Image) -> np.ndarray[Any, Any]:
    """Host memory on loan, or a copy where the borrower needs it dense and writable."""
    pixels = asnumpy(image, copy=False)
    return pixels if pixels.flags.c_contiguous and pixels.flags.writeable else pixels.copy()


def to_itk(image: Image) -> Any:
    """An ``itk.Image`` over the host memory of an image, with its region index and geometry.

    The memory is on loan as long as the ITK image lives. Views that are not dense, and read-only images, are copied.
    PixelTypeError for what ITK's Python packages are not built for.
    """
    import itk

    pixels = _to_numpy(image)
    try:
        made = itk.GetImageViewFromArray(pixels, is_vector=image.components > 1)
    except (KeyError, RuntimeError, TypeError) as error:
        raise PixelTypeError(
            f"to_itk: this ITK has no image of {image.dimension} dimensions and {image.components} x {image.dtype_name}"
        ) from error
    made.SetRegions(itk.ImageRegion[image.dimension](list(image.index), list(image.size)))
    made.SetSpacing(list(image.spacing))
    made.SetOrigin(list(image.origin))
    made.SetDirection(itk.matrix_from_array(np.array(image.direction)))
    return made


def from_sitk(image: Any) -> Image:
    """An image over the buffer of a ``SimpleITK.Image``, with its geometry; read-only, as SimpleITK lends it.

    No pixel is copied. SimpleITK copies its pixels when somebody writes to the other image, so that this one never
    changes.
    """
    import SimpleITK

    shared = SimpleITK.Image(image)
    pixels = SimpleITK.GetArrayViewFromImage(shared)
    dimension = int(image.GetDimension())
    geometry = make_geometry(
        dimension, image.GetSpacing(), image.GetOrigin(), np.reshape(image.GetDirection(), (dimension, dimension))
    )
    return _over_host_memory((shared, pixels), pixels, dimension, geometry)


def to_sitk(image: Image) -> Any:
    """A ``SimpleITK.Image`` with the pixels, copied, since SimpleITK takes no memory of others.

    Its images begin at index 0: the origin becomes the place of the first pixel, so that each pixel stays where it is.
    """
    import SimpleITK

    if image.dtype_name in ("bool", "float16", "bfloat16"):
        raise PixelTypeError(f"to_sitk: SimpleITK has no {image.dtype_name}")
    with image.host() as pixels:
        made = SimpleITK.GetImageFromArray(pixels, isVector=image.components > 1)
    made.SetSpacing(list(image.spacing))
    made.SetOrigin(list(image.point_of_itk_index(image.index)))
    made.SetDirection([entry for row in image.direction for entry in row])
    return made
