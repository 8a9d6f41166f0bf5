"""Arithmetic on pixels: operators, and expressions that are computed in one pass over memory."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from ctypes import c_void_p
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Union

import numpy as np

from . import _structures as structures
from ._library import check, library
from ._pixel import number_of
from ._promotion import ANY_FLOAT, ANY_INTEGER, BOOL, INT64, UINT64, float_of, of_numbers, promote, real_of
from ._streams import stream_handle

if TYPE_CHECKING:
    from typing_extensions import Self, TypedDict

    from ._image import Image

    class Into(TypedDict, total=False):
        """Where a result goes; see evaluate()."""

        out: Image | None
        dtype: Any
        stream: Any

MAX_STEPS = 16
MAX_INPUTS = 8

LOAD = 0
ADD = 1
SUBTRACT = 2
MULTIPLY = 3
DIVIDE = 4
MINIMUM = 5
MAXIMUM = 6
MULTIPLY_ADD = 7
CLAMP = 8
WITHIN = 9
LESS = 10
EQUAL = 11
SELECT = 12
NEGATE = 13
ABSOLUTE = 14
SQUARE = 15
SQUARE_ROOT = 16
REAL = 17
IMAGINARY = 18
CONJUGATE = 19
ARGUMENT = 20

OPERAND_NONE = 0
OPERAND_IMAGE = 1
OPERAND_COMPONENT = 2
OPERAND_MAGNITUDE = 3
OPERAND_VALUE = 4
OPERAND_STEP = 5

_COMMUTATIVE: Final = (ADD, MULTIPLY, MINIMUM, MAXIMUM, EQUAL)
_OF_BOOL: Final = (WITHIN, LESS, EQUAL)
_WIDE: Final = (INT64, UINT64)

#: What an image or an expression can be combined with.
Operand = Union["Image", "Expression", float]


class Operators:
    """``+ - * / **``, ``abs()`` and comparisons, for images, which compute at once, and for expressions, which do not."""

    __slots__ = ()

    #: Or NumPy's arrays and numbers would take an image for a sequence of theirs.
    __array_priority__ = 1000.0

    def _combine(self, kind: int, *operands: Any) -> Any:
        raise NotImplementedError

    def __add__(self, other: Operand) -> Self:
        return self._combine(ADD, self, other)  # type: ignore[no-any-return]

    def __radd__(self, other: Operand) -> Self:
        return self._combine(ADD, other, self)  # type: ignore[no-any-return]

    def __sub__(self, other: Operand) -> Self:
        return self._combine(SUBTRACT, self, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: Operand) -> Self:
        return self._combine(SUBTRACT, other, self)  # type: ignore[no-any-return]

    def __mul__(self, other: Operand) -> Self:
        return self._combine(MULTIPLY, self, other)  # type: ignore[no-any-return]

    def __rmul__(self, other: Operand) -> Self:
        return self._combine(MULTIPLY, other, self)  # type: ignore[no-any-return]

    def __truediv__(self, other: Operand) -> Self:
        return self._combine(DIVIDE, self, other)  # type: ignore[no-any-return]

    def __rtruediv__(self, other: Operand) -> Self:
        return self._combine(DIVIDE, other, self)  # type: ignore[no-any-return]

    def __lt__(self, other: Operand) -> Self:
        return self._combine(LESS, self, other)  # type: ignore[no-any-return]

    def __gt__(self, other: Operand) -> Self:
        return self._combine(LESS, other, self)  # type: ignore[no-any-return]

    # What lies between b and itself equals b or more, and NaN does not.

    def __le__(self, other: Operand) -> Self:
        return self._combine(WITHIN, other, self, other)  # type: ignore[no-any-return]

    def __ge__(self, other: Operand) -> Self:
        return self._combine(WITHIN, self, other, self)  # type: ignore[no-any-return]

    def __neg__(self) -> Self:
        return self._combine(NEGATE, self)  # type: ignore[no-any-return]

    def __abs__(self) -> Self:
        return self._combine(ABSOLUTE, self)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        raise TypeError("an image has no truth of its own; ask for that of a number, as (a < b).min()")


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.bool_)) and not isinstance(value, Operators)


class Expression(Operators):
    """What is to be computed for each component of each pixel: made of images, numbers and operators.

    ``image.lazy`` begins one. ``evaluate()`` computes it, reading each image once, with no image in between. It keeps
    the images that it is made of, and sees them as they are when it is evaluated.
    """

    __slots__ = ("_component", "_image", "_kind", "_operands", "_take", "_value", "depth")

    def __init__(self, kind: int, operands: tuple[Expression, ...]) -> None:
        self._kind = kind
        self._operands = operands
        self._take = OPERAND_NONE
        self._image: Image | None = None
        self._value: float = 0.0
        self._component = 0
        #: the most steps that wait for one another
        self.depth: int = 1 + max((each.depth for each in operands), default=0)
        if self.depth > MAX_STEPS:
            raise ValueError(f"the expression has more than {MAX_STEPS} steps; evaluate a part of it first")

    @classmethod
    def of(cls, value: Operand) -> Expression:
        """An image, a number or an expression as an expression."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, Operators):
            return cls._leaf(OPERAND_IMAGE, value)
        if not _is_number(value):
            raise TypeError(f"operand = {value!r}, expected an image, an expression or a real number")
        made = cls._leaf(OPERAND_VALUE)
        made._value = bool(value) if isinstance(value, (bool, np.bool_)) else value
        try:
            exact = float(made._value) == made._value or made._value != made._value
        except OverflowError:
            exact = False
        if not exact:
            raise ValueError(f"operand = {value!r}, expected a number that float64 has")
        return made

    @classmethod
    def _leaf(cls, take: int, image: Any = None, component: int = 0) -> Expression:
        made = cls(LOAD, ())
        made._take = take
        made._image = image
        made._component = component
        return made

    def _combine(self, kind: int, *operands: Any) -> Any:
        for each in operands:
            if isinstance(each, np.ndarray):
                raise TypeError("operand is a NumPy array, expected an image: cudacommon.from_array() makes one of it")
            if not (isinstance(each, Operators) or _is_number(each)):
                return NotImplemented
        return Expression(kind, tuple(Expression.of(each) for each in operands))

    def _step(self, kind: int, *operands: Operand) -> Expression:
        return Expression(kind, (self, *(Expression.of(each) for each in operands)))

    def __pow__(self, exponent: float) -> Expression:
        """0.5, or a whole number from 1 to 8 or -1 to -8: by multiplying."""
        if exponent == 0.5:
            return self.sqrt()
        if exponent != exponent or abs(exponent) > 8 or exponent != int(exponent) or exponent == 0:
            raise ValueError(f"exponent = {exponent}, expected 0.5, 1 to 8, or -1 to -8")
        power = self._to_the(abs(int(exponent)))
        return 1 / power if exponent < 0 else power

    def _to_the(self, exponent: int) -> Expression:
        if exponent == 1:
            return self
        half = self._to_the(exponent // 2)._step(SQUARE)
        return half._step(MULTIPLY, self) if exponent % 2 else half

    def multiply_add(self, factor: Operand, summand: Operand) -> Expression:
        """``self * factor + summand`` in one step."""
        return self._step(MULTIPLY_ADD, factor, summand)

    def minimum(self, other: Operand) -> Expression:
        return self._step(MINIMUM, other)

    def maximum(self, other: Operand) -> Expression:
        return self._step(MAXIMUM, other)

    def clamp(self, lower: Operand, upper: Operand) -> Expression:
        """No less than ``lower`` and no more than ``upper``; NaN stays."""
        return self._step(CLAMP, lower, upper)

    def within(self, lower: Operand, upper: Operand) -> Expression:
        """Whether it is from ``lower`` to ``upper``, both included."""
        return self._step(WITHIN, lower, upper)

    def less(self, other: Operand) -> Expression:
        return self._step(LESS, other)

    def equal(self, other: Operand) -> Expression:
        return self._step(EQUAL, other)

    def where(self, chosen: Operand, otherwise: Operand) -> Expression:
        """``chosen`` where this is not 0, else ``otherwise``."""
        return self._step(SELECT, chosen, otherwise)

    def absolute(self) -> Expression:
        """Of a complex value its magnitude."""
        return self._step(ABSOLUTE)

    def square(self) -> Expression:
        return self._step(SQUARE)

    def sqrt(self) -> Expression:
        return self._step(SQUARE_ROOT)

    def real(self) -> Expression:
        return self._step(REAL)

    def imag(self) -> Expression:
        """Of a real value 0."""
        return self._step(IMAGINARY)

    def conjugate(self) -> Expression:
        return self._step(CONJUGATE)

    def angle(self) -> Expression:
        """From -pi to pi; of a real value 0 or pi."""
        return self._step(ARGUMENT)

    def component(self, number: int) -> Expression:
        """One component of each pixel; of an image alone, ``image.lazy.component(2)``."""
        number = number.__index__()
        return Expression._leaf(OPERAND_COMPONENT, self._whole_image("component"), number)

    def magnitude(self) -> Expression:
        """The square root of the sum of the squares of each pixel's components; of an image alone."""
        return Expression._leaf(OPERAND_MAGNITUDE, self._whole_image("magnitude"))

    def _whole_image(self, what: str) -> Image:
        if self._take != OPERAND_IMAGE or self._image is None:
            raise ValueError(f"{what}() is of an image: image.lazy.{what}()")
        return self._image

    def evaluate(self, out: Image | None = None, *, dtype: Any = None, stream: Any = None) -> Image:
        """Computes it, where the pixels are. See :func:`evaluate`."""
        return evaluate(self, out, dtype=dtype, stream=stream)

    def __repr__(self) -> str:
        program = _Program(self)
        return f"<cudacommon.Expression of {len(program.inputs)} images in {len(program.steps)} steps>"

    # What comes out of it

    def _pixel_type(self) -> int:
        """A pixel type, or a number's."""
        if self._take == OPERAND_VALUE:
            return ANY_INTEGER if isinstance(self._value, numbers.Integral) else ANY_FLOAT
        if self._image is not None:
            own = self._image._pixel_type
            return float_of(own) if self._take == OPERAND_MAGNITUDE else own
        if self._kind in _OF_BOOL:
            return BOOL
        types = [each._pixel_type() for each in self._operands]
        if self._kind == SELECT:
            types = types[1:]
        found = types[0]
        for each in types[1:]:
            found = promote(found, each)
        if self._kind in (DIVIDE, SQUARE_ROOT):
            return float_of(found)
        if self._kind == ARGUMENT:
            return float_of(real_of(found))
        return real_of(found) if self._kind in (ABSOLUTE, REAL, IMAGINARY) else found


class _Program:
    """An expression as the library takes it: a running value, and steps that change it."""

    def __init__(self, expression: Expression, out_type: int | None = None) -> None:
        self.inputs: list[Image] = []
        self.steps: list[structures.Step] = []
        self._numbers: dict[int, int] = {}
        self._step_of: dict[int, int] = {}
        self._uses: dict[int, int] = {}
        # Of whole numbers with 64 bits a product is clamped before something is added.
        self._is_wide = out_type in _WIDE
        self._survey(expression)
        self._emit(expression)

    def _survey(self, expression: Expression) -> None:
        uses = self._uses[id(expression)] = self._uses.get(id(expression), 0) + 1
        if expression._image is not None and expression._image._pixel_type in _WIDE:
            self._is_wide = True
        if uses == 1:
            for each in expression._operands:
                self._survey(each)

    def _operand(self, expression: Expression) -> structures.Operand:
        take = expression._take
        if take == OPERAND_NONE:
            return structures.Operand(0.0, OPERAND_STEP, self._step_of[id(expression)])
        image = expression._image
        if image is None:
            return structures.Operand(expression._value, OPERAND_VALUE)
        number = self._numbers.get(id(image))
        if number is None:
            if len(self.inputs) == MAX_INPUTS:
                raise ValueError(f"the expression has more than {MAX_INPUTS} images; evaluate a part of it first")
            number = self._numbers[id(image)] = len(self.inputs)
            self.inputs.append(image)
        return structures.Operand(0.0, take, number, expression._component)

    def _add(self, kind: int, operands: Sequence[Expression]) -> None:
        if len(self.steps) == MAX_STEPS:
            raise ValueError(f"the expression has more than {MAX_STEPS} steps; evaluate a part of it first")
        self.steps.append(structures.Step(kind, 0, *(self._operand(each) for each in operands)))

    def _is_at_hand(self, expression: Expression) -> bool:
        """Whether it can be an operand: a leaf, or the value of an earlier step."""
        return expression._take != OPERAND_NONE or id(expression) in self._step_of

    def _is_running(self, expression: Expression) -> bool:
        return bool(self.steps) and self._step_of.get(id(expression)) == len(self.steps) - 1

    def _emit(self, expression: Expression) -> None:
        """Makes it the running value."""
        if self._is_running(expression):
            return
        if self._is_at_hand(expression):
            self._add(LOAD, [expression])
            return
        kind, (first, *rest) = self._fused(expression)
        if kind in _COMMUTATIVE and self._is_at_hand(first) and not self._is_at_hand(rest[0]):
            first, rest = rest[0], [first]
        for each in rest:
            if each is not first and not self._is_at_hand(each):
                self._emit(each)
        if kind in _COMMUTATIVE and self._is_at_hand(first) and self._is_running(rest[0]):
            first, rest = rest[0], [first]
        self._emit(first)
        self._add(kind, rest)
        self._step_of[id(expression)] = len(self.steps) - 1

    def _fused(self, expression: Expression) -> tuple[int, tuple[Expression, ...]]:
        """A product and a sum as one step, which rounds as two, when nobody else needs the product."""
        if expression._kind == ADD and not self._is_wide:
            first, second = expression._operands
            for product, summand in ((first, second), (second, first)):
                if product._kind == MULTIPLY and self._uses[id(product)] == 1:
                    return MULTIPLY_ADD, (*product._operands, summand)
        return expression._kind, expression._operands


def _leaves(expression: Expression, found: dict[int, Expression]) -> dict[int, Expression]:
    """What it is made of: images as a whole, or in part."""
    if id(expression) not in found:
        found[id(expression)] = expression
        for each in expression._operands:
            _leaves(each, found)
    return found


def _size_of(expression: Expression) -> tuple[list[int], int, Image | None]:
    """Size and components of what comes out, and an image that has as many pixels, or else axes, for its geometry."""
    size: list[int] = []
    components = 1
    like: Image | None = None
    for leaf in _leaves(expression, {}).values():
        image = leaf._image
        if image is None:
            continue
        own = list(image.size)
        if own != size:
            grown = [other if first == 1 else first for first, other in zip_longest(size, own, fillvalue=1)]
            if like is None or (grown == own and size != grown) or len(own) > len(size):
                like = image
            size = grown
        if leaf._take == OPERAND_IMAGE and components == 1:
            components = image.components
    return size, components, like


def evaluate(expression: Operand, out: Image | None = None, *, dtype: Any = None, stream: Any = None) -> Image:
    """Computes an expression in one pass over memory, where the pixels are, and returns the image with the result.

    Into ``out``, which may be one of the images in it; else into a new image, of the type that NumPy would give the
    result, or of ``dtype``, with the place in space of the first image that has its size. Numbers are rounded half to
    even and clamped into its type. On a device the work is queued in ``stream`` (None: the legacy default one), and
    nobody waits.
    """
    whole = Expression.of(expression)
    if out is not None and dtype is not None:
        raise ValueError("out and dtype are given, expected one of them: the result has the type of out")
    if out is None:
        size, components, like = _size_of(whole)
        if like is None:
            raise ValueError("the expression has no image, expected one, or out")
        out_type = of_numbers(whole._pixel_type()) if dtype is None else number_of(dtype)
        out = like._new_like(out_type, components, size)
    program = _Program(whole, out._pixel_type)
    steps = (structures.Step * len(program.steps))(*program.steps)
    inputs = (c_void_p * len(program.inputs))(*(image._handle for image in program.inputs))
    check(
        library.cc_image_evaluate(
            steps, len(program.steps), inputs, len(program.inputs), out._handle, stream_handle(stream)
        )
    )
    return out
