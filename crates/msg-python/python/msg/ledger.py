"""Where a prompt cache broke: which member of a request changed, how, and what that cost.

>>> ask = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}
>>> ledger = CacheLedger()
>>> ledger.push(ask)["parent"], ledger.push({**ask, "model": "gpt-5-mini"})["relation"]
(None, 'break')
"""

from __future__ import annotations

from . import _msg
from .errors import ParseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typing_extensions import Unpack

    from .options import CacheOptions
    from .types import Document

__all__ = ["CacheLedger", "cache"]


def cache(*requests: Document | Iterable[Document], **options: Unpack[CacheOptions]) -> dict[str, Any]:
    """What a prompt cache still reads of each request, as ``{"rows": [...], "totals": {...}}``: what ``msg cache --json`` prints.

    Takes requests, or one list or other iterable of them. A request is a body, or an entry of a log: ``{"request": ..., "response": ..., "time": ..., "run": ...}``. A request that
    cannot be read has a row with an ``error``.

    Options:
        from_: The API of the requests (anthropic, openai, responses, gemini, bedrock) or the agent of the session. Default: recognised
        provider: The provider whose caching rules apply: one of `rules`, or a profile, which has those of OpenAI if it is not one of these. Default: by API, model and address
        prices: Prices in LiteLLM's format, instead of the built-in list
        min_missed: Report misses of at least this many tokens
        runs: Remember at most this many runs of a log

    >>> ask = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}
    >>> answer = cache(ask, {**ask, "model": "gpt-5-mini"})
    >>> answer["rows"][1]["changes"][0]["code"], answer["totals"]["requests"]
    ('cache::model-changed', 2)
    """
    ledger = CacheLedger(**options)
    given: Any = requests[0] if len(requests) == 1 and _is_several(requests[0]) else requests
    rows = []
    for at, it in enumerate(given):
        try:
            rows.append(ledger.push(it))
        except (TypeError, ParseError) as error:
            raise type(error)(f"[{at}]: {error}") from error
    return {"rows": rows, "totals": ledger.totals()}


def _is_several(value: Any) -> bool:
    """Whether a value is requests, and not one: no request is a list."""
    return hasattr(value, "__iter__") and not (isinstance(value, str | bytes | bytearray | memoryview) or hasattr(value, "keys") or hasattr(value, "model_dump"))


class CacheLedger:
    """:func:`cache` for a program that runs on: one request at a time, in memory that does not grow with their number.

    Options:
        from_: The API of the requests (anthropic, openai, responses, gemini, bedrock) or the agent of the session. Default: recognised
        provider: The provider whose caching rules apply: one of `rules`, or a profile, which has those of OpenAI if it is not one of these. Default: by API, model and address
        prices: Prices in LiteLLM's format, instead of the built-in list
        min_missed: Report misses of at least this many tokens
        runs: Remember at most this many runs of a log

    >>> CacheLedger().push({"messages": [{"role": "user", "content": "hi"}]})["run"]
    1
    """

    __slots__ = ("_ledger",)

    def __init__(self, **options: Unpack[CacheOptions]) -> None:
        self._ledger = _msg.CacheLedger(options)

    def push(self, request: Document, /) -> dict[str, Any]:
        """The row of the next request."""
        row: dict[str, Any] = self._ledger.push(request)
        return row

    def totals(self) -> dict[str, Any]:
        """What the requests so far add up to."""
        totals: dict[str, Any] = self._ledger.totals()
        return totals
