"""What an image has of arithmetic: operators that make a new image or change it in place, and methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _expressions as expressions
from ._expressions import Expression, Operand, Operators, evaluate
from ._library import check, library
from ._pixel import number_of
from ._streams import stream_handle

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._expressions import Into
    from ._image import Image


class Arithmetic(Operators):
    """For images. Every method takes ``out``, ``dtype`` and ``stream`` as :func:`cudacommon.evaluate` does."""

    __slots__ = ()

    _handle: Any
    _pixel_type: int

    def _new_like(self, pixel_type: int, components: int, size: Any) -> Image:
        raise NotImplementedError

    @property
    def lazy(self) -> Expression:
        """The image as the beginning of an expression, which is computed when it is evaluated, in one pass."""
        return Expression.of(self)  # type: ignore[arg-type]

    def _combine(self, kind: int, *operands: Any) -> Any:
        # An expression takes the image itself.
        if any(isinstance(each, Expression) for each in operands):
            return NotImplemented
        made = self.lazy._combine(kind, *operands)
        return made if made is NotImplemented else evaluate(made)

    def _change(self, kind: int, other: Any) -> Any:
        made = self.lazy._combine(kind, self, other)
        return made if made is NotImplemented else evaluate(made, self)  # type: ignore[arg-type]

    def __iadd__(self, other: Operand) -> Self:
        return self._change(expressions.ADD, other)  # type: ignore[no-any-return]

    def __isub__(self, other: Operand) -> Self:
        return self._change(expressions.SUBTRACT, other)  # type: ignore[no-any-return]

    def __imul__(self, other: Operand) -> Self:
        return self._change(expressions.MULTIPLY, other)  # type: ignore[no-any-return]

    def __itruediv__(self, other: Operand) -> Self:
        return self._change(expressions.DIVIDE, other)  # type: ignore[no-any-return]

    def __pow__(self, exponent: float) -> Image:
        """0.5, or a whole number from 1 to 8 or -1 to -8: by multiplying."""
        return evaluate(self.lazy**exponent)

    def __ipow__(self, exponent: float) -> Self:
        return evaluate(self.lazy**exponent, self)  # type: ignore[arg-type, return-value]

    def _step(self, kind: int, *operands: Operand, **into: Unpack[Into]) -> Image:
        return evaluate(self.lazy._step(kind, *operands), **into)

    def add(self, other: Operand, **into: Unpack[Into]) -> Image:
        return self._step(expressions.ADD, other, **into)

    def subtract(self, other: Operand, **into: Unpack[Into]) -> Image:
        return self._step(expressions.SUBTRACT, other, **into)

    def multiply(self, other: Operand, **into: Unpack[Into]) -> Image:
        return self._step(expressions.MULTIPLY, other, **into)

    def divide(self, other: Operand, **into: Unpack[Into]) -> Image:
        return self._step(expressions.DIVIDE, other, **into)

    def minimum(self, other: Operand, **into: Unpack[Into]) -> Image:
        """The lesser of the two; NaN when one is NaN."""
        return self._step(expressions.MINIMUM, other, **into)

    def maximum(self, other: Operand, **into: Unpack[Into]) -> Image:
        """The greater of the two; NaN when one is NaN."""
        return self._step(expressions.MAXIMUM, other, **into)

    def axpy(self, a: float, x: Operand, *, stream: Any = None) -> Image:
        """``self = a * x + self``, with two roundings. Returns the image."""
        made = Expression.of(x).multiply_add(a, self)  # type: ignore[arg-type]
        return evaluate(made, self, stream=stream)  # type: ignore[arg-type]

    def negate(self, **into: Unpack[Into]) -> Image:
        return self._step(expressions.NEGATE, **into)

    def absolute(self, **into: Unpack[Into]) -> Image:
        """Of complex values the magnitude."""
        return self._step(expressions.ABSOLUTE, **into)

    def square(self, **into: Unpack[Into]) -> Image:
        return self._step(expressions.SQUARE, **into)

    def sqrt(self, **into: Unpack[Into]) -> Image:
        return self._step(expressions.SQUARE_ROOT, **into)

    def real(self, **into: Unpack[Into]) -> Image:
        return self._step(expressions.REAL, **into)

    def imag(self, **into: Unpack[Into]) -> Image:
        """Of real values 0."""
        return self._step(expressions.IMAGINARY, **into)

    def conjugate(self, **into: Unpack[Into]) -> Image:
        return self._step(expressions.CONJUGATE, **into)

    def angle(self, **into: Unpack[Into]) -> Image:
        """From -pi to pi; of real values 0 or pi."""
        return self._step(expressions.ARGUMENT, **into)

    def clamp(self, lower: Operand, upper: Operand, **into: Unpack[Into]) -> Image:
        """No less than ``lower`` and no more than ``upper``; NaN stays."""
        return self._step(expressions.CLAMP, lower, upper, **into)

    def less(self, other: Operand, **into: Unpack[Into]) -> Image:
        return self._step(expressions.LESS, other, **into)

    def equal(self, other: Operand, **into: Unpack[Into]) -> Image:
        """Whether the values are equal, pixel by pixel. ``==`` asks whether two names are of one image."""
        return self._step(expressions.EQUAL, other, **into)

    def within(self, lower: Operand, upper: Operand, **into: Unpack[Into]) -> Image:
        """Whether the values are from ``lower`` to ``upper``, both included."""
        return self._step(expressions.WITHIN, lower, upper, **into)

    def threshold(
        self,
        lower: Operand,
        upper: Operand,
        inside: Operand = 1,
        outside: Operand = 0,
        *,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """``inside`` where the values are from ``lower`` to ``upper``, else ``outside``; of the image's type."""
        made = self.lazy.within(lower, upper).where(inside, outside)
        if out is None and dtype is None:
            out = self._new_like(self._pixel_type, *_shape_of(made))
        return evaluate(made, out, dtype=dtype, stream=stream)

    def magnitude(self, **into: Unpack[Into]) -> Image:
        """One component: the square root of the sum of the squares of each pixel's components."""
        return evaluate(self.lazy.magnitude(), **into)

    def component(self, number: int, **into: Unpack[Into]) -> Image:
        """One component of each pixel, by its number."""
        return evaluate(self.lazy.component(number), **into)

    def cast(self, dtype: Any, *, stream: Any = None) -> Image:
        """The same values as another type: rounded half to even and clamped where it has not all of them."""
        return evaluate(self.lazy, dtype=dtype, stream=stream)

    def rescale(
        self,
        scale: float = 1,
        shift: float = 0,
        *,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """``self * scale + shift``, computed in float64, of the type that this has in NumPy."""
        if out is not None and dtype is not None:
            raise ValueError("out and dtype are given, expected one of them: the result has the type of out")
        if out is None:
            whole = self.lazy * scale + shift
            pixel_type = whole._pixel_type() if dtype is None else number_of(dtype)
            out = self._new_like(pixel_type, *_shape_of(whole))
        check(library.cc_image_rescale(self._handle, scale, shift, out._handle, stream_handle(stream)))
        return out


def _shape_of(expression: Expression) -> tuple[int, list[int]]:
    size, components, _ = expressions._size_of(expression)
    return components, size


def where(
    condition: Operand,
    chosen: Operand,
    otherwise: Operand,
    *,
    out: Image | None = None,
    dtype: Any = None,
    stream: Any = None,
) -> Any:
    """``chosen`` where the condition is not 0, else ``otherwise``: an image, or an expression when one of them is one."""
    made = Expression.of(condition).where(chosen, otherwise)
    if any(isinstance(each, Expression) for each in (condition, chosen, otherwise)):
        if out is not None or dtype is not None or stream is not None:
            raise ValueError("out, dtype and stream are for images, expected none: evaluate() takes them")
        return made
    return evaluate(made, out, dtype=dtype, stream=stream)
