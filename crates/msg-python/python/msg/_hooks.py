"""What hooks share: a history is mended, or passed on as it is. A hook never raises because of a bad conversation (RE-3)."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from . import _msg

__all__ = ["Mend"]

D = TypeVar("D")
log = logging.getLogger("msg")


class Mend:
    """:func:`msg.repair` with its options understood once. Bad options are errors here, bad conversations never."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        _msg.repair("[]", options)

    def __call__(self, document: D, **options: Any) -> D:
        """The document mended; the same object if nothing was changed, or if it cannot be read."""
        try:
            return _msg.repair(document, {**options, **self._options}).document
        except Exception as error:  # noqa: BLE001 - the provider may still take it
            log.warning("the history is sent as it is: %s", error)
            return document

    def request(self, request: dict[str, Any], **options: Any) -> dict[str, Any]:
        """The arguments of a call with the list in ``messages`` or ``input`` mended."""
        members: dict[str, dict[str, Any]] = {"messages": {}, "input": {"from_": "responses"}}
        for name, member in members.items():
            history = request.get(name)
            if isinstance(history, list):
                model = request.get("model")
                whole = {"model": model, name: history} if isinstance(model, str) else {name: history}
                mended = self(whole, **{**options, **member})
                return request if mended is whole else {**request, name: mended[name]}
        return request
