"""Operators, methods and expressions of images, against NumPy."""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, image_of
from cudacommon import _expressions, _pixel, _promotion

NUMPY_TYPES = [name for name in DTYPES if name != "bfloat16"]
REAL_TYPES = [name for name in NUMPY_TYPES if not name.startswith("complex")]
#: one of each kind
SOME = ("bool", "uint8", "int16", "int64", "float16", "float32", "float64", "complex64")

#: how the image's operators read, and NumPy's
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def some(dtype: str, shape: tuple[int, ...] = (3, 4), seed: int = 1) -> np.ndarray[Any, Any]:
    """Numbers that no result leaves the type's range with, and no quotient is of 0."""
    random = np.random.default_rng(seed)
    whole = random.integers(1, 8, shape)
    if dtype == "bool":
        return whole > 3
    if dtype.startswith("complex"):
        return (whole + 1j * random.integers(-3, 4, shape)).astype(dtype)
    if dtype.startswith("float"):
        return (whole / 4).astype(dtype)
    return whole.astype(dtype)


def pixels_of(image: cc.Image) -> np.ndarray[Any, Any]:
    return cc.asnumpy(image, copy=True)


def saturated(exact: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """As the library puts float64 into a type."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return exact != 0
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return np.clip(np.rint(exact), float(limits.min), float(limits.max)).astype(kind)
    return exact.astype(kind)


@pytest.mark.parametrize("first", NUMPY_TYPES)
@pytest.mark.parametrize("second", NUMPY_TYPES)
def test_types_of_results_are_numpys(first: str, second: str) -> None:
    numbers = [_pixel.number_of(name) for name in (first, second)]
    assert _pixel.name_of(_promotion.promote(*numbers)) == np.promote_types(first, second).name


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_numbers_are_of_no_type(dtype: str) -> None:
    image = image_of(some(dtype), dtype, device="cpu")
    array = some(dtype)
    for number in (2, 2.5):
        assert (image + number).dtype == np.result_type(array, number)
        assert (number * image).dtype == np.result_type(number, array)
    assert (image / 2).dtype == (array / 2).dtype
    assert (1 + image.lazy * 2.5 - 1).evaluate().dtype == np.result_type(array, 2.5)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "float32", "float64", "complex64", "complex128"])
def test_bfloat16_promotes_as_ml_dtypes_has_it(dtype: str) -> None:
    expected = np.promote_types(ml_dtypes.bfloat16, dtype)
    number = _pixel.number_of(dtype)
    for found in (_promotion.promote(_pixel.BFLOAT16, number), _promotion.promote(number, _pixel.BFLOAT16)):
        assert _pixel.dtype_of(found) == expected
    assert (cc.Image((2,), "bfloat16") + 2.5).dtype_name == "bfloat16"
    assert (cc.Image((2,), "bfloat16") + cc.Image((2,), "int16")).dtype_name == "float32"


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize("first", SOME)
@pytest.mark.parametrize("second", SOME)
def test_operators(sign: str, first: str, second: str) -> None:
    if first == second == "bool" and sign == "-":
        pytest.skip("NumPy has no difference of bools")
    work = OPERATORS[sign]
    a, b = some(first, seed=1), some(second, seed=2)
    if sign == "/" and second == "bool":
        b = np.ones_like(b)
    if sign == "-" and np.promote_types(first, second).kind == "u":
        b = np.minimum(b, a.astype(b.dtype))
    expected = work(a, b)
    result = work(image_of(a, first), image_of(b, second))
    assert result.dtype == expected.dtype
    if "complex" in (first, second) or expected.dtype.kind == "c":
        np.testing.assert_allclose(pixels_of(result), expected, rtol=1e-6)
    elif expected.dtype == np.float16:
        # NumPy rounds operands of float16 to the common type first; here all is float64.
        np.testing.assert_allclose(pixels_of(result), expected, rtol=1e-3)
    else:
        np.testing.assert_array_equal(pixels_of(result), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_numbers_on_either_side(dtype: str) -> None:
    array = some(dtype)
    image = image_of(array, dtype)
    exact = array.astype(np.float64)
    for work in OPERATORS.values():
        for number in (3, 0.75, np.float32(0.5), np.int16(2)):
            for expected, result in ((work(exact, number), work(image, number)), (work(number, exact), work(number, image))):
                np.testing.assert_array_equal(pixels_of(result), saturated(expected, result.dtype_name))
    for number in (10**400, 2**53 + 1):
        with pytest.raises(ValueError, match="float64"):
            image + number


def test_whole_numbers_are_clamped_and_not_wrapped() -> None:
    image = image_of(np.array([0, 100, 250], np.uint8), "uint8")
    assert pixels_of(image + 10).tolist() == [10, 110, 255]
    assert pixels_of(image - 101).tolist() == [0, 0, 149]
    assert pixels_of(image * -1).tolist() == [0, 0, 0]
    image += 0.5
    # Half to even.
    assert pixels_of(image).tolist() == [0, 100, 250]
    big = image_of(np.array([2**63 - 1, -(2**63), 3], np.int64), "int64")
    assert pixels_of(big + 1).tolist() == [2**63 - 1, -(2**63) + 1, 4]


def test_in_place() -> None:
    array = some("float32")
    image = image_of(array, "float32")
    same = image
    view = image.view(index=(1, 1), size=(2, 2))
    other = some("uint8", seed=3)
    image += 1
    image *= image_of(other, "uint8")
    image -= 0.5
    image /= 2
    image **= 2
    assert same is image
    expected = (((array + 1) * other - np.float32(0.5)) / 2) ** 2
    np.testing.assert_array_equal(pixels_of(image), expected)
    np.testing.assert_array_equal(pixels_of(view), expected[1:3, 1:3])
    view += image.view(index=(0, 0), size=(1, 1)).copy().lazy * 0 + 1
    assert image.by_itk_index[1, 1] == expected[1, 1] + 1
    with pytest.raises(cc.BusyError, match="overlap"):
        image += image.view(index=(1, 0), size=(1, 3))


def test_axpy() -> None:
    x, y = some("float32", seed=1), some("float32", seed=2)
    image = image_of(y, "float32")
    assert image.axpy(3, image_of(x, "float32")) is image
    np.testing.assert_array_equal(pixels_of(image), np.float32(3) * x + y)


METHODS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray[Any, Any]], Any]]] = {
    "negate": (lambda i: -i, np.negative),
    "absolute": (abs, np.abs),
    "square": (lambda i: i.square(), np.square),
    "cube": (lambda i: i**3, lambda a: a * a * a),
    "fifth": (lambda i: i**5, lambda a: (a * a) * (a * a) * a),
    "inverse square": (lambda i: i**-2, lambda a: 1 / (a * a)),
    "root": (lambda i: i**0.5, np.sqrt),
    "sqrt": (lambda i: i.sqrt(), np.sqrt),
    "minimum": (lambda i: i.minimum(1), lambda a: np.minimum(a, 1)),
    "maximum": (lambda i: i.maximum(1.25), lambda a: np.maximum(a, 1.25)),
    "clamp": (lambda i: i.clamp(0.5, 1), lambda a: np.clip(a, 0.5, 1)),
    "within": (lambda i: i.within(0.5, 1), lambda a: (a >= 0.5) & (a <= 1)),
    "less": (lambda i: i < 1, lambda a: a < 1),
    "greater": (lambda i: i > 1, lambda a: a > 1),
    "equal": (lambda i: i.equal(1), lambda a: a == 1),
    "real": (lambda i: i.real(), lambda a: a.real),
    "imag": (lambda i: i.imag(), lambda a: a.imag),
    "conjugate": (lambda i: i.conjugate(), np.conjugate),
    "angle": (lambda i: i.angle(), np.angle),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    with np.errstate(all="ignore"):
        ours, numpys = METHODS[name]
        array = np.array([0.25, 1, 1.5, 0, -2, np.inf, -np.inf, np.nan, -0.0], np.float32)
        expected = numpys(array)
        for result in (ours(image_of(array, "float32")), ours(image_of(array, "float32").lazy).evaluate()):
            assert result.dtype == expected.dtype
            if name == "angle":
                np.testing.assert_allclose(pixels_of(result), expected, rtol=1e-7)
            elif name in ("cube", "fifth", "inverse square"):
                # Here every step is float64, NumPy rounds each to float32.
                exact = numpys(array.astype(np.float64)).astype(np.float32)
                np.testing.assert_array_equal(pixels_of(result), exact)
            else:
                np.testing.assert_array_equal(pixels_of(result), expected)


@pytest.mark.parametrize("name", ["negate", "absolute", "square", "real", "imag", "conjugate", "angle", "equal"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_methods_of_complex_pixels(name: str, dtype: str) -> None:
    ours, numpys = METHODS[name]
    array = np.array([3 + 4j, -1j, 1, 0], dtype)
    expected = numpys(array)
    result = ours(image_of(array, dtype))
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(pixels_of(result), expected, rtol=1e-7 if dtype == "complex64" else 1e-15)
    with pytest.raises(cc.PixelTypeError):
        image_of(array, dtype).sqrt()


def test_named_methods_and_where_to() -> None:
    a, b = some("float32", seed=1), some("float32", seed=2)
    image, other = image_of(a, "float32"), image_of(b, "float32")
    for name, work in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide)):
        np.testing.assert_array_equal(pixels_of(getattr(image, name)(other)), work(a, b))
        out = cc.Image((4, 3), "float64")
        assert getattr(image, name)(other, out=out) is out
        np.testing.assert_array_equal(pixels_of(out), work(a.astype(np.float64), b))
        result = getattr(image, name)(other, dtype="int8")
        np.testing.assert_array_equal(pixels_of(result), np.rint(work(a.astype(np.float64), b)).astype(np.int8))
    np.testing.assert_array_equal(pixels_of(image.minimum(other)), np.minimum(a, b))
    np.testing.assert_array_equal(pixels_of(image.equal(other)), a == b)
    result = image.threshold(0.5, 1, 7, 200)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(pixels_of(result), np.where((a >= 0.5) & (a <= 1), 7, 200))
    assert image.threshold(0.5, 1, dtype="uint8").dtype == np.uint8
    np.testing.assert_array_equal(pixels_of(image.negate(out=image)), -a)
    with pytest.raises(ValueError, match="one of them"):
        image.add(1, out=image, dtype="int8")
    with pytest.raises(cc.SizeError):
        image.add(1, out=cc.Image((4, 4)))


@pytest.mark.parametrize("work", [operator.lt, operator.le, operator.gt, operator.ge])
def test_comparisons(work: Any) -> None:
    a = np.array([1, 2, 3, np.nan, 1, -0.0, np.inf, -np.inf], np.float32)
    b = np.array([2, 2, 2, 1, np.nan, 0, np.inf, 0], np.float32)
    image, other = image_of(a, "float32"), image_of(b, "float32")
    result = work(image, other)
    assert result.dtype_name == "bool"
    np.testing.assert_array_equal(pixels_of(result), work(a, b))
    np.testing.assert_array_equal(pixels_of(work(image, 2)), work(a, 2))
    np.testing.assert_array_equal(pixels_of(work(2, image)), work(2, a))
    lazy = work(image.lazy + 1, other.lazy * 2)
    np.testing.assert_array_equal(pixels_of(lazy.evaluate()), work(a + 1, b * 2))
    # Of 64 bits to the last one.
    wide = np.array([2**62, 2**62 + 1, -(2**63), 2**63 - 1], np.int64)
    image, other = image_of(wide, "int64"), image_of(wide[::-1].copy(), "int64")
    np.testing.assert_array_equal(pixels_of(work(image, other)), work(wide, wide[::-1]))
    np.testing.assert_array_equal(pixels_of(work(image, 2**62)), work(wide, 2**62))


def test_where_of_numbers_alone() -> None:
    image = image_of(np.array([1, -1, 2], np.float32), "float32")
    for chosen, otherwise in ((1, 0), (1.5, 0), (True, False)):
        result = cc.where(image > 0, chosen, otherwise)
        expected = np.where([True, False, True], chosen, otherwise)
        if not isinstance(chosen, bool):
            assert result.dtype == expected.dtype
        np.testing.assert_array_equal(pixels_of(result), expected)
    assert cc.where(image > 0, 1, 0, dtype="uint8").dtype_name == "uint8"
    # As everywhere else, a number is of no type beside an image.
    assert ((image.lazy > 0).where(1, 0) * image).evaluate().dtype_name == "float32"


def test_cast_and_rescale() -> None:
    array = np.array([-1.5, 0.5, 2.5, 300, np.nan, np.inf], np.float32)
    image = image_of(array, "float32", spacing=(2.5,), origin=(3,), index=(-4,))
    result = image.cast("uint8")
    assert pixels_of(result).tolist() == [0, 0, 2, 255, 0, 255]
    assert (result.spacing, result.origin, result.index) == ((2.5,), (3,), (-4,))
    whole = image_of(np.array([1, 2, 250], np.uint8), "uint8")
    assert whole.rescale(2).dtype == np.uint8
    assert pixels_of(whole.rescale(2, 1)).tolist() == [3, 5, 255]
    assert pixels_of(whole.rescale(0.5)).tolist() == [0.5, 1, 125]
    assert pixels_of(whole.rescale(2, -1, dtype="int16")).tolist() == [1, 3, 499]
    assert pixels_of(whole.rescale(shift=-1, out=whole)).tolist() == [0, 1, 249]
    with pytest.raises(ValueError, match="finite"):
        whole.rescale(float("inf"))


def test_vectors() -> None:
    array = some("float32", (3, 4, 3))
    image = image_of(array, "float32", 3)
    length = image.magnitude()
    assert (length.components, length.dtype) == (1, np.float32)
    exact = np.sqrt((array.astype(np.float64) ** 2).sum(axis=-1))
    np.testing.assert_allclose(pixels_of(length), exact, rtol=1e-7)
    np.testing.assert_array_equal(pixels_of(image.component(2)), array[..., 2])
    np.testing.assert_array_equal(pixels_of(image * length), array * pixels_of(length)[..., None])
    mask = length > 1.5
    np.testing.assert_array_equal(
        pixels_of(cc.where(mask, image, 0)), np.where(pixels_of(mask)[..., None], array, 0)
    )
    product = image.lazy.component(0) * image.lazy.component(1) - image.lazy.magnitude()
    np.testing.assert_allclose(
        pixels_of(product.evaluate(dtype="float64")), array[..., 0] * array[..., 1] - exact, rtol=1e-7, atol=1e-7
    )
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match="component"):
            image.component(wrong)
    with pytest.raises(ValueError, match=r"of an image: image.lazy.magnitude\(\)"):
        (image.lazy + 1).magnitude()


def test_axes_of_one_pixel_count_for_all() -> None:
    plane, row, column, dot = (some("float32", shape, seed) for seed, shape in enumerate([(3, 4), (1, 4), (3, 1), (1,)]))
    images = [image_of(each, "float32", spacing=[3.0] * each.ndim) for each in (plane, row, column, dot)]
    result = images[1] + images[2]
    np.testing.assert_array_equal(pixels_of(result), row + column)
    np.testing.assert_array_equal(pixels_of(images[0] / images[3]), plane / dot)
    np.testing.assert_array_equal(pixels_of(images[3] - images[0]), dot - plane)
    assert (images[3] - images[0]).spacing == (3, 3)
    with pytest.raises(cc.SizeError):
        images[0] + cc.Image((3, 3))


def test_geometry_is_that_of_the_first_image() -> None:
    first = cc.Image((4, 3), spacing=(2, 3), origin=(5, 6), direction=((0, 1), (1, 0)), index=(-7, 8))
    second = cc.Image((4, 3), spacing=(9, 9))
    result = 1 - first + second
    assert (result.spacing, result.origin, result.index) == (first.spacing, first.origin, first.index)
    assert result.direction == first.direction
    assert (second + first).spacing == (9, 9)


def test_empty_images() -> None:
    image = cc.Image((0, 3)) + 1
    assert image.size == (0, 3)
    image *= 2
    assert (image > 0).dtype == np.bool_


def test_an_expression_is_one_pass() -> None:
    a, b = some("float32", seed=1), some("float32", seed=2)
    x, y = image_of(a, "float32"), image_of(b, "float32")
    made = (x.lazy - y).square() * 0.25 + (x.lazy + y).sqrt() / 3 - y
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    exact = (wide_a - wide_b) ** 2 * 0.25 + np.sqrt(wide_a + wide_b) / 3 - wide_b
    with cc.trace() as events:
        result = made.evaluate()
    assert not [each for each in events if "float64" in str(each)]
    np.testing.assert_array_equal(pixels_of(result), exact.astype(np.float32))
    # As the images are when it is evaluated, and into one of them.
    x.fill(2)
    assert cc.evaluate(made, x) is x
    exact = (2 - wide_b) ** 2 * 0.25 + np.sqrt(2 + wide_b) / 3 - wide_b
    np.testing.assert_array_equal(pixels_of(x), exact.astype(np.float32))
    y += x.lazy * 2
    np.testing.assert_array_equal(pixels_of(y), (exact.astype(np.float32) * 2.0 + b).astype(np.float32))


def program(made: cc.Expression) -> list[tuple[int, ...]]:
    return [(step.kind, step.a.kind, step.b.kind) for step in _expressions._Program(made).steps]


def test_steps() -> None:
    x, y = cc.Image((2,)), cc.Image((2,))
    image, value, step = _expressions.OPERAND_IMAGE, _expressions.OPERAND_VALUE, _expressions.OPERAND_STEP
    load, multiply_add, subtract = _expressions.LOAD, _expressions.MULTIPLY_ADD, _expressions.SUBTRACT
    square, add, multiply = _expressions.SQUARE, _expressions.ADD, _expressions.MULTIPLY
    assert program(x.lazy + y) == [(load, image, 0), (add, image, 0)]
    assert program(y + x.lazy * 2) == [(load, image, 0), (multiply_add, value, image)]
    assert program(x + (y.lazy - 1)) == [(load, image, 0), (subtract, value, 0), (add, image, 0)]
    assert program(x - (y.lazy - 1)) == [
        (load, image, 0),
        (subtract, value, 0),
        (load, image, 0),
        (subtract, step, 0),
    ]
    shared = x.lazy * y
    assert program(shared + shared) == [(load, image, 0), (multiply, image, 0), (add, step, 0)]
    assert program(shared + shared.square()) == [
        (load, image, 0),
        (multiply, image, 0),
        (square, 0, 0),
        (add, step, 0),
    ]
    # With 64 bits a product is clamped by itself.
    wide = cc.Image((2,), "int64")
    assert program(wide.lazy * 2 + 1) == [(load, image, 0), (multiply, value, 0), (add, value, 0)]


def test_fused_and_clamped_whole_numbers() -> None:
    image = image_of(np.array([2**62, -(2**62)], np.int64), "int64")
    assert pixels_of((image.lazy * 8 - 2).evaluate()).tolist() == [2**63 - 1, -(2**63)]
    # -2^63 is the least that a step gives, the product too.
    assert pixels_of((image.lazy * 8 + 2.0**63).evaluate(dtype="int64")).tolist() == [2**63 - 1, 0]


def test_random_expressions() -> None:
    """Against the same tree of NumPy's operations in float64."""
    random = np.random.default_rng(5)
    arrays = [random.integers(-9, 9, (5,)).astype(np.float64) for _ in range(4)]
    images = [image_of(each, "float64") for each in arrays]
    for _ in range(60):
        made = [(images[i].lazy, arrays[i]) for i in range(4)]
        for _ in range(7):
            (e, a), (f, b) = (made[int(random.integers(len(made)))] for _ in range(2))
            kind = int(random.integers(8))
            pairs = [
                (e + f, a + b),
                (e - f, a - b),
                (e * f, a * b),
                (3 - e, 3 - a),
                (e.minimum(f), np.minimum(a, b)),
                (e.clamp(f, 4), np.minimum(np.maximum(a, b), 4)),
                (e.where(f, 1), np.where(a != 0, b, 1)),
                (e.multiply_add(2, f), a * 2 + b),
            ]
            made.append(pairs[kind])
        expression, expected = made[-1]
        np.testing.assert_array_equal(pixels_of(expression.evaluate(dtype="float64")), expected)


def test_too_long_and_too_many() -> None:
    image = cc.Image((2,)).fill(1)
    made = image.lazy
    for _ in range(15):
        made = made.minimum(image)
    assert pixels_of(made.evaluate()).tolist() == [1, 1]
    with pytest.raises(ValueError, match="more than 16 steps"):
        made.minimum(2).evaluate()
    with pytest.raises(ValueError, match="more than 16 steps"):
        for _ in range(100):
            made = made.minimum(2)
    made = image.lazy
    for _ in range(8):
        made = made + cc.Image((2,))
    with pytest.raises(ValueError, match="more than 8 images"):
        made.evaluate()
    with pytest.raises(ValueError, match="no image"):
        cc.evaluate(cc.Expression.of(1) + 2)
    assert pixels_of(cc.evaluate(cc.Expression.of(1) + 2, image)).tolist() == [3, 3]
    assert "2 images in 3 steps" in repr((image.lazy + 1) * cc.Image((2,)))
    for wrong in (0, 9, 1.5, float("nan")):
        with pytest.raises(ValueError, match="exponent"):
            image**wrong


def test_what_is_no_operand() -> None:
    image = cc.Image((3,))
    array = np.zeros(3, np.float32)
    for wrong in (array, [1, 2, 3], "1", None, 1j):
        with pytest.raises(TypeError):
            image + wrong
        with pytest.raises(TypeError):
            wrong - image
        with pytest.raises(TypeError):
            image.lazy * wrong
        with pytest.raises(TypeError):
            image.add(wrong)
    with pytest.raises(TypeError, match="from_array"):
        array + image
    with pytest.raises(TypeError, match="from_array"):
        array += image  # type: ignore[arg-type, misc]
    with pytest.raises(ValueError, match="evaluate"):
        cc.where(image.lazy, 1, 2, dtype="int8")
    assert (image == image, image != 3) == (True, True)
    for wrong in (image, image < 3, image.lazy):
        with pytest.raises(TypeError, match="truth"):
            bool(wrong)


def test_an_expression_keeps_its_images() -> None:
    made = cc.Image((3,)).fill(2).lazy + cc.Image((3,)).fill(3)
    gc.collect()
    assert pixels_of(made.evaluate()).tolist() == [5, 5, 5]


def test_where_it_runs(needs_device: None) -> None:
    image = cc.Image((64, 8), "float32", device=cc.device_count() - 1).fill(2)
    other = cc.Image((64, 8), "float32", device="cpu").fill(3)
    with image.device(write=True):
        pass
    result = image * 2 + image
    place = f"cuda:{cc.device_count() - 1}"
    assert result.state(place).valid_pixels == 512
    assert result.state("cpu").valid_pixels == 0
    assert result.__dlpack_device__() == image.__dlpack_device__()
    assert (pixels_of(result) == 6).all()
    with other.host(write=True):
        pass
    assert (other + 1).__dlpack_device__() == (1, 0)
    for stream in (None, 2):
        image.fill(2, stream=stream)
        image.multiply(4, out=image, stream=stream)
        assert (pixels_of(image) == 8).all()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float32", "float64"])
def test_host_and_device_give_the_same_bits(needs_device: None, dtype: str) -> None:
    a, b = some(dtype, (5, 7, 9), seed=1), some("float32", (5, 7, 9), seed=2)
    results = []
    for on_device in (False, True):
        x, y = image_of(a, dtype), image_of(b, "float32")
        if on_device:
            x.prefetch("cuda")
            y.prefetch("cuda")
        made = ((x.lazy - y) ** 3 / (y + x.lazy)).maximum(x) + y.lazy.sqrt() * 0.1
        results.append(cc.asnumpy(made.evaluate(dtype="float64"), copy=True))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.gpu
def test_beside_cupy() -> None:
    """What CuPy has queued is in the image, and what the image has queued CuPy sees."""
    cp = pytest.importorskip("cupy")
    image = cc.Image((512, 512, 16), "float32").fill(1)
    array = cp.asarray(image)
    for _ in range(10):
        array += 1
        image *= 2
    np.testing.assert_array_equal(cp.asnumpy(array), 3 * 2**10 - 2)
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        lent = cc.ascupy(image)
        lent -= 3 * 2**10 - 2
        stream.synchronize()
    image.add(1, out=image, stream=stream)
    assert image.min() == image.max() == 1
