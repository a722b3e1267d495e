"""What hooks share: a history is mended, or passed on as it is. A hook never raises because of a bad conversation (RE-3)."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from . import _msg

__all__ = ["Mend", "is_continued", "log_edits", "log_unread"]

D = TypeVar("D")
log = logging.getLogger("msg")

ELSEWHERE = ("previous_response_id", "conversation")
"""What names the earlier turns of a request that are kept at the provider: its results answer calls that are there."""


class Mend:
    """:func:`msg.repair` with its options understood once. Bad options are errors here, bad conversations never."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        _msg.repair("[]", options)

    def __call__(self, document: D, **options: Any) -> D:
        """The document mended; the same object if nothing was changed, or if it cannot be read."""
        try:
            repaired = _msg.repair(document, {**options, **self._options})
        except Exception as error:  # noqa: BLE001 - the provider may still take it
            log_unread(error)
            return document
        log_edits(repaired)
        return repaired.document

    def request(self, request: dict[str, Any], **options: Any) -> dict[str, Any]:
        """The arguments of a call with the list in ``messages`` or ``input`` mended."""
        name = next((it for it in ("messages", "input") if isinstance(request.get(it), list)), None)
        if name is None or (name == "messages" and is_continued(request)):
            return request
        beside = {it: request[it] for it in ("model", *ELSEWHERE) if isinstance(request.get(it), (str, dict))}
        whole = {**beside, name: request[name]}
        mended = self(whole, **{**options, **({"from_": "responses"} if name == "input" else {})})
        return request if mended is whole else {**request, name: mended[name]}


def is_continued(request: dict[str, Any]) -> bool:
    """Whether the earlier turns of a request are kept at the provider."""
    return any(request.get(it) is not None for it in ELSEWHERE)


def log_edits(repaired: _msg.Repaired[Any]) -> None:
    """One line of level ``INFO`` about a history that was mended."""
    if repaired.changed and log.isEnabledFor(logging.INFO):
        log.info("the history was mended: %s", "; ".join(f"{it.code} at message {it.at.message}" for it in repaired.edits))


def log_unread(error: Exception) -> None:
    """One line of level ``WARNING`` about a history that cannot be read."""
    log.warning("the history is sent as it is: %s", error)
