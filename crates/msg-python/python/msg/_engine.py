"""What the adapters of engines share: a function of :mod:`msg.arrow` with its options, and the type of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import arrow

SCALARS = (
    "check", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "stream", "tokens", "tools",
)
"""The functions of one column. ``convert`` has its target too, ``join`` a second column."""


class Kernel:
    """A function over a column with its options; it pickles."""

    def __init__(self, act: str, *args: Any, **options: Any) -> None:
        self.act, self.args, self.options = act, args, options

    def __call__(self, column: Any) -> Any:
        return getattr(arrow, self.act)(column, *self.args, **self.options).to_pyarrow()

    def answer_type(self) -> Any:
        """The Arrow type of the answers. A bad option is said here, before a row is read."""
        import pyarrow

        return self(pyarrow.array([], pyarrow.string())).type


def expression(act: str, over: Callable[[Any, Kernel], Any]) -> Callable[..., Any]:
    """The function of an engine that makes expressions: ``over`` puts a kernel over a column."""

    def made(column: Any, *args: Any, **options: Any) -> Any:
        return over(column, Kernel(act, *args, **options))

    made.__name__ = act
    made.__doc__ = f"The answers of :func:`msg.arrow.{act}` to an expression of documents."
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
