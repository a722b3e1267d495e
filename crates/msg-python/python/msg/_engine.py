"""What the adapters of engines share: a function of :mod:`msg.arrow` with its options, and the type of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from . import arrow

if TYPE_CHECKING:
    from typing import Concatenate

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")

SCALARS = (
    "check", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "stream", "tokens", "tools",
)
"""The functions of one column. ``convert`` has its target too, ``join`` a second column."""


class Kernel:
    """A function over a column with its options; it pickles."""

    def __init__(self, act: str, *args: Any, **options: Any) -> None:
        self.act, self.args, self.options = act, args, options

    def answers(self, column: Any) -> arrow.Answers:
        """The answers as an object of the PyCapsule interface."""
        answers: arrow.Answers = getattr(arrow, self.act)(column, *self.args, **self.options)
        return answers

    def __call__(self, column: Any) -> Any:
        """The answers as a pyarrow array."""
        return self.answers(column).to_pyarrow()

    def answer_type(self) -> Any:
        """The Arrow type of the answers. A bad option is an error here, before a row is read."""
        import pyarrow

        return self(pyarrow.array([], pyarrow.string())).type


def expression(
    like: Callable[Concatenate[Any, P], arrow.Answers], over: Callable[[Any, Kernel], R]
) -> Callable[Concatenate[Any, P], R]:
    """The function of an engine that makes expressions: ``over`` puts a kernel over a column. It takes the options of the
    function of :mod:`msg.arrow` that it is ``like``."""

    def made(column: Any, /, *args: P.args, **options: P.kwargs) -> R:
        return over(column, Kernel(like.__name__, *args, **options))

    made.__name__ = like.__name__
    made.__doc__ = f"The answers of :func:`msg.arrow.{like.__name__}` to an expression of documents."
    return made


def kernels(options: dict[str, dict[str, Any]]) -> dict[str, Kernel]:
    """The functions that an engine registers by name, each with its options.

    ``fit`` and ``convert`` are there where they have options: they do nothing without a budget or a target.
    """
    unknown = set(options).difference(SCALARS, ("convert",))
    if unknown:
        raise TypeError(f"no function is called {min(unknown)!r}")
    acts = [act for act in (*SCALARS, "convert") if act in options or act not in ("fit", "convert")]
    made = {}
    for act in acts:
        given = dict(options.get(act, {}))
        args = (given.pop("to"),) if act == "convert" else ()
        made[f"msg_{act}"] = Kernel(act, *args, **given)
    return made
